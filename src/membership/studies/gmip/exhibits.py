"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.studies.gmip import sentences, setups, theory
from membership.studies.gmip.settings import Settings

audit, drawings, forensics, law_of_k, loss_attack, moments = later(
    __package__, "audit", "drawings", "forensics", "law_of_k", "loss_attack", "moments"
)
noise, rival_table, several_steps, training_promise, utility = later(
    __package__, "noise", "rival_table", "several_steps", "training_promise", "utility"
)


def _of(*kinds: str, words: str = "words") -> Callable[[Settings], list[str]]:
    """The evidence of these kinds of each data set of a run, or of those that `words` says."""
    return lambda settings: [
        kind.format(word) for word in getattr(settings, words).values() for kind in kinds
    ]


PANELS = "simulated-panels"
STEPS, STARTS = _of("steps-{}"), _of("starts-{}")
MEASURED, CLIPPED = _of("measured-{}"), _of("clipped-{}")
OUTPUTS = _of("outputs-{}-few", "outputs-{}-many")
COMPOSED = _of("composed-{}", words="small_words")
JOINT, NOISED, TIMES, SPECTRAL, RELEASED = (
    _of(f"{kind}-{{}}", words="first_word")
    for kind in ("joint", "noised", "times", "spectral", "released")
)
RIVALS = _of("rivals-{}-one", "rivals-{}-few", words="first_word")
RIVALS_ALL = _of("rivals-{}-all", words="first_small_word")
FIGURE_2 = Reading(
    lambda settings: [*STEPS(settings), PANELS], lambda source: source.table("gmip-fig-2")
)

# In words and in sentences: rates at 10% false positives, and at 1%.
ROC, LOG_ROC = (partial(sentences.roc, fpr=fpr) for fpr in (0.1, 0.01))
AT_10, AT_1 = (partial(sentences.after_one_step, fpr=fpr) for fpr in (0.1, 0.01))

exhibit = exhibits_of(__package__)


EXHIBITS = (
    exhibit("tab-1", lambda: setups.in_words("tab-1")),
    exhibit("tab-2", lambda: setups.in_words("tab-2")),
    exhibit("fig-1", theory.figure_1, says=sentences.of_figure_1),
    exhibit("ctl-1", theory.control_1, settings=True, says=sentences.of_control_1),
    exhibit("fig-2", audit.figure_2, STEPS, PANELS, says=AT_10, alt=ROC),
    exhibit("fig-5", pd.DataFrame.copy, FIGURE_2, says=AT_1, alt=LOG_ROC),
    exhibit("tab-3", setups.table_3, STEPS),
    exhibit("ctl-2", moments.control_2, STEPS),
    exhibit("ctl-3", moments.control_3, STEPS, settings=True),
    exhibit("ctl-4", several_steps.control_4, JOINT, settings=True, says=sentences.of_control_4),
    exhibit("ctl-5", moments.background, settings=True),
    exhibit("ctl-6", law_of_k.control_6, STEPS, settings=True, draw=drawings.spread_of_k),
    exhibit("tab-5", theory.table_5, judge=theory.table_5_comparison, says=theory.table_5_sentence),
    exhibit("ctl-8", theory.table_5_origin, says=sentences.of_control_8),
    exhibit("ctl-9", theory.looseness, says=sentences.of_control_9),
    exhibit(
        "fig-3", utility.figure_3, MEASURED, says=sentences.of_figure_3, alt=sentences.accuracies
    ),
    exhibit("ctl-10", utility.shared_noise, MEASURED, says=sentences.of_control_10),
    exhibit("tab-4", setups.table_4, MEASURED),
    exhibit("ctl-11", law_of_k.levels, STEPS),
    exhibit("ctl-12", law_of_k.likelihood_ratio, STEPS),
    exhibit("ctl-13", moments.decomposition, STEPS, settings=True, draw=drawings.waterfall),
    exhibit("ctl-14", utility.by_clipping, CLIPPED),
    exhibit(
        "ctl-15",
        utility.clipping_costs,
        CLIPPED,
        draw=drawings.price_of_c,
        says=sentences.of_control_15,
    ),
    exhibit("fig-4", audit.figure_4, PANELS, says=sentences.of_figure_4, alt=ROC),
    exhibit("fig-6", loss_attack.figure_6, STEPS, OUTPUTS, says=sentences.of_figure_6, alt=LOG_ROC),
    exhibit("ctl-16", loss_attack.by_start, STARTS),
    exhibit(
        "ctl-17",
        training_promise.attack_table,
        COMPOSED,
        draw=drawings.promise,
        alt=sentences.of_the_promise,
    ),
    exhibit("ctl-18", noise.under_noise, NOISED, settings=True, says=sentences.of_control_18),
    exhibit("ctl-19", loss_attack.times, TIMES, says=sentences.of_control_19),
    exhibit(
        "ctl-20",
        rival_table.table,
        RIVALS,
        RIVALS_ALL,
        draw=drawings.rivals,
        alt=sentences.of_the_rivals,
        says=sentences.of_control_20,
    ),
    exhibit("ctl-21", noise.by_spectrum, SPECTRAL, draw=drawings.noise_by_bound),
    exhibit(
        "ctl-22", forensics.table, STEPS, RELEASED, settings=True, says=sentences.of_control_22
    ),
)
