"""Which members every attack finds and which only one does, with pictures where there are any."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import BoolArray
from membership.exhibits.tidy import tidy
from membership.studies.comparison import names
from membership.studies.comparison.agreement import flagged
from membership.studies.comparison.power import typical
from membership.studies.comparison.read import Seen, origin
from membership.studies.comparison.sentences import CHANCE, SHARE
from membership.studies.comparison.thresholds import CHOSEN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINDERS = ("loss", "attack-r", "lira", "rmia")
RATE = 0.05
LOW, HIGH = f"{SHARE}, low", f"{SHARE}, high"
MOST, MOST_NARROW = 8, 5
"""Records that the picture shows of each group, and that of a phone."""


def found_by(source: Any) -> pd.DataFrame:
    """Figure 5: the records that most models give away to all attacks, or to one alone.

    An attack finds a member whose score is above the threshold for 5% of the non-members of the
    same model. Shares are of the targets' members; beside them what they would be if attacks
    found members independently.
    """
    one = _chosen(source)
    table = one.every_model(CHOSEN)
    flags = np.array(
        [
            [flagged(s, m, RATE) & m for s, m in zip(table.score[name], table.member, strict=True)]
            for name in FINDERS
        ]
    )
    pictures = _pictures(source, one)
    rows, first = [], len(one.targets)
    expectations = by_chance(flags, table.member)
    for (name, group), expected in zip(groups(flags).items(), expectations, strict=True):
        share = 100 * group[:first].sum(axis=1) / table.member[:first].sum(axis=1)
        whole = metrics.summary(share, lowest=0.0, highest=100.0)
        number = {SHARE: whole["value"], LOW: whole["low"], HIGH: whole["high"]}
        number[CHANCE] = 100 * float(expected[:first].mean())
        each = group.sum(axis=0) / table.member.sum(axis=0)
        most = np.argsort(-each, kind="stable")[:MOST].tolist()
        # A group that nobody is in keeps a row for its share.
        for place, record in enumerate([i for i in most if each[i] > 0] or [None]):
            key = {**one.key, "row": name, "column": place + 1}
            rows.append({**key, **_cell(one, record, each, pictures), **number})
    return tidy(rows, origin([one]))


def _cell(
    one: Seen, record: int | None, each: np.ndarray, pictures: list[dict[str, str]]
) -> dict[str, Any]:
    """One record: its row in the data set, how often it is found so, its picture."""
    if record is None:
        return {"record": "", "text": "", "shape": "", "pixels": "", "value": 0.0}
    share = {"text": f"{each[record]:.0%}", "value": float(each[record])}
    return {"record": str(one.record[record]), **share, **pictures[record]}


def groups(flags: BoolArray) -> dict[str, BoolArray]:
    """Members found by every attack, by all but the first, by one alone, (models, records) each."""
    names_of = [attacks.registry()[name].display for name in FINDERS]
    count = flags.sum(axis=0)
    alone = {f"only {name}": one & (count == 1) for name, one in zip(names_of, flags, strict=True)}
    but_first = (count == len(flags) - 1) & ~flags[0]
    return {"every attack": count == len(flags), f"all but {names_of[0]}": but_first, **alone}


def by_chance(flags: BoolArray, member: BoolArray) -> list[np.ndarray]:
    """The shares of the same groups in each model if attacks found its members independently."""
    rate = flags.sum(axis=2) / member.sum(axis=1)
    none = [np.delete(1 - rate, place, axis=0).prod(axis=0) for place in range(len(rate))]
    but_first = (1 - rate[0]) * rate[1:].prod(axis=0)
    return [
        rate.prod(axis=0),
        but_first,
        *(own * others for own, others in zip(rate, none, strict=True)),
    ]


def _chosen(source: Any) -> Seen:
    """The cell with pictures, or the first where there is none."""
    wanted, some = names.pictured(source.settings), typical(source)
    return next((one for one in some if one.cell in wanted), some[0])


def _pictures(source: Any, one: Seen) -> list[dict[str, str]]:
    """Shape and pixels of each record; empty where records are no pictures."""
    if not names.pictured(source.settings):
        return [{"shape": "", "pixels": ""}] * len(one.record)
    level = source.evidence(f"pictures-{one.cell.word}")["level"].values[~one.canary]
    shape = "x".join(map(str, level.shape[1:]))
    return [{"shape": shape, "pixels": " ".join(map(str, each.ravel()))} for each in level]


def draw(table: pd.DataFrame) -> "Figure":
    """The records, or the shares where there are no pictures."""
    from membership import plots
    from membership.plots.look import is_narrow

    if (table["pixels"].fillna("") == "").all():
        shares = table[table["column"] == 1].drop(columns="value")
        shares = shares.rename(columns={SHARE: "value", LOW: "low", HIGH: "high"})
        return plots.dots_by_row(shares, "row", by="target", label=SHARE)
    return plots.image_grid(table[table["column"] <= (MOST_NARROW if is_narrow() else MOST)])
