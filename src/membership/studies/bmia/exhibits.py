"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable
from typing import Any

from membership.exhibits.declaration import declaring, drawn, later, of_settings
from membership.studies.bmia import misprints, names, sentences, theory

accuracy, equal_budgets, mismatch, p_values, predictive = later(
    __package__, "accuracy", "equal_budgets", "mismatch", "p_values", "predictive"
)
retraining, table_1, thresholds, toy = later(
    __package__, "retraining", "table_1", "thresholds", "toy"
)


def _needs(*kinds: str) -> Callable[[Any], tuple[str, ...]]:
    return functools.partial(names.files, kinds)


MAIN = _needs(*names.MAIN)
VARIANTS = _needs(*names.MAIN, "variants")
MEASURED = _needs(*names.MAIN, "measured")


_BY_SAMPLES = drawn(
    "lines_with_intervals", x="n_samples", by="series", log_x=True, panel="panel", x_label="samples"
)
_ROC = drawn("roc_panels", floor=1e-3)


exhibit = declaring(__package__)

EXHIBITS = (
    exhibit(
        "fig-1",
        of_settings(toy.figure_1),
        draw=drawn("prediction_bands"),
        says=sentences.of_figure_1,
        alt=lambda table: (
            "Three panels with the same points on a sine curve and a model's band each. "
            + sentences.of_figure_1(table)
        ),
    ),
    exhibit("ctl-11", toy.control_11, needs=(names.TOY,), says=sentences.of_control_11),
    exhibit(
        "tab-1",
        table_1.table_1,
        needs=VARIANTS,
        judge=table_1.table_1_comparison,
        says=sentences.of_table_1,
    ),
    exhibit("ctl-1", table_1.control_1, needs=MAIN, says=sentences.of_control_1),
    exhibit(
        "ctl-10",
        table_1.control_10,
        needs=_needs("times"),
        judge=table_1.control_10_comparison,
        says=sentences.of_control_10,
    ),
    exhibit(
        "ctl-12",
        equal_budgets.control_12,
        needs=names.of_budgets,
        draw=equal_budgets.draw,
        says=sentences.of_control_12,
        alt=lambda table: (
            "A panel a data set: true-positive rate at 1% against the number of references. "
            + sentences.of_control_12(table)
        ),
    ),
    exhibit(
        "ctl-16",
        accuracy.control_16,
        needs=names.of_accuracy,
        draw=accuracy.draw,
        says=sentences.of_control_16,
        alt=lambda table: (
            "Two panels of gains against the accuracy on other records, a line a data set. "
            + sentences.of_control_16(table)
        ),
    ),
    exhibit(
        "fig-2",
        thresholds.figure_2,
        needs=MAIN,
        draw=drawn("densities_with_thresholds"),
        alt=sentences.laws,
    ),
    exhibit(
        "ctl-2",
        p_values.control_2,
        needs=MEASURED,
        draw=_BY_SAMPLES,
        says=sentences.of_control_2,
        alt=lambda table: (
            "Panels of false-positive rate against the number of samples. "
            + sentences.of_control_2(table)
        ),
    ),
    exhibit("ctl-3", p_values.control_3, needs=MAIN, says=sentences.of_control_3),
    exhibit("ctl-17", p_values.control_17, needs=MAIN, says=sentences.of_control_17),
    exhibit(
        "ctl-4",
        retraining.control_4,
        needs=MAIN,
        draw=drawn(
            "scatter",
            x="laplace",
            y="retraining",
            by="dataset",
            x_label="Laplace sd",
            y_label="sd over retraining",
        ),
        says=sentences.of_control_4,
        alt=lambda table: "A cloud of points a data set. " + sentences.of_control_4(table),
    ),
    exhibit("ctl-5", retraining.control_5, needs=VARIANTS, says=sentences.of_control_5),
    exhibit("ctl-6", table_1.control_6, needs=MAIN, says=sentences.of_control_6),
    exhibit("ctl-7", retraining.control_7, needs=MEASURED, says=sentences.of_control_7),
    exhibit(
        "fig-3", predictive.figure_3, needs=VARIANTS, draw=_BY_SAMPLES, alt=sentences.by_samples
    ),
    exhibit("fig-5", predictive.figure_5, needs=VARIANTS, draw=_ROC, alt=sentences.curves),
    exhibit("fig-6", predictive.figure_6, needs=VARIANTS, draw=_ROC, alt=sentences.curves),
    exhibit("fig-7", predictive.figure_7, needs=VARIANTS, draw=_ROC, alt=sentences.curves),
    exhibit(
        "ctl-13",
        predictive.control_13,
        needs=functools.partial(names.of_last, names.DRAWS),
        says=sentences.of_control_13,
    ),
    exhibit(
        "fig-4",
        mismatch.figure_4,
        needs=names.of_architectures,
        draw=drawn(
            "bars_with_intervals",
            category="target",
            by="reference",
            y_label="TPR at 1% FPR (%)",
        ),
        says=sentences.of_figure_4,
        alt=lambda table: (
            "Groups of bars of true-positive rate, a group a target architecture, a bar a "
            "reference architecture. " + sentences.of_figure_4(table)
        ),
    ),
    exhibit(
        "tab-2",
        mismatch.table_2,
        needs=names.of_strangers,
        judge=mismatch.table_2_comparison,
        says=sentences.of_table_2,
    ),
    exhibit("ctl-8", of_settings(misprints.control_8)),
    exhibit("ctl-9", of_settings(theory.control_9), says=sentences.of_control_9),
    exhibit(
        "ctl-14",
        thresholds.control_14,
        needs=functools.partial(names.of_last, (*names.MANY, names.QUANTILES)),
        says=sentences.of_control_14,
    ),
    exhibit(
        "ctl-15",
        equal_budgets.control_15,
        needs=functools.partial(names.of_last, names.MANY),
        says=sentences.of_control_15,
    ),
)
