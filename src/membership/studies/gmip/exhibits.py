"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.studies.gmip import setups, theory
from membership.studies.gmip.settings import Settings

audit, forensics, law_of_k, loss_attack, moments, noise = later(
    __package__, "audit", "forensics", "law_of_k", "loss_attack", "moments", "noise"
)
rival_table, several_steps, shared_steps, spectrum = later(
    __package__, "rival_table", "several_steps", "shared_steps", "spectrum"
)
training_promise, utility = later(__package__, "training_promise", "utility")


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
JOINT, NOISED, TIMES, SPECTRAL, RELEASED, PLAIN, SETS = (
    _of(f"{kind}-{{}}", words="first_word")
    for kind in ("joint", "noised", "times", "spectral", "released", "plain", "sets")
)
RIVALS = _of("rivals-{}-one", "rivals-{}-few", words="first_word")
RIVALS_ALL = _of("rivals-{}-all", words="first_small_word")
FIGURE_2 = Reading(
    lambda settings: [*STEPS(settings), PANELS], lambda source: source.table("gmip-fig-2")
)

# In words and in sentences: rates at 10% false positives, and at 1%.
ROC, LOG_ROC = (partial(audit.roc, fpr=fpr) for fpr in (0.1, 0.01))
AT_10, AT_1 = (partial(audit.after_one_step, fpr=fpr) for fpr in (0.1, 0.01))

exhibit = exhibits_of(__package__)


EXHIBITS = (
    exhibit("tab-1", lambda: setups.in_words("tab-1")),
    exhibit("tab-2", lambda: setups.in_words("tab-2")),
    exhibit("fig-1", theory.figure_1, says=theory.figure_1_said),
    exhibit("ctl-1", theory.control_1, settings=True, says=theory.control_1_said),
    exhibit("fig-2", audit.figure_2, STEPS, PANELS, says=AT_10, alt=ROC),
    exhibit("fig-5", pd.DataFrame.copy, FIGURE_2, says=AT_1, alt=LOG_ROC),
    exhibit("tab-3", setups.table_3, STEPS),
    exhibit("ctl-2", moments.control_2, STEPS),
    exhibit("ctl-3", moments.control_3, STEPS, settings=True),
    exhibit(
        "ctl-4", several_steps.control_4, JOINT, settings=True, says=several_steps.control_4_said
    ),
    exhibit("ctl-5", moments.background, settings=True),
    exhibit("ctl-6", law_of_k.control_6, STEPS, settings=True, draw=law_of_k.control_6_drawn),
    exhibit("tab-5", theory.table_5, judge=theory.table_5_comparison, says=theory.table_5_said),
    exhibit("ctl-8", theory.table_5_origin, says=theory.table_5_origin_said),
    exhibit("ctl-9", theory.looseness, says=theory.looseness_said),
    exhibit(
        "fig-3",
        utility.figure_3,
        MEASURED,
        says=utility.figure_3_said,
        alt=utility.figure_3_described,
    ),
    exhibit("ctl-10", utility.shared_noise, MEASURED, PLAIN, says=utility.shared_noise_said),
    exhibit("ctl-23", shared_steps.control_23, says=shared_steps.control_23_said),
    exhibit("tab-4", setups.table_4, MEASURED),
    exhibit("ctl-11", law_of_k.levels, STEPS),
    exhibit("ctl-12", law_of_k.likelihood_ratio, STEPS),
    exhibit(
        "ctl-13", moments.decomposition, STEPS, settings=True, draw=moments.decomposition_drawn
    ),
    exhibit("ctl-14", utility.by_clipping, CLIPPED),
    exhibit(
        "ctl-15",
        utility.clipping_costs,
        CLIPPED,
        draw=utility.clipping_costs_drawn,
        says=utility.clipping_costs_said,
    ),
    exhibit("fig-4", audit.figure_4, PANELS, says=audit.figure_4_said, alt=ROC),
    exhibit(
        "fig-6", loss_attack.figure_6, STEPS, OUTPUTS, says=loss_attack.figure_6_said, alt=LOG_ROC
    ),
    exhibit("ctl-16", loss_attack.by_start, STARTS, SETS),
    exhibit(
        "ctl-17",
        training_promise.attack_table,
        COMPOSED,
        draw=training_promise.attack_table_drawn,
        alt=training_promise.attack_table_described,
    ),
    exhibit("ctl-18", noise.under_noise, NOISED, settings=True, says=noise.under_noise_said),
    exhibit("ctl-19", loss_attack.times, TIMES, says=loss_attack.times_said),
    exhibit(
        "ctl-20",
        rival_table.table,
        RIVALS,
        RIVALS_ALL,
        draw=rival_table.table_drawn,
        alt=rival_table.table_described,
        says=rival_table.table_said,
    ),
    exhibit("ctl-21", spectrum.by_spectrum, SPECTRAL, draw=spectrum.by_spectrum_drawn),
    exhibit("ctl-22", forensics.table, STEPS, RELEASED, settings=True, says=forensics.table_said),
)
