"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from typing import TYPE_CHECKING

import pandas as pd

from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.metrics.rate_names import tpr_label
from membership.studies.comparison import names, sentences
from membership.studies.comparison.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

leaderboard, power, tuned, thresholds = later(
    __package__, "leaderboard", "power", "tuned", "thresholds"
)
agreement, bounds, drawings, risk, nulls, another_game, convolutional, outside = later(
    __package__,
    "agreement",
    "bounds",
    "drawings",
    "risk",
    "nulls",
    "another_game",
    "convolutional",
    "outside",
)


def _processes(settings: Settings) -> tuple[str, ...]:
    return tuple(f"lood-{cell.word}" for cell in names.typical(settings))


def _pictures(settings: Settings) -> tuple[str, ...]:
    return tuple(f"pictures-{cell.word}" for cell in names.pictured(settings))


# What the leaderboards read, and what some exhibits read beside it.
FILES = Reading(names.files)
TIMED = Reading(lambda settings: (*names.files(settings), *names.times(settings)))
PROCESSES = Reading(lambda settings: (*names.files(settings), *_processes(settings)))
PICTURES = Reading(lambda settings: (*names.files(settings), *_pictures(settings)))
WITH_UNTRAINED = Reading(lambda settings: (*names.files(settings), names.UNTRAINED))

OUTSIDE = Reading(
    lambda settings: (
        *names.files(settings),
        *(f"outside-{cell.word}" for cell in names.outside(settings)),
    )
)
# What reads another chapter's evidence.
NOTHING = Reading(lambda settings: ())

exhibit = exhibits_of(__package__)


def _leaders(table: pd.DataFrame) -> "Figure":
    from membership import plots

    area = table[table["metric"] == sentences.AREA].sort_values("value", ascending=False)
    widest = area["cells"].iloc[0]
    fewer = area["cells"].where(area["cells"] != widest)
    name = area["attack"] + (" (" + fewer + ")").fillna("")
    shown = area.assign(row=name, references=drawings.trained(area["attack"]))
    label = f"AUC, averaged over {widest}"
    return plots.dots_by_row(shown, "row", by="references", baseline=0.5, label=label)


def _network(table: pd.DataFrame) -> "Figure":
    from membership import plots

    metrics = set(table["metric"])
    shown = (sentences.RATE, sentences.AREA, sentences.ABSENT)
    metric = next(name for name in shown if name in metrics)
    rows = table[table["metric"] == metric].sort_values("value", ascending=False)
    baseline, label = (0.5, metric) if metric != sentences.RATE else (1.0, tpr_label(0.01))
    label = f"{label}, by queries an image"
    return plots.dots_by_row(rows, "attack", by="queries", baseline=baseline, label=label)


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
    overlap, chance = (shown["metric"] == name for name in (sentences.OVERLAP, sentences.BY_CHANCE))
    above, on = shown[overlap & ~itself], shown[overlap & itself]
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
    exhibit("tab-1", leaderboard.references, TIMED, draw=_leaders, says=sentences.of_references),
    exhibit("fig-1", leaderboard.by_cell, FILES, draw=_cells, says=sentences.of_cells),
    exhibit("tab-2", leaderboard.all_others, TIMED, says=sentences.of_others),
    exhibit("ctl-1", leaderboard.canaries, FILES, says=sentences.of_canaries),
    exhibit("fig-2", power.against_references, TIMED, draw=_references, says=sentences.of_power),
    exhibit("fig-3", power.against_seconds, TIMED, draw=_seconds, says=sentences.of_seconds),
    exhibit("ctl-2", power.gains, FILES, draw=drawings.gains, says=sentences.of_gains),
    exhibit(
        "ctl-3",
        thresholds.by_record,
        FILES,
        draw=drawings.repeated,
        says=sentences.of_records,
    ),
    exhibit(
        "tab-3",
        thresholds.honest,
        FILES,
        draw=drawings.worth_of_a_flag,
        says=sentences.of_thresholds,
    ),
    exhibit("tab-4", agreement.agreement, FILES, draw=_overlaps, says=sentences.of_agreement),
    exhibit("tab-5", bounds.lower_bounds, FILES, draw=_levels, says=sentences.of_bounds),
    exhibit("tab-6", thresholds.false_discoveries, FILES, says=sentences.of_discoveries),
    exhibit("fig-4", risk.risk_map, PROCESSES, draw=_risk, says=sentences.of_risk),
    exhibit("fig-5", agreement.found_by, PICTURES, draw=agreement.draw, says=sentences.of_found),
    exhibit("ctl-4", nulls.null_rows, WITH_UNTRAINED, says=sentences.of_nulls),
    exhibit("ctl-5", another_game.panel, PROCESSES, says=sentences.of_another),
    exhibit("ctl-6", tuned.tuned, FILES, says=sentences.of_tuned),
    exhibit("ctl-7", convolutional.cell, NOTHING, draw=_network, says=sentences.of_network),
    exhibit("ctl-8", outside.outside, OUTSIDE, says=sentences.of_outside),
)
