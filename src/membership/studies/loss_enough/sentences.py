"""The sentences that no row says alone."""

import pandas as pd

from membership.exhibits.declaration import later
from membership.exhibits.sentences import span
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
    MALT,
    MEDIAN,
    PARAMETERS_LESS_LOSS,
    PARAMETERS_LESS_LOSS_ALL,
    POSTERIOR,
    RESIDUAL,
    SGD,
    SPREAD,
    STEP,
    UNEXPLAINED,
)

(clouds,) = later(__package__, "clouds")


def _areas(table: pd.DataFrame, *keys: str, metric: str = AUC) -> pd.Series:
    """The numbers of one metric by keys and attack."""
    return table[table["metric"] == metric].set_index([*keys, "attack"])["value"]


def of_sufficiency(table: pd.DataFrame) -> str:
    """Both optimisers."""
    spread = table[(table["metric"] == SPREAD) & (table["optimiser"] == POSTERIOR)]["value"].max()
    left = table[(table["metric"] == UNEXPLAINED) & (table["optimiser"] == SGD)]
    clauses = " and ".join(f"{row.value:.0f}% in {row.game}" for row in left.itertuples())
    return (
        "For draws from the posterior the log-ratio is a line in the loss, up to rounding "
        f"({spread:.0e}). Under SGD such a line leaves part of the log-ratio's variance "
        f"unexplained: {clauses}."
    )


def of_clouds(table: pd.DataFrame) -> str:
    """How many models lie within their line."""
    return f"Of the models of a cloud {span(clouds.inside(table))} lie within its line."


def of_exponents(table: pd.DataFrame) -> str:
    """The three tests at their own noise, and what the shape leaves to find."""
    area = _areas(table, "exponent")
    best = area.xs(BEST_PARAMETERS, level="attack")
    own = ((-1.0, RESIDUAL), (0.0, BEST_LOSS), (1.0, IHA_STAR))
    behind = max(area[at, BEST_PARAMETERS] - area[at, name] for at, name in own)
    return (
        f"The best attack has an AUC of {best.min():.1f} to {best.max():.1f}%. The residual test "
        f"at -1, the loss at 0 and IHA* at 1 are at most {behind:.1f} points behind."
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
    """How far IHA and IHA* are behind at the largest weight decay."""
    area = _areas(table, DECAY, "others").xs(ALL, level="others")
    most = table[DECAY].max()
    iha, star = (area[most, BEST_PARAMETERS] - area[most, name] for name in (IHA, IHA_STAR))
    return (
        f"All others known, at weight decay {most:g} {IHA} is {iha:.1f} points of AUC behind the "
        f"best attack, {IHA_STAR} {star:.1f}."
    )


def of_swept(table: pd.DataFrame) -> str:
    """What parameters add at both ends of a recipe."""
    name = CONDITION if CONDITION in table else STEP
    adds = table[table["others"] == COMPARED].set_index([name, "attack"])["value"]
    first, last = table[name].min(), table[name].max()
    return (
        f"With all others known, parameters add {adds[first, PARAMETERS_LESS_LOSS_ALL]:.1f} points "
        f"of AUC to the loss at {name} {first:,g}, and {adds[last, PARAMETERS_LESS_LOSS_ALL]:.1f} "
        f"at {last:,g}."
    )


def of_knowledge(table: pd.DataFrame) -> str:
    """What knowing half and the rest brings."""
    area = _areas(table, "optimiser", "known")
    texts = []
    for optimiser in (POSTERIOR, SGD):
        best = [area[optimiser, at, BEST_PARAMETERS] for at in (0.0, 0.5, 1.0)]
        texts.append(f"{best[0]:.1f}, {best[1]:.1f} and {best[2]:.1f} ({optimiser})")
    return (
        f"Best AUC (%) with none, half and all of the others' labels known: {' and '.join(texts)}."
    )


def of_temperatures(table: pd.DataFrame) -> str:
    """Both ends with all others known, and how far the loss is behind at most."""
    area = _areas(table, "others", "temperature")[ALL]
    low, high = table["temperature"].min(), table["temperature"].max()
    lack = max(
        abs(area[t, BEST_PARAMETERS] - area[t, BEST_LOSS]) for t in table["temperature"].unique()
    )
    return (
        f"All others known, the best AUC goes from {area[low, BEST_PARAMETERS]:.1f}% at T = "
        f"{low:g} to {area[high, BEST_PARAMETERS]:.1f}% at {high:g}; the loss is at most "
        f"{lack:.2f} points behind."
    )


def of_logistic(table: pd.DataFrame) -> str:
    """Best, loss and IHA* under SGD, and what the grid's loss lacks."""
    area = _areas(table, "optimiser", "others")
    names = (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, MALT)
    clauses = ", ".join(f"{name} {area[SGD, ALL, name]:.1f}" for name in names)
    lack = abs(area[POSTERIOR, ALL, BEST_PARAMETERS] - area[POSTERIOR, ALL, BEST_LOSS])
    return (
        f"All others known, AUC (%) under SGD: {clauses}. For a draw from the posterior the best "
        f"attack on the loss lacks {lack:.2f} points."
    )


def of_shares(table: pd.DataFrame) -> str:
    """The games' median record at both ends, for noise like the Hessian."""
    share = table[table["exponent"] == 1].set_index([CONDITION, "of"])["value"]
    first, last = table[CONDITION].min(), table[CONDITION].max()
    return (
        f"With noise like the Hessian the median record's error keeps {share[first, MEDIAN]:.2f} "
        f"of the squared signal at {CONDITION} {first:,g}, and {share[last, MEDIAN]:.2f} at "
        f"{last:,g}."
    )
