"""One computed sentence an exhibit, and what its picture shows in words."""

import numpy as np
import pandas as pd

from membership.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    COMPARED,
    CONDITION,
    DECAY,
    ERROR,
    IHA,
    IHA_STAR,
    KNOWLEDGE_LESS_ACCESS,
    MALT,
    PARAMETERS_LESS_LOSS,
    PARAMETERS_LESS_LOSS_ALL,
    POPULATION,
    POSTERIOR,
    RATE,
    RESIDUAL,
    SECOND,
    SGD,
    SPREAD,
    STEP,
    UNEXPLAINED,
)

Values = pd.Series


def _areas(table: pd.DataFrame, *keys: str, metric: str = AUC) -> Values:
    """The numbers of one metric by keys and attack."""
    return table[table["metric"] == metric].set_index([*keys, "attack"])["value"]


def of_sufficiency(table: pd.DataFrame) -> str:
    """Both optimisers."""
    spread = table[(table["metric"] == SPREAD) & (table["optimiser"] == POSTERIOR)]["value"].max()
    left = table[(table["metric"] == UNEXPLAINED) & (table["optimiser"] == SGD)]
    each = " and ".join(f"{row.value:.0f}% in {row.game}" for row in left.itertuples())
    return (
        f"For draws from the posterior log-ratio + loss / T is one number up to rounding "
        f"({spread:.0e}); under SGD a line in the loss leaves {each} of the log-ratio's variance."
    )


def of_exponents(table: pd.DataFrame) -> str:
    """The three tests at their own noise, and what the shape leaves to find."""
    area = _areas(table, "exponent")
    best = area.xs(BEST_PARAMETERS, level="attack")
    told = [
        f"{name} {area[at, name]:.1f} of {area[at, BEST_PARAMETERS]:.1f} at {at:g}"
        for at, name in ((-1.0, RESIDUAL), (0.0, BEST_LOSS), (1.0, IHA_STAR))
    ]
    return (
        f"At one trace of the noise the best attack has an AUC of {best.min():.1f} to "
        f"{best.max():.1f}%. Three tests at their own noise: {', '.join(told)}."
    )


def of_shares(table: pd.DataFrame) -> str:
    """What the loss lacks at both ends."""
    area, rate = _areas(table, "share"), _areas(table, "share", metric=RATE)
    lacks = [area[end, BEST_PARAMETERS] - area[end, BEST_LOSS] for end in (0.0, 1.0)]
    rates = [rate[1.0, name] for name in (BEST_LOSS, BEST_PARAMETERS)]
    return (
        f"The best attack on the record's loss lacks {abs(lacks[0]):.1f} points of AUC for a draw "
        f"from the posterior and {lacks[1]:.1f} under SGD, where it finds {rates[0]:.1f}% of the "
        f"members at 1% false positives and the best on the parameters {rates[1]:.1f}%."
    )


def of_cells(table: pd.DataFrame) -> str:
    """The least effect of knowledge, and the largest of access under the posterior."""
    rows = table[table["others"] == COMPARED]
    known = rows[rows["attack"] == KNOWLEDGE_LESS_ACCESS]["value"]
    access = rows[rows["attack"] == PARAMETERS_LESS_LOSS]["value"]
    return (
        "The loss, to who knows all others, is ahead of the parameters, to who knows their law, by "
        f"{known.min():.1f} to {known.max():.1f} points of AUC; to the latter the parameters add "
        f"{access.min():.1f} to {access.max():.1f} points to the loss."
    )


def of_decays(table: pd.DataFrame) -> str:
    """How far IHA and IHA* are behind at the least weight decay and at the largest."""
    area = _areas(table, DECAY, "others").xs(ALL, level="others")
    told = []
    for at in (table[DECAY].min(), table[DECAY].max()):
        lacks = [area[at, BEST_PARAMETERS] - area[at, name] for name in (IHA, IHA_STAR)]
        told.append(f"{lacks[0]:.1f} and {lacks[1]:.1f} at weight decay {at:g}")
    return f"All others known, {IHA} and {IHA_STAR} are behind the best by {'; '.join(told)} (AUC)."


def of_swept(table: pd.DataFrame) -> str:
    """What parameters add, and what the knowledge is worth beside, at both ends of a recipe."""
    name = CONDITION if CONDITION in table else STEP
    row = table[table["others"] == COMPARED].set_index([name, "attack"])["value"]
    told = [
        f"{row[at, PARAMETERS_LESS_LOSS_ALL]:.1f} at {name} {at:,g} "
        f"({row[at, KNOWLEDGE_LESS_ACCESS]:.1f})"
        for at in (table[name].min(), table[name].max())
    ]
    return (
        f"All others known, parameters add to the loss, in points of AUC, {' and '.join(told)}; in "
        "brackets the lead of the loss, all known, over parameters, their law known."
    )


def of_knowledge(table: pd.DataFrame) -> str:
    """What knowing half and the rest brings."""
    area = _areas(table, "optimiser", "known")
    told = []
    for optimiser in (POSTERIOR, SGD):
        best = [area[optimiser, at, BEST_PARAMETERS] for at in (0.0, 0.5, 1.0)]
        told.append(f"{optimiser} {best[0]:.1f}, {best[1]:.1f} and {best[2]:.1f}")
    return (
        f"With none, half and all of the others' labels known the best attack has an AUC (%) of: "
        f"{'; '.join(told)}."
    )


