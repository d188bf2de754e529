"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from membership.book.exhibits import Source
from membership.book.exhibits.declaration import Reading, exhibits_of, later
from membership.book.studies.bayes_optimal import names
from membership.book.studies.bayes_optimal.settings import Settings
from membership.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from membership.book.studies.bayes_optimal.networks import ReferenceGame
    from membership.book.studies.bayes_optimal.splits import Size

augmentation, finite_games, gaussian, posterior = later(
    __package__, "augmentation", "finite_games", "gaussian", "posterior"
)
logistic, ladder_tables, network_tables, promises = later(
    __package__, "logistic", "ladder_tables", "network_tables", "promises"
)
networks, splits, imagenet = later(__package__, "networks", "splits", "imagenet.table")


def _names(settings: Settings) -> list[str]:
    return [names.logistic(n) for n in settings.n_records]


def sizes(source: Source) -> "list[Size]":
    """The splits of Table 1, of one run."""
    return [splits.Size(source.evidence(name)) for name in _names(source.settings)]


def trials(source: Source) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, of one run."""
    return splits.trials(source.made(sizes))


def game(source: Source) -> "ReferenceGame":
    """The networks' signals, of one run."""
    return networks.game(source.evidence(names.NETWORKS))


SIZES, TRIALS = Reading(_names, sizes), Reading(_names, trials)
GAME = Reading(lambda _: (names.NETWORKS,), game)
GAUSSIAN = Reading(lambda _: (), lambda source: gaussian.both_games(source.settings))


def _against(across: str, up: str, key: str, word: str) -> "Callable[[pd.DataFrame], Figure]":
    """How the AUC of one attack is drawn over another's, on the line where they are level."""

    def draw(table: pd.DataFrame) -> "Figure":
        from membership import plots

        areas = table[table["metric"] == names.AUC]
        keys = [name for name in ("n", "ratio", "temperature") if name in table]
        points = areas[areas["attack"] == up].merge(
            areas[areas["attack"] == across][[*keys, "value"]], on=keys, suffixes=("", "_across")
        )
        series = points[key].map(lambda value: f"{word} = {value:g}")
        articles = {"loss": "the loss", "loss difference": "the loss difference"}
        labels = {"": tuple(f"AUC of {articles.get(name, name)} (%)" for name in (across, up))}
        return plots.scatter_panels(
            points.assign(panel="", series=series),
            x="value_across",
            y="value",
            identity=True,
            labels=labels,
        )

    return draw


def _table_3(_: "xr.Dataset") -> pd.DataFrame:
    raise InputError("Table 3 is trained by the ImageNet recipe, not by this chapter; see its page")


exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("fig-1", gaussian.figure_1, settings=True, says=gaussian.say_figure_1),
    exhibit("ctl-1", gaussian.gaussian_accuracies, settings=True, says=gaussian.say_accuracies),
    exhibit("tab-1", logistic.table_1, TRIALS, draw=logistic.draw_table_1, judge=logistic.judged),
    exhibit("ctl-2", logistic.peak_and_crossed, TRIALS, draw=logistic.draw_thresholds),
    exhibit(
        "ctl-17",
        logistic.by_models,
        SIZES,
        TRIALS,
        draw=logistic.draw_models,
        says=logistic.say_models,
    ),
    exhibit("ctl-3", logistic.twin, TRIALS, draw=_against("loss difference", "MATT", "n", "n")),
    exhibit("ctl-4", logistic.second_order, TRIALS),
    exhibit(
        "tab-2",
        network_tables.table_2,
        GAME,
        draw=network_tables.draw_table_2,
        judge=network_tables.judged,
    ),
    exhibit("ctl-5", network_tables.averages, GAME, GAUSSIAN),
    exhibit("ctl-6", posterior.temperatures, GAME, says=posterior.say_temperatures),
    exhibit("ctl-7", posterior.theorem_1, settings=True, says=posterior.say_expectations),
    exhibit("ctl-8", finite_games.statements, settings=True, says=finite_games.say_statements),
    exhibit(
        "ctl-9",
        posterior.added_by_parameters,
        settings=True,
        draw=_against("loss", "parameters", "temperature", "T"),
    ),
    exhibit(
        "ctl-10", ladder_tables.against_gap, names.LADDER, TRIALS, draw=ladder_tables.draw_gaps
    ),
    exhibit(
        "ctl-16",
        ladder_tables.by_penalty,
        names.PENALTIES,
        draw=ladder_tables.draw_penalties,
        says=ladder_tables.say_penalties,
    ),
    exhibit(
        "ctl-11",
        ladder_tables.powers,
        names.LADDER,
        TRIALS,
        draw=ladder_tables.draw_powers,
        says=ladder_tables.say_powers,
    ),
    exhibit("ctl-12", network_tables.by_references, GAME, draw=network_tables.draw_references),
    exhibit(
        "ctl-13",
        network_tables.histograms,
        GAME,
        says=network_tables.say_histograms,
        alt=network_tables.histograms_in_words,
    ),
    exhibit("ctl-18", promises.control_18, GAME, draw=promises.draw_promises),
    exhibit("ctl-14", augmentation.by_augmentation, names.augmented),
    exhibit("tab-3", _table_3, "imagenet", judge=imagenet.comparison),
)
