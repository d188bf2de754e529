"""What the chapter's tables call its attacks, optimisers and measures."""

from membership.metrics.rate_names import tpr_column

BEST_PARAMETERS, BEST_LOSS = "best on parameters", "best on the loss"
MALT, MAST, MATT = "MALT", "MAST", "MATT"
IHA, IHA_STAR, RESIDUAL = "IHA", "IHA*", "residual test"
DRAWN = (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, IHA, RESIDUAL)

POSTERIOR, SGD = "posterior", "SGD"
POPULATION, ALL = "their law known", "all others known"

AUC, RATE = "auc(%)", tpr_column(0.01)
BEHIND, LOG_RATES = "AUC behind the best (points)", "log TPR at 1% FPR"
CORRECTED, APART = f"{IHA_STAR} less {IHA}", f"{BEST_PARAMETERS} over {BEST_LOSS}"

# What a game's recipe is called where it varies, and on every card.
DECAY, STEP, CONDITION = "weight decay", "step size", "condition number"

MEAN, RIDGE, LOGISTIC = "Gaussian mean", "ridge regression", "logistic regression"

# The contrasts of the two-by-two, and what stands for the knowledge of a contrast.
COMPARED = "compared"
KNOWLEDGE_LESS_ACCESS = "loss, all others known, less parameters, their law known"
PARAMETERS_LESS_LOSS = "parameters less loss, their law known"
THRESHOLD_LESS_ACCESS = "MAST less MALT, less what the parameters add, their law known"
PARAMETERS_LESS_LOSS_ALL = "parameters less loss, all others known"
THRESHOLD_LESS_ACCESS_ALL = "MAST less MALT, less what the parameters add, all others known"

SPREAD = "largest spread of log-ratio + loss / T"
UNEXPLAINED = "share of the log-ratio's variance that the loss leaves (%)"
ERROR, SECOND = "largest error of the parameters", "smallest misfit of another solution"
APART_BY = "difference in AUC (points)"

SHARE = "share of the squared signal that the error keeps"
LEAST, MEDIAN = "least of any record", "median record of the ridge games"

# The series of the schematic, and what each shape of noise asks for.
DRAWS, MEASURED, HEIGHTS = "models after training", "line of equal measure", "one height of loss"
EXPONENTS_IN_WORDS = {
    1.0: ("noise like the curvature", "how far?"),
    0.0: ("the same noise everywhere", "how high?"),
    -1.0: ("noise along the flat", "how steep?"),
}
