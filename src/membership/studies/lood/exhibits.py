"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits.declaration import drawn, exhibits_of
from membership.exhibits.tidy import Gathered, origin
from membership.studies.lood.evidence import SEARCHES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from membership.studies.lood import (
    activations,
    evidence,
    influenced,
    laws,
    leakage,
    one_inverse,
    queries,
    reconstruction,
    sentences,
    statements,
)

RECORDS, PAIRS, GELU = "process-records", "pairs-relu", "pairs-gelu"
INFLUENCED = "process-influenced"
NETWORKS = (RECORDS, PAIRS, "process-influence")
ACTIVATIONS = ("process-activations", PAIRS, GELU)
ESCAPES = ("process-normalised", "process-at-mean")
ALL_SEARCHES, EDGE, CONSTANT = (
    functools.partial(evidence.both, kind) for kind in (SEARCHES, evidence.EDGE, evidence.CONSTANT)
)


def _about(*read: Gathered, sizes: Any = None, **own: Any) -> dict[str, Any]:
    """The origin of a table, with its own sizes beside those of the evidence."""
    whole = origin(read, *own.pop("deviations", ()), **own)
    return whole | {"sizes": whole.get("sizes", {}) | (sizes or {})}


exhibit = exhibits_of(__package__, about=_about)


def _beside(table: pd.DataFrame) -> "Figure":
    """Figure 3, with the pictures of all groups in the same rows."""
    from membership.plots import image_grid

    place = table["row"].str.partition(": ")
    columns = place[0] + ", " + table["column"].astype(str)
    return image_grid(table.assign(row=place[2], column=columns))


_GRID = drawn("image_grid")
_FOUND = {"draw": _GRID, "says": sentences.recovered}
_FROM = ("distance from the mean of D' (deviations of a channel)", "KL over the record's")
_TO_THE_MEAN = drawn("optimisation", labels=_FROM, log_x=True)
_SCATTER = drawn("scatter_panels", labels=leakage.LABELS)
_LOG_SCATTER = drawn("scatter_panels", labels=leakage.LABELS, log_x=True)
_LINES = drawn("line_panels", labels=queries.LABELS)
_TOY = {
    "settings": True,
    "draw": drawn("line_panels", labels=influenced.LABELS, marks=influenced.MARKS),
}
_AXES = {name: ("AUC under ReLU", "AUC under GeLU") for name in ("process", "networks")}
_BOTH = drawn("scatter_panels", identity=True, labels=_AXES)
_TIMED = {"judge": one_inverse.comparison, "says": sentences.speed}

EXHIBITS = (
    exhibit("ctl-1", one_inverse.one_by_one, "measured-identity"),
    exhibit("ctl-2", one_inverse.table, "measured-times", evidence.costs, **_TIMED),
    exhibit("fig-1", leakage.figure_1, *NETWORKS, draw=_SCATTER),
    exhibit("fig-6", leakage.figure_6, RECORDS, draw=_LOG_SCATTER, says=sentences.measures),
    exhibit("ctl-3", leakage.correlations, *NETWORKS, "process-noise"),
    exhibit("ctl-4", leakage.leakage_map, RECORDS, draw=_GRID, records=leakage.one_by_one),
    exhibit("fig-4", queries.figure_4, "process-lines", PAIRS, settings=True, draw=_LINES),
    exhibit("ctl-5", queries.optimality, "process-attempts", SEARCHES, says=sentences.attempts),
    exhibit("fig-10", queries.figure_10, *ESCAPES, draw=_TO_THE_MEAN, alt=sentences.at_the_mean),
    exhibit("ctl-6", queries.escapes, *ESCAPES, says=sentences.escapes),
    exhibit("fig-2", reconstruction.figure_2, ALL_SEARCHES, **_FOUND),
    exhibit("fig-8", reconstruction.figure_8, SEARCHES, **_FOUND),
    exhibit("fig-9", reconstruction.figure_9, SEARCHES, draw=drawn("optimisation")),
    exhibit("fig-14", reconstruction.figure_14, SEARCHES, **_FOUND),
    exhibit("ctl-7", reconstruction.success, ALL_SEARCHES),
    exhibit(
        "fig-3", reconstruction.figure_3, "process-groups", draw=_beside, says=sentences.groups
    ),
    exhibit("fig-7", influenced.figure_7, **_TOY, alt=sentences.peaks),
    exhibit("fig-11", influenced.figure_11, "measured-worst", **_TOY),
    exhibit("fig-12", influenced.figure_12, **_TOY, alt=sentences.peaks),
    exhibit("fig-13", influenced.figure_13, INFLUENCED, draw=_GRID),
    exhibit("ctl-8", influenced.mean_against_kl, INFLUENCED, settings=True, says=sentences.places),
    exhibit("fig-5", activations.figure_5, *ACTIVATIONS, draw=_BOTH, says=sentences.activations),
    exhibit(
        "ctl-9",
        activations.shares,
        *ACTIVATIONS,
        draw=activations.map_of_shares,
        says=sentences.shares,
    ),
    exhibit(
        "ctl-10",
        statements.statements,
        "measured-slopes",
        RECORDS,
        CONSTANT,
        settings=True,
        says=sentences.statements,
    ),
    exhibit("ctl-11", statements.released_code, "process-slips"),
    exhibit("ctl-12", activations.rates, says=sentences.rates),
    exhibit("ctl-13", activations.by_point, EDGE, says=sentences.by_point),
    exhibit("ctl-14", leakage.over_sets, "process-sets", says=sentences.over_sets),
    exhibit("ctl-15", laws.against_networks, "process-laws", PAIRS, GELU, draw=laws.drawn),
)
