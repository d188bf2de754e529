"""The sentences that no row says alone."""

import pandas as pd

from membership.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    COMPARED,
    CONDITION,
    DECAY,
    IHA,
    IHA_STAR,
    KNOWLEDGE_LESS_ACCESS,
    LEAST,
    MALT,
    MEDIAN,
    PARAMETERS_LESS_LOSS,
    PARAMETERS_LESS_LOSS_ALL,
    POPULATION,
    POSTERIOR,
    RESIDUAL,
    SGD,
    SPREAD,
    STEP,
    UNEXPLAINED,
)


def _areas(table: pd.DataFrame, *keys: str, metric: str = AUC) -> pd.Series:
    """The numbers of one metric by keys and attack."""
    return table[table["metric"] == metric].set_index([*keys, "attack"])["value"]


def of_sufficiency(table: pd.DataFrame) -> str:
    """Both optimisers."""
    spread = table[(table["metric"] == SPREAD) & (table["optimiser"] == POSTERIOR)]["value"].max()
    left = table[(table["metric"] == UNEXPLAINED) & (table["optimiser"] == SGD)]
    each = " and ".join(f"{row.value:.0f}% in {row.game}" for row in left.itertuples())
    return (
        "For draws from the posterior the log-ratio is a line in the loss, up to rounding "
        f"({spread:.0e}). Under SGD such a line leaves part of its variance unexplained: {each}."
    )


def of_exponents(table: pd.DataFrame) -> str:
    """The three tests at their own noise, and what the shape leaves to find."""
    area = _areas(table, "exponent")
    best = area.xs(BEST_PARAMETERS, level="attack")
    texts = [
        f"{name} {area[at, name]:.1f} of {area[at, BEST_PARAMETERS]:.1f}"
        for at, name in ((-1.0, RESIDUAL), (0.0, BEST_LOSS), (1.0, IHA_STAR))
    ]
    return (
        f"The best attack has an AUC of {best.min():.1f} to {best.max():.1f}%. At its own exponent "
        f"(-1, 0 and 1) each test has nearly all of it: {', '.join(texts)}."
    )


def of_cells(table: pd.DataFrame) -> str:
    """The least effect of knowledge, and the largest of access under the posterior."""
    rows = table[table["others"] == COMPARED]
    known = rows[rows["attack"] == KNOWLEDGE_LESS_ACCESS]["value"]
    access = rows[rows["attack"] == PARAMETERS_LESS_LOSS]["value"]
    return (
        "Knowing all others and seeing one loss beats knowing a law and seeing all parameters, by "
        f"{known.min():.1f} to {known.max():.1f} points of AUC. For a posterior draw, with only a "
        f"law known, parameters add {access.min():.1f} to {access.max():.1f} points to the loss."
    )


def of_decays(table: pd.DataFrame) -> str:
    """How far IHA and IHA* are behind at the least weight decay and at the largest."""
    area = _areas(table, DECAY, "others").xs(ALL, level="others")
    texts = []
    for at in (table[DECAY].min(), table[DECAY].max()):
        lacks = [area[at, BEST_PARAMETERS] - area[at, name] for name in (IHA, IHA_STAR)]
        texts.append(f"at weight decay {at:g} by {lacks[0]:.1f} and {lacks[1]:.1f}")
    return (
        f"All others known, {IHA} and {IHA_STAR} are behind the best {', '.join(texts)} points of "
        "AUC."
    )


def of_swept(table: pd.DataFrame) -> str:
    """What parameters add, and what the knowledge is worth beside, at both ends of a recipe."""
    name = CONDITION if CONDITION in table else STEP
    row = table[table["others"] == COMPARED].set_index([name, "attack"])["value"]
    texts = [
        f"At {name} {at:,g} parameters add {row[at, PARAMETERS_LESS_LOSS_ALL]:.1f} points of AUC "
        "to the loss (all others known), and one loss with that knowledge is "
        f"{row[at, KNOWLEDGE_LESS_ACCESS]:.1f} ahead of parameters without."
        for at in (table[name].min(), table[name].max())
    ]
    return " ".join(texts)


def of_knowledge(table: pd.DataFrame) -> str:
    """What knowing half and the rest brings."""
    area = _areas(table, "optimiser", "known")
    texts = []
    for optimiser in (POSTERIOR, SGD):
        best = [area[optimiser, at, BEST_PARAMETERS] for at in (0.0, 0.5, 1.0)]
        texts.append(f"{best[0]:.1f}, {best[1]:.1f} and {best[2]:.1f} ({optimiser})")
    return (
        "AUC (%) of the best attack with none, half and all of the others' labels known: "
        f"{' and '.join(texts)}."
    )


def of_temperatures(table: pd.DataFrame) -> str:
    """Both ends, both kinds of knowledge."""
    area = _areas(table, "others", "temperature")
    low, high = table["temperature"].min(), table["temperature"].max()
    texts = []
    for others, words in ((ALL, "all others known"), (POPULATION, "their law known")):
        best = [area[others, t, BEST_PARAMETERS] for t in (low, high)]
        lack = max(
            abs(area[others, t, BEST_PARAMETERS] - area[others, t, BEST_LOSS])
            for t in table["temperature"].unique()
        )
        texts.append(
            f"{words}: {best[0]:.1f}% at T = {low:g}, {best[1]:.1f}% at {high:g}, the loss at most "
            f"{lack:.2f} points behind"
        )
    return f"AUC of the best attack, {'; '.join(texts)}."


def of_logistic(table: pd.DataFrame) -> str:
    """Best, loss and IHA* under SGD, and what the grid's loss lacks."""
    area = _areas(table, "optimiser", "others")
    names = (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, MALT)
    each = ", ".join(f"{name} {area[SGD, ALL, name]:.1f}" for name in names)
    lack = abs(area[POSTERIOR, ALL, BEST_PARAMETERS] - area[POSTERIOR, ALL, BEST_LOSS])
    return (
        f"All others known, AUC (%) under SGD: {each}. For a draw from the posterior the best "
        f"attack on the loss lacks {lack:.2f} points."
    )


def of_shares(table: pd.DataFrame) -> str:
    """The bound and the games' records at both ends, for noise like the Hessian."""
    share = table[table["exponent"] == 1].set_index([CONDITION, "of"])["value"]
    texts = [
        f"{share[at, MEDIAN]:.2f} at {CONDITION} {at:,g} (bound {share[at, LEAST]:.2g})"
        for at in (table[CONDITION].min(), table[CONDITION].max())
    ]
    return (
        f"With noise like the Hessian the error on the median record keeps {' and '.join(texts)} "
        "of the squared signal."
    )
