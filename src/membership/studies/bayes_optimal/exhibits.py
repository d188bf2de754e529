"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.declaration import Reading, drawn, exhibits_of, later
from membership.studies.bayes_optimal import finite_games, names, posterior, sentences
from membership.studies.bayes_optimal.settings import Settings

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from membership.studies.bayes_optimal.logistic import Size
    from membership.studies.bayes_optimal.networks import ReferenceGame

augmentation, gaussian, logistic = later(__package__, "augmentation", "gaussian", "logistic")
ladder_tables, network_tables, promises = later(
    __package__, "ladder_tables", "network_tables", "promises"
)
drawings, networks, imagenet = later(__package__, "drawings", "networks", "imagenet.table")

ATTACKS = ["MALT", "MATT"]
GAP = "training less validation accuracy (points)"


def _names(settings: Settings) -> list[str]:
    return [names.logistic(n) for n in settings.n_records]


def sizes(source: Source) -> "list[Size]":
    """The splits of Table 1, of one run."""
    return [logistic.Size(source.evidence(name)) for name in _names(source.settings)]


def trials(source: Source) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, of one run."""
    return logistic.trials(source.made(sizes))


def game(source: Source) -> "ReferenceGame":
    """The networks' signals, of one run."""
    return networks.game(source.evidence(names.NETWORKS))


def _of_settings(function: Callable[[Settings], Any]) -> Reading:
    return Reading(lambda _: (), lambda source: function(source.settings))


SIZES, TRIALS = Reading(_names, sizes), Reading(_names, trials)
GAME = Reading(lambda _: (names.NETWORKS,), game)
GAUSSIAN = _of_settings(lambda settings: gaussian.both_games(settings))
TEMPERATURE = _of_settings(lambda _: posterior.temperature())


def _lines(
    shown: Callable[[pd.DataFrame], pd.DataFrame], **options: Any
) -> "Callable[[pd.DataFrame], Figure]":
    """Lines with intervals, of the rows that a function chooses."""
    draw = drawn("lines_with_intervals", **options)
    return lambda table: draw(shown(table))


def _against_n(table: pd.DataFrame) -> "Figure":
    """Lines against n; the published values only where the data are the paper's."""
    printed = logistic.published_table_1() if sentences.is_the_papers(table) else None
    table = table[~(table["attack"] + table["metric"]).str.contains(" less ")]
    options: dict[str, Any] = {"x": "n", "panel": "metric", "log_x": True, "published": printed}
    return drawn("lines_with_intervals", **options)(table)


def _by_threshold(table: pd.DataFrame) -> pd.DataFrame:
    """MALT and MATT, each by its threshold, beside 0-1 and random scores."""
    words = {
        names.ACCURACY: "best threshold",
        names.OTHER: "threshold of other records",
        names.MODELS: "threshold of other models",
    }
    own, beside = table.assign(line=table["metric"].map(words)), ["0-1", "random score"]
    baselines = own[own["attack"].isin(beside)]
    panels = [
        pd.concat(
            [own[own["attack"] == attack], baselines.assign(line=baselines["attack"])]
        ).assign(panel=f"{attack} accuracy (%)")
        for attack in ATTACKS
    ]
    return pd.concat(panels)


def _against_gap(table: pd.DataFrame) -> "Figure":
    shown = ladder_tables.drawn(table)
    options: dict[str, Any] = {"x": "gap", "by": "features", "panel": "attack", "x_label": GAP}
    log_x = bool((shown["gap"] > 0).all())
    return drawn("lines_with_intervals", log_x=log_x, same_scale=True, **options)(shown)


def _powers_of_n(table: pd.DataFrame) -> "Figure":
    """The slopes; of one size alone, what there is at it."""
    end = f", {names.SLOPE}"
    slopes = table[table["quantity"].str.endswith(end)]
    if slopes.empty:
        ratios = table[table["quantity"] == names.RATIO].astype({"n": int})
        label = "second-order over first-order term"
        return drawn("lines_with_intervals", x="n", by="features", y_label=label)(ratios)
    shown = slopes.assign(quantity=slopes["quantity"].str.removesuffix(end))
    options: dict[str, Any] = {"label": "exponent of n (line: -1/2)", "baseline": -0.5}
    return drawn("dots_by_row", row="quantity", by="features", **options)(shown)


def _against_penalty(table: pd.DataFrame) -> "Figure":
    shown, printed = ladder_tables.penalties_drawn(table)
    options: dict[str, Any] = {"x": "gap", "by": "size", "panel": "panel", "x_label": GAP}
    return drawn("lines_with_intervals", published=printed, same_scale=True, **options)(shown)