def of_temperatures(table: pd.DataFrame) -> str:
    """Both ends, both kinds of knowledge."""
    area = _areas(table, "others", "temperature")
    low, high = table["temperature"].min(), table["temperature"].max()
    told = []
    for others, words in ((ALL, "all others known"), (POPULATION, "their law known")):
        best = [area[others, t, BEST_PARAMETERS] for t in (low, high)]
        lack = max(
            abs(area[others, t, BEST_PARAMETERS] - area[others, t, BEST_LOSS])
            for t in table["temperature"].unique()
        )
        told.append(
            f"{words}: {best[0]:.1f}% at T = {low:g}, {best[1]:.1f}% at {high:g}, the loss at most "
            f"{lack:.2f} points behind"
        )
    return f"AUC of the best attack, {'; '.join(told)}."


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


def of_losses(table: pd.DataFrame) -> str:
    """Whether the solution is found and alone."""
    value = table.set_index("metric")["value"]
    return (
        f"The parameters come back with an error of {value[ERROR]:.0e}; no other choice of signs "
        f"fits the losses better than to {value[SECOND]:.2g}."
    )


def exponents_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, "exponent")
    touching = [
        name
        for at, name in ((-1.0, RESIDUAL), (0.0, BEST_LOSS), (1.0, IHA_STAR))
        if area[at, BEST_PARAMETERS] - area[at, name] < 1
    ]
    return (
        f"Lines of AUC against the exponent, from {table['exponent'].min():g} to "
        f"{table['exponent'].max():g}. The best attack on the parameters is on top; touching it at "
        f"their own exponents, -1, 0 and 1: {', '.join(touching) or 'none'}. {MALT} is lowest at 0."
        if area[0.0].idxmin() == MALT
        else f"Lines of AUC against the exponent; the best attack on the parameters is on top, and "
        f"touching it at their own exponents: {', '.join(touching) or 'none'}."
    )


def shares_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, "share")
    gap = [area[end, BEST_PARAMETERS] - area[end, BEST_LOSS] for end in (0.0, 1.0)]
    opens = "open" if gap[1] > gap[0] + 0.5 else "stay together"
    apart = area[1.0, IHA_STAR] - area[1.0, IHA]
    nearer = f"{IHA_STAR} rises" if apart > 1 else f"{IHA} and {IHA_STAR} rise"
    return (
        "Two panels, AUC and TPR at 1% FPR, against SGD's share of the noise. The lines of the "
        f"best attack on the parameters and the best on the loss {opens} from left to right; "
        f"{nearer} towards the former, the residual test does not."
    )


def cells_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    cells = table[table["others"] != COMPARED]
    area = _areas(cells, "game", "optimiser", "others").sort_index()
    steep, apart = [], []
    for game, optimiser in dict.fromkeys((i[0], i[1]) for i in area.index):
        cell = area[game, optimiser]
        steep.append(cell[ALL, BEST_LOSS] - cell[POPULATION, BEST_LOSS])
        apart.append(cell[ALL, BEST_PARAMETERS] - cell[ALL, BEST_LOSS])
    return (
        "Five panels, a game and an optimiser each, with two lines from left, the law known, to "
        f"right, all others known. Both rise in {sum(x > 0 for x in steep)} of {len(steep)}; "
        f"they part by more than a point at the right in {sum(x > 1 for x in apart)}."
    )


def logistic_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, "optimiser", "others")
    flat = max(abs(area[o, ALL, MALT] - area[o, POPULATION, MALT]) for o in (POSTERIOR, SGD))
    return (
        "Two panels, posterior and SGD, with a line an attack from left, the law known, to right, "
        f"all others known. The best attacks rise most; {MALT} "
        f"{'is flat' if flat < 0.01 else 'moves'} at the bottom."
    )


def knowledge_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, "optimiser", "known")
    rises = all(
        np.all(np.diff([area[o, k, BEST_PARAMETERS] for k in sorted(table["known"].unique())]) > 0)
        for o in (POSTERIOR, SGD)
    )
    return (
        "Two panels of AUC against the share of labels known, for the posterior and for SGD. The "
        f"best attack {'rises throughout' if rises else 'does not rise throughout'}; {MALT}, which "
        "knows no other record, stays flat."
    )


def decays_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, DECAY, "others").xs(ALL, level="others")
    ends = table[DECAY].min(), table[DECAY].max()
    lack = [area[at, BEST_PARAMETERS] - area[at, IHA] for at in ends]
    return (
        "Two panels of AUC against the weight decay, all others known and their law known. In the "
        f"first {IHA_STAR} stays near the best attack on the parameters; {IHA} "
        f"{'falls away from it to the right' if lack[1] > lack[0] + 1 else 'does too'}."
    )


def swept_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    name = CONDITION if CONDITION in table else STEP
    area = _areas(table, name, "others").xs(ALL, level="others")
    ends = table[name].min(), table[name].max()
    moves = {
        attack: area[ends[1], attack] - area[ends[0], attack]
        for attack in (BEST_PARAMETERS, BEST_LOSS)
    }
    told = [
        f"{attack} {'rises' if by > 1 else 'falls' if by < -1 else 'stays level'}"
        for attack, by in moves.items()
    ]
    return (
        f"Two panels of AUC against the {name}, all others known and their law known. In the first "
        f"{' and '.join(told)} from left to right."
    )


def temperatures_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    area = _areas(table, "others", "temperature")
    falls = all(
        np.all(
            np.diff([area[o, t, BEST_PARAMETERS] for t in sorted(table["temperature"].unique())])
            < 0
        )
        for o in (ALL, POPULATION)
    )
    return (
        "Two panels of AUC against temperature, all others known and their law known. The best "
        f"attack {'falls' if falls else 'does not fall'} throughout and is higher on the left; "
        f"{MALT} is nearly flat."
    )
