"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from typing import Any

from membership.book.exhibits.declaration import drawn, exhibits_of
from membership.book.exhibits.tidy import Gathered, origin
from membership.book.studies.lood import (
    activations,
    evidence,
    influenced,
    laws,
    leakage,
    one_inverse,
    queries,
    reconstruction,
    statements,
)
from membership.book.studies.lood.evidence import SEARCHES

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


_GRID = drawn("image_grid")
_FOUND = {"draw": _GRID, "says": reconstruction.say_found}
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
_TIMED = {"judge": one_inverse.comparison, "says": one_inverse.say_costs}

EXHIBITS = (
    exhibit("ctl-1", one_inverse.one_by_one, "measured-identity"),
    exhibit("ctl-2", one_inverse.table, "measured-times", evidence.costs, **_TIMED),
    exhibit("fig-1", leakage.figure_1, *NETWORKS, draw=_SCATTER),
    exhibit("fig-6", leakage.figure_6, RECORDS, draw=_LOG_SCATTER, says=leakage.say_figure_6),
    exhibit("ctl-3", leakage.correlations, *NETWORKS, "process-noise"),
    exhibit("ctl-4", leakage.leakage_map, RECORDS, draw=_GRID, records=leakage.one_by_one),
    exhibit("fig-4", queries.figure_4, "process-lines", PAIRS, settings=True, draw=_LINES),
    exhibit("ctl-5", queries.optimality, "process-attempts", SEARCHES, says=queries.say_attempts),
    exhibit(
        "fig-10", queries.figure_10, *ESCAPES, draw=_TO_THE_MEAN, alt=queries.figure_10_in_words
    ),
    exhibit("ctl-6", queries.escapes, *ESCAPES),
    exhibit("fig-2", reconstruction.figure_2, ALL_SEARCHES, **_FOUND),
    exhibit("fig-8", reconstruction.figure_8, SEARCHES, **_FOUND),
    exhibit("fig-9", reconstruction.figure_9, SEARCHES, draw=drawn("optimisation")),
    exhibit("fig-14", reconstruction.figure_14, SEARCHES, **_FOUND),
    exhibit("ctl-7", reconstruction.success, ALL_SEARCHES),
    exhibit(
        "fig-3",
        reconstruction.figure_3,
        "process-groups",
        draw=reconstruction.draw_groups,
        says=reconstruction.say_groups,
    ),
    exhibit("fig-7", influenced.figure_7, **_TOY, alt=influenced.peaks_in_words),
    exhibit("fig-11", influenced.figure_11, "measured-worst", **_TOY),
    exhibit("fig-12", influenced.figure_12, **_TOY, alt=influenced.peaks_in_words),
    exhibit("fig-13", influenced.figure_13, INFLUENCED, draw=_GRID),
    exhibit(
        "ctl-8", influenced.mean_against_kl, INFLUENCED, settings=True, says=influenced.say_places
    ),
    exhibit("fig-5", activations.figure_5, *ACTIVATIONS, draw=_BOTH, says=activations.say_figure_5),
    exhibit(
        "ctl-9",
        activations.shares,
        *ACTIVATIONS,
        draw=activations.draw_shares,
        says=activations.say_shares,
    ),
    exhibit(
        "ctl-10",
        statements.statements,
        "measured-slopes",
        RECORDS,
        CONSTANT,
        settings=True,
        says=statements.say_statements,
    ),
    exhibit("ctl-11", statements.released_code, "process-slips"),
    exhibit("ctl-12", activations.rates, says=activations.say_rates),
    exhibit("ctl-13", activations.by_point, EDGE, says=activations.say_points),
    exhibit("ctl-14", leakage.over_sets, "process-sets", says=leakage.say_sets),
    exhibit("ctl-15", laws.against_networks, "process-laws", PAIRS, GELU, draw=laws.draw),
)
