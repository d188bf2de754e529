"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Exhibit, Source
from membership.exhibits.declaration import drawn, words_of
from membership.studies.lood import (
    activations,
    edge,
    gather,
    leakage,
    mistakes,
    queries,
    reconstruction,
    sentences,
    speed,
    theory,
    toys,
)
from membership.studies.lood.gather import CONSTANT, EDGE, SEARCHES
from membership.studies.lood.origin import observed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = words_of(__package__)
RECORDS, PAIRS, GELU = "process-records", "pairs-relu", "pairs-gelu"
NETWORKS = (RECORDS, PAIRS, "process-influence")
ACTIVATIONS = ("process-activations", PAIRS, GELU)
ESCAPES = ("process-normalised", "process-at-mean")


def _exhibit(
    name: str,
    function: Callable[..., pd.DataFrame],
    *names: str,
    settings: bool = False,
    second: bool = True,
    words: str = "",
    **more: Any,
) -> Exhibit:
    """An exhibit computed by a function of evidence, and of the settings where it asks for them.

    ``second`` says whether evidence of the second data set is read too, where there is some.
    """

    def needs(chosen: Any) -> tuple[str, ...]:
        found: list[str] = []
        for one in names:
            if one == gather.COST and not gather.at_paper_size(chosen):
                continue
            twice = second and one in gather.SECOND_RECORDS
            found += gather.both(one, chosen) if twice else [one]
        return tuple(found)

    def compute(source: Source) -> pd.DataFrame:
        found = [source.evidence(one) for one in needs(source.settings)]
        table = function(*found, **({"settings": source.settings} if settings else {}))
        table.attrs = observed(*found, **table.attrs)
        return table

    kind, number = name.split("-")
    label = f"Figure {number}" if kind == "fig" else ""
    fields = {"compute": compute, "needs": needs, **WORDS[words or name], **more}
    return Exhibit(f"lood-{name}", label, **fields)


def _kernel(number: int) -> Exhibit:
    """Figures 14 to 19: what was found under one kernel."""

    def draw(table: pd.DataFrame) -> "Figure":
        from membership.plots import image_grid

        return image_grid(table, title=f"Figure {number}: {table['kernel'].iloc[-1]}")

    table = functools.partial(reconstruction.of_one_kernel, f"lood-fig-{number}")
    said = {"draw": draw, "says": sentences.found, "alt": sentences.grid, "words": "fig-14"}
    return _exhibit(f"fig-{number}", table, SEARCHES, second=False, **said)


def _beside(table: pd.DataFrame) -> "Figure":
    """Figure 3, with the pictures of all groups in the same rows."""
    from membership.plots import image_grid

    place = table["row"].str.partition(": ")
    columns = place[0] + ", " + table["column"].astype(str)
    return image_grid(table.assign(row=place[2], column=columns))


_GRID = drawn("image_grid")
_FOUND = {"draw": _GRID, "says": sentences.found, "alt": sentences.grid}
_FROM = ("distance from the mean of D' (deviations of a channel)", "KL over the record's")
_TO_THE_MEAN = drawn("optimisation", labels=_FROM, log_x=True)
_GROUPS = {"draw": _beside, "says": sentences.groups}
_STATEMENTS = {"settings": True, "says": sentences.statements}
_SCATTER = drawn("scatter_panels", labels=leakage.LABELS)
_LOG_SCATTER = drawn("scatter_panels", labels=leakage.LABELS, log_x=True)
_TOY = {"settings": True, "draw": drawn("line_panels", labels=toys.LABELS, marks=toys.MARKS)}
_AXES = {name: ("AUC under ReLU", "AUC under GeLU") for name in ("process", "networks")}
_FIGURE_5 = {
    "draw": drawn("scatter_panels", identity=True, labels=_AXES),
    "says": sentences.activations,
    "alt": lambda table: "Two panels with the line of equality. " + sentences.activations(table),
}

EXHIBITS = (
    _exhibit("ctl-1", theory.one_by_one, "measured-identity", says=sentences.identity),
    _exhibit(
        "ctl-2",
        speed.table,
        "measured-times",
        gather.COST,
        judge=speed.comparison,
        says=sentences.speed,
    ),
    _exhibit("fig-1", leakage.figure_1, *NETWORKS, draw=_SCATTER),
    _exhibit("fig-6", leakage.figure_6, RECORDS, draw=_LOG_SCATTER, says=sentences.measures),
    _exhibit(
        "ctl-3",
        leakage.correlations,
        *NETWORKS,
        "process-noise",
        says=sentences.correlations,
    ),
    _exhibit("ctl-4", leakage.leakage_map, RECORDS, draw=_GRID, records=leakage.one_by_one),
    _exhibit(
        "fig-4",
        queries.figure_4,
        "process-lines",
        PAIRS,
        settings=True,
        draw=drawn("line_panels", labels=queries.LABELS),
    ),
    _exhibit(
        "ctl-5",
        queries.optimality,
        "process-attempts",
        SEARCHES,
        second=False,
        says=sentences.attempts,
    ),
    _exhibit("fig-10", queries.figure_10, *ESCAPES, draw=_TO_THE_MEAN, alt=sentences.at_the_mean),
    _exhibit("ctl-6", queries.escapes, *ESCAPES, says=sentences.escapes),
    _exhibit("fig-2", reconstruction.figure_2, SEARCHES, **_FOUND),
    _exhibit("fig-8", reconstruction.figure_8, SEARCHES, second=False, **_FOUND),
    _exhibit("fig-9", reconstruction.figure_9, SEARCHES, second=False, draw=drawn("optimisation")),
    *(_kernel(number) for number in range(14, 20)),
    _exhibit("ctl-7", reconstruction.success, SEARCHES, says=sentences.success),
    _exhibit("fig-3", reconstruction.figure_3, "process-groups", **_GROUPS),
    _exhibit("fig-7", toys.figure_7, **_TOY, alt=sentences.peaks),
    _exhibit("fig-11", toys.figure_11, "measured-worst", **_TOY),
    _exhibit("fig-12", toys.figure_12, **_TOY, alt=sentences.peaks),
    _exhibit("fig-13", queries.figure_13, "process-influenced", draw=_GRID),
    _exhibit(
        "ctl-8", queries.mean_against_kl, "process-influenced", settings=True, says=sentences.places
    ),
    _exhibit("fig-5", activations.figure_5, *ACTIVATIONS, **_FIGURE_5),
    _exhibit("ctl-9", activations.shares, *ACTIVATIONS, says=sentences.shares),
    _exhibit("ctl-10", theory.statements, "measured-slopes", RECORDS, CONSTANT, **_STATEMENTS),
    _exhibit("ctl-11", mistakes.released_code, "process-slips", says=sentences.slips),
    _exhibit("ctl-12", edge.rates, says=sentences.rates),
    _exhibit("ctl-13", activations.by_point, EDGE, says=sentences.by_point),
    _exhibit("ctl-14", leakage.over_sets, "process-sets", says=sentences.over_sets),
)
