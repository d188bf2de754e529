"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from functools import partial

from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.studies.bmia import misprints, names, sentences, theory

accuracy, convolutional, drawings, equal_budgets, mismatch = later(
    __package__, "accuracy", "convolutional", "drawings", "equal_budgets", "mismatch"
)
p_values, predictive = later(__package__, "p_values", "predictive")
retraining, scores, table_1, thresholds, toy = later(
    __package__, "retraining", "scores", "table_1", "thresholds", "toy"
)

# What every attack reads, data set by data set; the same on the queries of other posteriors.
SEEN = Reading(partial(names.files, names.MAIN), scores.read)
ON_VARIANTS = Reading(partial(names.files, (*names.MAIN, "variants")), predictive.read_variants)
ARCHITECTURES = Reading(names.of_architectures, mismatch.read_architectures)
STRANGERS = Reading(names.of_strangers, mismatch.read_strangers)
MANY = Reading(partial(names.of_last, names.MANY), thresholds.read_many)
VARIANTS, MEASURED, TIMES, REGRESSED = (
    partial(names.files, (kind,)) for kind in ("variants", "measured", "times", names.QMIA)
)
POPULATION, DRAWS, QUANTILES = (
    partial(names.of_last, kinds)
    for kinds in ((names.POPULATION,), names.DRAWS, (names.QUANTILES,))
)

exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("fig-1", toy.figure_1, settings=True, says=sentences.of_figure_1),
    exhibit("ctl-11", toy.control_11, names.TOY),
    exhibit(
        "tab-1", table_1.table_1, SEEN, VARIANTS, draw=drawings.references, judge=table_1.judged
    ),
    exhibit("ctl-1", table_1.control_1, SEEN, draw=drawings.posterior_added),
    exhibit(
        "ctl-10", table_1.control_10, TIMES, judge=table_1.judged, says=sentences.of_control_10
    ),
    exhibit(
        "ctl-12",
        equal_budgets.control_12,
        SEEN,
        VARIANTS,
        REGRESSED,
        POPULATION,
        draw=drawings.by_references,
    ),
    exhibit(
        "ctl-16",
        accuracy.control_16,
        SEEN,
        ARCHITECTURES,
        names.of_sweep,
        draw=drawings.against_accuracy,
        says=sentences.of_control_16,
    ),
    exhibit("fig-2", thresholds.figure_2, SEEN, alt=sentences.laws),
    exhibit(
        "ctl-2",
        p_values.control_2,
        SEEN,
        MEASURED,
        settings=True,
        draw=drawings.nominal,
        says=sentences.of_control_2,
    ),
    exhibit("ctl-3", p_values.control_3, SEEN),
    exhibit("ctl-17", p_values.control_17, SEEN, settings=True, draw=drawings.accused),
    exhibit("ctl-4", retraining.control_4, SEEN, says=sentences.of_control_4),
    exhibit("ctl-5", retraining.control_5, SEEN, VARIANTS, says=sentences.of_control_5),
    exhibit("ctl-6", table_1.control_6, SEEN, draw=drawings.three_liras),
    exhibit("ctl-7", retraining.control_7, SEEN, MEASURED),
    exhibit("fig-3", predictive.figure_3, ON_VARIANTS, alt=sentences.by_samples),
    exhibit("fig-5", predictive.figure_5, ON_VARIANTS, alt=sentences.curves),
    exhibit("fig-6", predictive.figure_6, ON_VARIANTS, alt=sentences.curves),
    exhibit("fig-7", predictive.figure_7, ON_VARIANTS, alt=sentences.curves),
    exhibit("ctl-13", predictive.control_13, DRAWS),
    exhibit("fig-4", mismatch.figure_4, ARCHITECTURES, says=sentences.of_figure_4),
    exhibit(
        "tab-2",
        mismatch.table_2,
        STRANGERS,
        judge=mismatch.table_2_comparison,
        says=sentences.of_table_2,
    ),
    exhibit("ctl-8", misprints.control_8),
    exhibit("ctl-9", theory.control_9, settings=True),
    exhibit("ctl-14", thresholds.control_14, MANY, QUANTILES),
    exhibit("ctl-15", equal_budgets.control_15, MANY, says=sentences.of_control_15),
    exhibit("ctl-18", convolutional.control_18, *names.CONVOLUTIONAL),
)
