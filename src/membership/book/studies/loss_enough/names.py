"""What the chapter's tables call its attacks, optimisers and measures."""

from membership.metrics.rate_names import tpr_column

BEST_PARAMETERS, BEST_LOSS = "best on parameters", "best on the loss"
MALT, MAST, MATT = "MALT", "MAST", "MATT"
IHA, IHA_STAR, RESIDUAL = "IHA", "IHA*", "residual test"
DRAWN = (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, IHA, RESIDUAL)

POSTERIOR, SGD = "posterior", "SGD"
POPULATION, ALL = "their law known", "all others known"

AUC, RATE = "auc(%)", tpr_column(0.01)

# What a game's recipe is called where it varies, and on every card.
DECAY, STEP, CONDITION = "weight decay", "step size", "condition number"

MEAN, RIDGE, LOGISTIC = "Gaussian mean", "ridge regression", "logistic regression"
