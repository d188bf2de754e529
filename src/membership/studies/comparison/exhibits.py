"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits.declaration import declaring, later
from membership.studies.comparison import names, sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

leaderboard, power, thresholds = later(__package__, "leaderboard", "power", "thresholds")
agreement, bounds, nulls = later(__package__, "agreement", "bounds", "nulls")
discoveries, risk, found, another = later(__package__, "discoveries", "risk", "found", "another")
(tuned,) = later(__package__, "tuned")
exhibit = declaring(__package__)


def _timed(settings: Any) -> tuple[str, ...]:
    return (*names.files(settings), *names.times(settings))


def _with_untrained(settings: Any) -> tuple[str, ...]:
    return (*names.files(settings), names.UNTRAINED)


def _with_processes(settings: Any) -> tuple[str, ...]:
    processes = tuple(f"lood-{one.word}" for one in names.typical(settings))
    return (*names.files(settings), *processes)


def _with_pictures(settings: Any) -> tuple[str, ...]:
    pictures = tuple(f"pictures-{one.word}" for one in names.pictured(settings))
    return (*names.files(settings), *pictures)


def _leaders(table: pd.DataFrame) -> "Figure":
    from membership import attacks, plots
    from membership.attacks.registry import BOTH, OUT

    area = table[table["metric"] == sentences.AREA].sort_values("value", ascending=False)
    known = attacks.registry().values()
    words = {
        "none": "no references",
        OUT: "references without the record",
        BOTH: "references with and without the record",
    }
    trained = {one.display: words.get(one.references, one.references) for one in known}
    widest = area["cells"].iloc[0]
    fewer = area["cells"].where(area["cells"] != widest)
    name = area["attack"] + (" (" + fewer + ")").fillna("")
    shown = area.assign(row=name, references=area["attack"].map(trained))
    label = f"AUC, averaged over {widest}"
    return plots.dots_by_row(shown, "row", by="references", baseline=0.5, label=label)


def _cells(table: pd.DataFrame) -> "Figure":
    from membership import plots

    area = table[table["metric"] == sentences.AREA]
    shown = area.assign(cell=area["dataset"] + ", " + area["target"])
    return plots.dots_by_row(shown, "cell", baseline=0.5, label="AUC")


def _overlaps(table: pd.DataFrame) -> "Figure":
    from membership import plots

    pairs = table["attacks"].str.split(" and ", n=1, expand=True)
    shown = table.assign(first=pairs[0], second=pairs[1], at=table["FPR"] + " FPR")
    itself = shown["second"] == sentences.OTHER
    found, chance = (shown["metric"] == one for one in (sentences.OVERLAP, sentences.BY_CHANCE))
    above, on = shown[found & ~itself], shown[found & itself]
    below = shown[chance & ~itself].rename(columns={"first": "second", "second": "first"})
    cells = pd.concat([above, below, on.assign(second=on["first"])])
    return plots.heat_maps(cells, "first", "second", panel="at")


def _levels(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = table[table["metric"].str.contains(" mu")]
    shown = shown.assign(cell=shown["dataset"] + ", " + shown["target"])
    return plots.dots_by_row(shown, "cell", by="metric", label="mu", wide=True)


def _references(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = table.assign(panel=table["metric"])
    return plots.lines_with_intervals(
        shown, x="references", panel="panel", x_label="reference models", log_x=True
    )


def _seconds(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = table.assign(panel="one target, end to end", x=table["seconds"], y=table["value"])
    return plots.scatter_panels(
        shown,
        by="attack",
        log_x=True,
        labels={"one target, end to end": ("processor seconds", "AUC")},
    )


def _risk(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = table[table["metric"] == sentences.CORRELATION]
    return plots.dots_by_row(
        shown, "predictor", by="dataset", baseline=0.0, label=sentences.CORRELATION
    )


EXHIBITS = (
    exhibit(
        "tab-1",
        leaderboard.references,
        needs=_timed,
        draw=_leaders,
        says=sentences.of_references,
        alt=lambda table: "A row for each attack, best first. " + sentences.of_references(table),
    ),
    exhibit(
        "fig-1",
        leaderboard.by_cell,
        needs=names.files,
        draw=_cells,
        says=sentences.of_cells,
        alt=lambda table: (
            "A row of marks for each cell, a mark an attack. " + sentences.of_cells(table)
        ),
    ),
    exhibit("tab-2", leaderboard.all_others, needs=_timed, says=sentences.of_others),
    exhibit("ctl-1", leaderboard.canaries, needs=names.files, says=sentences.of_canaries),
    exhibit(
        "fig-2",
        power.against_references,
        needs=_timed,
        draw=_references,
        says=sentences.of_power,
        alt=lambda table: "Two panels of rising lines. " + sentences.of_power(table),
    ),
    exhibit(
        "fig-3",
        power.against_seconds,
        needs=_timed,
        draw=_seconds,
        says=sentences.of_seconds,
        alt=lambda table: "A cloud of points, AUC by seconds. " + sentences.of_seconds(table),
    ),
    exhibit("ctl-2", power.gains, needs=names.files, says=sentences.of_gains),
    exhibit("ctl-3", thresholds.by_record, needs=names.files, says=sentences.of_records),
    exhibit("tab-3", thresholds.honest, needs=names.files, says=sentences.of_thresholds),
    exhibit(
        "tab-4",
        agreement.agreement,
        needs=names.files,
        draw=_overlaps,
        says=sentences.of_agreement,
        alt=lambda table: (
            "Three square maps, an attack a row and a column. " + sentences.of_agreement(table)
        ),
    ),
    exhibit(
        "tab-5",
        bounds.lower_bounds,
        needs=names.files,
        draw=_levels,
        says=sentences.of_bounds,
        alt=lambda table: (
            "A row of marks for each cell, proven and stated levels. " + sentences.of_bounds(table)
        ),
    ),
    exhibit(
        "tab-6", discoveries.false_discoveries, needs=names.files, says=sentences.of_discoveries
    ),
    exhibit(
        "fig-4",
        risk.risk_map,
        needs=_with_processes,
        draw=_risk,
        says=sentences.of_risk,
        alt=lambda table: (
            "A row of marks for each predictor, a mark a data set. " + sentences.of_risk(table)
        ),
    ),
    exhibit(
        "fig-5",
        found.found_by,
        needs=_with_pictures,
        draw=found.draw,
        says=sentences.of_found,
        alt=lambda table: "Rows of records, one a group. " + sentences.of_found(table),
    ),
    exhibit("ctl-4", nulls.null_rows, needs=_with_untrained, says=sentences.of_nulls),
    exhibit("ctl-5", another.panel, needs=_with_processes, says=sentences.of_another),
    exhibit("ctl-6", tuned.tuned, needs=names.files, says=sentences.of_tuned),
)
