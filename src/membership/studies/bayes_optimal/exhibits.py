"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.studies.bayes_optimal import finite_games, names, posterior, sentences
from membership.studies.bayes_optimal.settings import Settings

if TYPE_CHECKING:
    import xarray as xr

    from membership.studies.bayes_optimal.logistic import Size
    from membership.studies.bayes_optimal.networks import ReferenceGame

augmentation, gaussian, logistic = later(__package__, "augmentation", "gaussian", "logistic")
ladder_tables, network_tables, promises = later(
    __package__, "ladder_tables", "network_tables", "promises"
)
drawings, networks, imagenet = later(__package__, "drawings", "networks", "imagenet.table")


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


def _table_3(_: "xr.Dataset") -> pd.DataFrame:
    raise InputError("Table 3 is trained by the ImageNet recipe, not by this chapter; see its page")


exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("fig-1", gaussian.figure_1, settings=True, says=sentences.of_figure_1),
    exhibit("ctl-1", gaussian.gaussian_accuracies, settings=True, says=sentences.of_accuracies),
    exhibit("tab-1", logistic.table_1, TRIALS, draw=drawings.against_n, judge=logistic.judged),
    exhibit("ctl-2", logistic.peak_and_crossed, TRIALS, draw=drawings.by_threshold),
    exhibit(
        "ctl-17",
        logistic.by_models,
        SIZES,
        TRIALS,
        draw=drawings.by_models,
        says=sentences.of_models,
    ),
    exhibit("ctl-3", logistic.twin, TRIALS, draw=drawings.twins),
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
        "ctl-6", network_tables.temperatures, GAME, TEMPERATURE, says=sentences.of_temperatures
    ),
    exhibit("ctl-7", posterior.theorem_1, settings=True, says=sentences.of_expectations),
    exhibit("ctl-8", finite_games.statements, settings=True, says=sentences.of_statements),
    exhibit(
        "ctl-9", posterior.added_by_parameters, settings=True, draw=drawings.parameters_and_loss
    ),
    exhibit("ctl-10", ladder_tables.against_gap, names.LADDER, TRIALS, draw=drawings.against_gap),
    exhibit(
        "ctl-16",
        ladder_tables.by_penalty,
        names.PENALTIES,
        draw=drawings.against_penalty,
        says=sentences.of_penalties,
    ),
    exhibit(
        "ctl-11",
        ladder_tables.powers,
        names.LADDER,
        TRIALS,
        draw=drawings.powers_of_n,
        says=sentences.of_powers,
    ),
    exhibit("ctl-12", network_tables.by_references, GAME, draw=drawings.by_references),
    exhibit(
        "ctl-13",
        network_tables.histograms,
        GAME,
        says=sentences.of_histograms,
        alt=sentences.histograms_picture,
    ),
    exhibit("ctl-18", promises.control_18, GAME, draw=drawings.found_and_promised),
    exhibit(
        "ctl-14", augmentation.by_augmentation, names.augmented, says=sentences.of_augmentation
    ),
    exhibit("tab-3", _table_3, "imagenet", judge=imagenet.comparison),
)
