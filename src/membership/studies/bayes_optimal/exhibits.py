"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.declaration import declaring, drawn, later, of_settings
from membership.studies.bayes_optimal import (
    finite_games,
    names,
    posterior,
    sentences,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from membership.studies.bayes_optimal.networks import ReferenceGame

augmentation, gaussian, logistic = later(__package__, "augmentation", "gaussian", "logistic")
ladder_tables, network_tables = later(__package__, "ladder_tables", "network_tables")

NETWORKS = (names.NETWORKS,)


def _logistic_names(settings: Any) -> tuple[str, ...]:
    return tuple(names.logistic(n) for n in settings.n_records)


def _of_trials(
    function: Callable[[pd.DataFrame], pd.DataFrame],
) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(trials(source))


@functools.lru_cache(maxsize=4)
def trials(source: Source) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, of one run."""
    return logistic.trials([source.evidence(name) for name in _logistic_names(source.settings)])


@functools.lru_cache(maxsize=4)
def per_target(source: Source) -> pd.DataFrame:
    """Every number of Table 2 by target, of one run."""
    return network_tables.per_target(game(source))


def _gaussian_games(settings: Any) -> dict[str, pd.DataFrame]:
    """MAST in the paper's game and in one that is harder to win, by what the table calls them."""
    return {
        name: gaussian.gaussian_references(settings, unsaturated)
        for name, unsaturated in (("Gaussian game", False), ("harder Gaussian game, d = 2n'", True))
    }


def game(source: Source) -> "ReferenceGame":
    """The networks' signals, of one run."""
    from membership.studies.bayes_optimal.networks import ReferenceGame

    return ReferenceGame.of(source.evidence(names.NETWORKS))


def _table_3(source: Source) -> pd.DataFrame:
    raise InputError("Table 3 is trained by the ImageNet recipe, not by this chapter; see its page")


def _table_3_judged(table: pd.DataFrame) -> pd.DataFrame:
    from membership.studies.bayes_optimal.imagenet.table import comparison

    return comparison(table)


def _against_n(table: pd.DataFrame) -> "Figure":
    """Lines against n; the published values only where the data are the paper's."""
    from membership import plots

    printed = logistic.published_table_1() if sentences.is_the_papers(table) else None
    return plots.lines_with_intervals(table, x="n", panel="metric", log_x=True, published=printed)


def _by_threshold(table: pd.DataFrame) -> "Figure":
    """MALT and MATT, each by its threshold, beside 0-1 and random scores, on one scale."""
    from membership import plots

    words = {
        names.ACCURACY: "best threshold",
        names.OTHER: "threshold of other records",
        names.MODELS: "threshold of other models",
    }
    own = table.assign(line=table["metric"].map(words))
    beside = ("0-1", "random score")
    panels = [
        pd.concat(
            [
                own[own["attack"] == attack],
                *(own[own["attack"] == name].assign(line=name) for name in beside),
            ]
        ).assign(panel=f"{attack} accuracy (%)")
        for attack in ("MALT", "MATT")
    ]
    return plots.lines_with_intervals(
        pd.concat(panels), x="n", by="line", panel="panel", log_x=True, same_scale=True
    )


def _by_models(source: Source) -> pd.DataFrame:
    sizes = [source.evidence(name) for name in _logistic_names(source.settings)]
    return logistic.by_models(sizes, trials(source).attrs)


def _against_models(table: pd.DataFrame) -> "Figure":
    from membership import plots

    return plots.lines_with_intervals(
        logistic.drawn(table),
        x="models",
        by="size",
        panel="panel",
        log_x=True,
        x_label="models that the threshold is learnt from",
    )


def _against_gap(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = ladder_tables.drawn(table)
    return plots.lines_with_intervals(
        shown,
        x="gap",
        by="features",
        panel="attack",
        log_x=bool((shown["gap"] > 0).all()),
        same_scale=True,
        x_label="training less validation accuracy (points)",
    )


def _powers_of_n(table: pd.DataFrame) -> "Figure":
    """The slopes; of one size alone, what there is at it."""
    from membership import plots

    end = f", {names.SLOPE}"
    slopes = table[table["quantity"].str.endswith(end)]
    if slopes.empty:
        return plots.lines_with_intervals(
            table[table["quantity"] == names.RATIO].astype({"n": int}),
            x="n",
            by="features",
            y_label="second-order over first-order term",
        )
    shown = slopes.assign(quantity=slopes["quantity"].str.removesuffix(end))
    return plots.dots_by_row(
        shown, "quantity", by="features", baseline=-0.5, label="exponent of n (line: -1/2)"
    )


def _against_penalty(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown, printed = ladder_tables.penalties_drawn(table)
    return plots.lines_with_intervals(
        shown,
        x="gap",
        by="size",
        panel="panel",
        published=printed,
        same_scale=True,
        x_label="training less validation accuracy (points)",
    )


def _against_references(table: pd.DataFrame) -> "Figure":
    from membership import plots

    shown = table[table["attack"].isin(["MALT", "MAST"]) & (table["metric"] != "auc(%)")]
    return plots.lines_with_intervals(
        shown, x="references", panel="metric", same_scale=True, x_label="reference models"
    )


exhibit = declaring(__package__)

EXHIBITS = (
    exhibit(
        "fig-1",
        of_settings(gaussian.figure_1),
        draw=drawn("score_histograms"),
        says=sentences.of_figure_1,
    ),
    exhibit("ctl-1", of_settings(gaussian.gaussian_accuracies), says=sentences.of_accuracies),
    exhibit(
        "tab-1",
        _of_trials(logistic.table_1),
        needs=_logistic_names,
        draw=_against_n,
        judge=logistic.judged,
        says=sentences.of_table_1,
        alt=sentences.table_1_picture,
    ),
    exhibit(
        "ctl-2",
        _of_trials(logistic.peak_and_crossed),
        needs=_logistic_names,
        draw=_by_threshold,
        says=sentences.of_peaks,
        alt=sentences.peaks_picture,
    ),
    exhibit(
        "ctl-17",
        _by_models,
        needs=_logistic_names,
        draw=_against_models,
        says=sentences.of_models,
        alt=sentences.models_picture,
    ),
    exhibit("ctl-3", _of_trials(logistic.twin), needs=_logistic_names, says=sentences.of_twin),
    exhibit(
        "ctl-4",
        _of_trials(logistic.second_order),
        needs=_logistic_names,
        says=sentences.of_second_order,
    ),
    exhibit(
        "tab-2",
        lambda source: network_tables.table_2(game(source)),
        needs=NETWORKS,
        judge=network_tables.judged,
        says=sentences.of_table_2,
    ),
    exhibit(
        "ctl-5",
        lambda source: network_tables.averages(game(source), _gaussian_games(source.settings)),
        needs=NETWORKS,
        says=sentences.of_averages,
    ),
    exhibit(
        "ctl-6",
        lambda source: network_tables.temperatures(game(source), posterior.temperature()),
        needs=NETWORKS,
        draw=drawn(
            "lines_with_intervals", x="temperature", by="series", panel="metric", log_x=True
        ),
        says=sentences.of_temperatures,
        alt=sentences.temperatures_picture,
    ),
    exhibit("ctl-7", of_settings(posterior.theorem_1), says=sentences.of_expectations),
    exhibit("ctl-8", of_settings(finite_games.statements), says=sentences.of_statements),
    exhibit("ctl-9", of_settings(posterior.added_by_parameters), says=sentences.of_information),
    exhibit(
        "ctl-10",
        lambda source: ladder_tables.against_gap(source.evidence(names.LADDER), trials(source)),
        needs=lambda settings: (*_logistic_names(settings), names.LADDER),
        draw=_against_gap,
        says=sentences.of_ladder,
        alt=sentences.ladder_picture,
    ),
    exhibit(
        "ctl-16",
        lambda source: ladder_tables.by_penalty(source.evidence(names.PENALTIES)),
        needs=(names.PENALTIES,),
        draw=_against_penalty,
        says=sentences.of_penalties,
        alt=sentences.penalties_picture,
    ),
    exhibit(
        "ctl-11",
        lambda source: ladder_tables.powers(source.evidence(names.LADDER), trials(source)),
        needs=lambda settings: (*_logistic_names(settings), names.LADDER),
        draw=_powers_of_n,
        says=sentences.of_powers,
        alt=sentences.powers_picture,
    ),
    exhibit(
        "ctl-12",
        lambda source: network_tables.by_references(game(source)),
        needs=NETWORKS,
        draw=_against_references,
        says=sentences.of_references,
        alt=sentences.references_picture,
    ),
    exhibit(
        "ctl-13",
        lambda source: network_tables.histograms(game(source)),
        needs=NETWORKS,
        draw=drawn(
            "lines_with_intervals",
            x="nats",
            by="quantity",
            panel="metric",
            log_x=True,
            x_label="threshold or loss (nats)",
        ),
        says=sentences.of_histograms,
        alt=sentences.histograms_picture,
    ),
    exhibit(
        "ctl-14",
        lambda source: augmentation.by_augmentation(
            [source.evidence(name) for name in names.augmented(source.settings)]
        ),
        needs=names.augmented,
        says=sentences.of_augmentation,
    ),
    exhibit("tab-3", _table_3, needs=("imagenet",), judge=_table_3_judged),
)
