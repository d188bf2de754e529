"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable, Sequence
from functools import partial

from membership.book.exhibits.declaration import Reading, exhibits_of, later
from membership.book.studies.bmia import evidence, theory
from membership.book.studies.bmia.settings import Settings

accuracy, convolutional, equal_budgets, p_values = later(
    __package__, "accuracy", "convolutional", "equal_budgets", "p_values"
)
posteriors, scores, tables, thresholds, toy = later(
    __package__, "posteriors", "scores", "tables", "thresholds", "toy"
)


def _seen(files: Callable[[Settings], Sequence[str]]) -> Reading:
    """Outputs and posteriors of these files, made ready once."""
    return Reading(files, lambda source: scores.read(source, files))


# What every attack reads, data set by data set; the same on the queries of other posteriors.
SEEN = _seen(partial(evidence.files, evidence.MAIN))
ON_VARIANTS = Reading(
    partial(evidence.files, (*evidence.MAIN, "variants")), posteriors.read_variants
)
ARCHITECTURES, STRANGERS = _seen(evidence.of_architectures), _seen(evidence.of_strangers)
MANY = _seen(partial(evidence.of_last, evidence.MANY))
VARIANTS, MEASURED, TIMES, REGRESSED = (
    partial(evidence.files, (kind,)) for kind in ("variants", "measured", "times", evidence.QMIA)
)
POPULATION, DRAWS, QUANTILES = (
    partial(evidence.of_last, kinds)
    for kinds in ((evidence.POPULATION,), evidence.DRAWS, (evidence.QUANTILES,))
)

exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("fig-1", toy.figure_1, settings=True, says=toy.say_figure_1),
    exhibit("ctl-11", toy.control_11, evidence.TOY),
    exhibit("tab-1", tables.table_1, SEEN, VARIANTS, draw=tables.draw_table_1, judge=tables.judged),
    exhibit("ctl-1", tables.control_1, SEEN, draw=tables.draw_control_1),
    exhibit("ctl-10", tables.control_10, TIMES, judge=tables.judged, says=tables.say_control_10),
    exhibit(
        "ctl-12",
        equal_budgets.control_12,
        SEEN,
        VARIANTS,
        REGRESSED,
        POPULATION,
        draw=equal_budgets.draw_control_12,
    ),
    exhibit(
        "ctl-16",
        accuracy.control_16,
        SEEN,
        ARCHITECTURES,
        evidence.of_sweep,
        draw=accuracy.draw_control_16,
        says=accuracy.say_control_16,
    ),
    exhibit("fig-2", thresholds.figure_2, SEEN, alt=thresholds.figure_2_in_words),
    exhibit(
        "ctl-2", p_values.control_2, SEEN, MEASURED, settings=True, draw=p_values.draw_control_2
    ),
    exhibit("ctl-3", p_values.control_3, SEEN),
    exhibit("ctl-17", p_values.control_17, SEEN, settings=True, draw=p_values.draw_control_17),
    exhibit("ctl-4", posteriors.control_4, SEEN, says=posteriors.say_control_4),
    exhibit("ctl-5", posteriors.control_5, SEEN, VARIANTS, says=posteriors.say_control_5),
    exhibit("ctl-6", tables.control_6, SEEN, draw=tables.draw_control_6),
    exhibit("ctl-7", posteriors.control_7, SEEN, MEASURED),
    exhibit("fig-3", posteriors.figure_3, ON_VARIANTS, alt=posteriors.samples_in_words),
    exhibit("fig-5", posteriors.figure_5, ON_VARIANTS, alt=posteriors.curves_in_words),
    exhibit("fig-6", posteriors.figure_6, ON_VARIANTS, alt=posteriors.curves_in_words),
    exhibit("fig-7", posteriors.figure_7, ON_VARIANTS, alt=posteriors.curves_in_words),
    exhibit("ctl-13", posteriors.control_13, DRAWS),
    exhibit("fig-4", tables.figure_4, ARCHITECTURES, says=tables.say_figure_4),
    exhibit("tab-2", tables.table_2, STRANGERS, judge=tables.table_2_comparison),
    exhibit("ctl-8", theory.control_8),
    exhibit("ctl-9", theory.control_9, settings=True),
    exhibit("ctl-14", thresholds.control_14, MANY, QUANTILES),
    exhibit("ctl-15", equal_budgets.control_15, MANY),
    exhibit("ctl-18", convolutional.control_18, *evidence.CONVOLUTIONAL),
)
