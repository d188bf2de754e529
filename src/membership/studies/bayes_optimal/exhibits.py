"""The chapter's exhibits, in the order of its page."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import Exhibit, Source
from membership.exhibits.declaration import drawn, later, of_settings
from membership.studies.bayes_optimal import (
    enumeration,
    information,
    names,
    posterior,
    sentences,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from membership.studies.bayes_optimal.reference_game import ReferenceGame

cnn, gaussian, logistic = later(__package__, "cnn", "gaussian", "logistic")

NETWORKS = (names.NETWORKS,)


def _logistic_names(settings: Any) -> tuple[str, ...]:
    return tuple(names.logistic(n) for n in settings.n_records)


def _of_trials(
    function: Callable[[pd.DataFrame], pd.DataFrame],
) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(trials(source))


def trials(source: Source) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, of one run."""
    return logistic.trials([source.evidence(name) for name in _logistic_names(source.settings)])


def game(source: Source) -> "ReferenceGame":
    """The networks' signals, of one run."""
    from membership.studies.bayes_optimal.reference_game import ReferenceGame

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


EXHIBITS = (
    Exhibit(
        "bayes-optimal-fig-1",
        "Figure 1",
        "scores in the Gaussian game, global against per-sample threshold",
        "What does a threshold for each record change?",
        compute=of_settings(gaussian.figure_1),
        draw=drawn("score_histograms"),
        says=sentences.of_figure_1,
        caption="Scores in the Gaussian game. Bars: one game. Curves: the exact distributions. "
        "One threshold for all records (MALT, left) leaves members and non-members mixed; a "
        "threshold for each record (MAST, right) separates them.",
        alt="Two histograms of attack scores for members and non-members. For MALT the two groups "
        "overlap widely; for MAST they are almost fully apart. Exact density curves follow the "
        "bars.",
    ),
    Exhibit(
        "bayes-optimal-ctl-1",
        "",
        "accuracies in the Gaussian game: simulated against exact formulas",
        "How accurate is accurate?",
        compute=of_settings(gaussian.gaussian_accuracies),
        says=sentences.of_accuracies,
    ),
    Exhibit(
        "bayes-optimal-tab-1",
        "Table 1",
        "logistic regression: model accuracy, attack accuracy, mAP, n=400..6000",
        "How much does the loss of a logistic regression give away, and how much its gradient?",
        compute=_of_trials(logistic.table_1),
        needs=_logistic_names,
        draw=_against_n,
        judge=logistic.judged,
        says=sentences.of_table_1,
        caption="Filled: this run, 95% intervals over random splits. Open: the published values, "
        "where the data are the paper's. Attack accuracies are those of the best threshold.",
        alt=sentences.table_1_picture,
    ),
    Exhibit(
        "bayes-optimal-ctl-2",
        "",
        "peak accuracy against its null and against a threshold chosen on other records",
        "How much of an attack's accuracy is its threshold's?",
        compute=_of_trials(logistic.peak_and_crossed),
        needs=_logistic_names,
        draw=drawn("lines_with_intervals", x="n", panel="metric", log_x=True),
        says=sentences.of_peaks,
        caption="Attack accuracy with the best threshold for the records it is counted on, with "
        "that of another half of the records, and what random scores reach. 95% intervals over "
        "random splits.",
        alt=sentences.peaks_picture,
    ),
    Exhibit(
        "bayes-optimal-ctl-3",
        "",
        "MATT against its black-box twin l(theta0) - l(theta): rank correlation and AUC",
        "Does MATT need the parameters that it reads?",
        compute=_of_trials(logistic.twin),
        needs=_logistic_names,
        says=sentences.of_twin,
    ),
    Exhibit(
        "bayes-optimal-ctl-4",
        "",
        "MATT with the second-order term, with and without the leverage correction",
        "Is the second-order term negligible?",
        compute=_of_trials(logistic.second_order),
        needs=_logistic_names,
        says=sentences.of_second_order,
    ),
    Exhibit(
        "bayes-optimal-tab-2",
        "Table 2",
        "small CNN: 0-1, MALT, MAST",
        "What does a threshold for each record add on a network?",
        compute=lambda source: cnn.table_2(game(source)),
        needs=NETWORKS,
        judge=cnn.judged,
        says=sentences.of_table_2,
    ),
    Exhibit(
        "bayes-optimal-ctl-5",
        "",
        "MAST with log-mean-exp, mean and best separation",
        "Which average of the reference losses?",
        compute=lambda source: cnn.averages(
            game(source), gaussian.gaussian_references(source.settings)
        ),
        needs=NETWORKS,
        says=sentences.of_averages,
    ),
    Exhibit(
        "bayes-optimal-ctl-6",
        "",
        "temperature",
        "Does a higher temperature hide members?",
        compute=lambda source: cnn.temperatures(game(source), posterior.temperature()),
        needs=NETWORKS,
        draw=drawn(
            "lines_with_intervals", x="temperature", by="series", panel="metric", log_x=True
        ),
        says=sentences.of_temperatures,
        caption="First two panels: the probability of membership in the one-dimensional game, "
        "with the law of the other models held fixed and with that of Equation 12. Last panel: "
        "AUC of MAST on the networks by the temperature of its threshold, with 95% intervals over "
        "target models.",
        alt=sentences.temperatures_picture,
    ),
    Exhibit(
        "bayes-optimal-ctl-7",
        "",
        "exact Bayes posterior against Theorem 1 with prior and with posterior expectation",
        "Which expectation does Theorem 1 mean?",
        compute=of_settings(posterior.theorem_1),
        says=sentences.of_expectations,
    ),
    Exhibit(
        "bayes-optimal-ctl-8",
        "",
        "Theorem 2 and the two properties in games that can be summed",
        "Do the theorem and the two bounds hold?",
        compute=of_settings(enumeration.statements),
        says=sentences.of_statements,
    ),
    Exhibit(
        "bayes-optimal-ctl-9",
        "",
        "best attack on all parameters against best attack on the record's own loss",
        "What do all parameters add to one loss, where the theory's assumption holds?",
        compute=of_settings(information.added_by_parameters),
        says=sentences.of_information,
    ),
    Exhibit(
        "bayes-optimal-tab-3",
        "Table 3",
        "ImageNet: 0-1 and MALT by augmentation",
        "How much do large networks give away, and what does augmentation change?",
        compute=_table_3,
        needs=("imagenet",),
        judge=_table_3_judged,
    ),
)