def _against_references(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["attack"].isin(["MALT", "MAST"]) & (table["metric"] != names.AUC)]


def _table_3(_: "xr.Dataset") -> pd.DataFrame:
    raise InputError("Table 3 is trained by the ImageNet recipe, not by this chapter; see its page")


_BY_THRESHOLD = _lines(_by_threshold, x="n", by="line", panel="panel", log_x=True, same_scale=True)
_BY_MODELS = _lines(
    lambda table: logistic.drawn(table),
    x="models",
    by="size",
    panel="panel",
    log_x=True,
    x_label="models that the threshold is learnt from",
)
_BY_TEMPERATURE = drawn(
    "lines_with_intervals", x="temperature", by="series", panel="metric", log_x=True
)
_BY_REFERENCES = _lines(
    _against_references, x="references", panel="metric", same_scale=True, x_label="reference models"
)
_BINS = drawn(
    "lines_with_intervals",
    x="nats",
    by="quantity",
    panel="metric",
    log_x=True,
    x_label="threshold or loss (nats)",
)

exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit(
        "fig-1",
        gaussian.figure_1,
        settings=True,
        draw=drawn("score_histograms"),
        says=sentences.of_figure_1,
    ),
    exhibit("ctl-1", gaussian.gaussian_accuracies, settings=True, says=sentences.of_accuracies),
    exhibit(
        "tab-1",
        logistic.table_1,
        TRIALS,
        draw=_against_n,
        judge=logistic.judged,
        alt=sentences.table_1_picture,
    ),
    exhibit(
        "ctl-2",
        logistic.peak_and_crossed,
        TRIALS,
        draw=_BY_THRESHOLD,
        alt=sentences.peaks_picture,
    ),
    exhibit(
        "ctl-17",
        logistic.by_models,
        SIZES,
        TRIALS,
        draw=_BY_MODELS,
        says=sentences.of_models,
        alt=sentences.models_picture,
    ),
    exhibit("ctl-3", logistic.twin, TRIALS, draw=drawings.twins, says=sentences.of_twin),
    exhibit("ctl-4", logistic.second_order, TRIALS),
    exhibit(
        "tab-2",
        network_tables.table_2,
        GAME,
        draw=drawings.right_and_found,
        judge=network_tables.judged,
    ),
    exhibit("ctl-5", network_tables.averages, GAME, GAUSSIAN),
    exhibit(
        "ctl-6",
        network_tables.temperatures,
        GAME,
        TEMPERATURE,
        draw=_BY_TEMPERATURE,
        says=sentences.of_temperatures,
        alt=sentences.temperatures_picture,
    ),
    exhibit("ctl-7", posterior.theorem_1, settings=True, says=sentences.of_expectations),
    exhibit("ctl-8", finite_games.statements, settings=True, says=sentences.of_statements),
    exhibit(
        "ctl-9",
        posterior.added_by_parameters,
        settings=True,
        draw=drawings.parameters_and_loss,
        says=sentences.of_information,
    ),
    exhibit(
        "ctl-10",
        ladder_tables.against_gap,
        names.LADDER,
        TRIALS,
        draw=_against_gap,
        says=sentences.of_ladder,
        alt=sentences.ladder_picture,
    ),
    exhibit(
        "ctl-16",
        ladder_tables.by_penalty,
        names.PENALTIES,
        draw=_against_penalty,
        says=sentences.of_penalties,
        alt=sentences.penalties_picture,
    ),
    exhibit(
        "ctl-11",
        ladder_tables.powers,
        names.LADDER,
        TRIALS,
        draw=_powers_of_n,
        says=sentences.of_powers,
        alt=sentences.powers_picture,
    ),
    exhibit(
        "ctl-12",
        network_tables.by_references,
        GAME,
        draw=_BY_REFERENCES,
        alt=sentences.references_picture,
    ),
    exhibit(
        "ctl-13",
        network_tables.histograms,
        GAME,
        draw=_BINS,
        says=sentences.of_histograms,
        alt=sentences.histograms_picture,
    ),
    exhibit(
        "ctl-18",
        promises.control_18,
        GAME,
        draw=drawings.found_and_promised,
        says=sentences.of_promises,
    ),
    exhibit(
        "ctl-14",
        augmentation.by_augmentation,
        names.augmented,
        says=sentences.of_augmentation,
    ),
    exhibit("tab-3", _table_3, "imagenet", judge=imagenet.comparison),
)
