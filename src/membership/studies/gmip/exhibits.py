"""The chapter's exhibits, in the order of its page."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Exhibit, Source
from membership.exhibits.declaration import drawn, later, of_settings
from membership.studies.gmip import sentences, tasks, texts, theory, utility

if TYPE_CHECKING:
    import xarray as xr

augmentation, controls, gradients, loss_attack, simulated = later(
    __package__, "augmentation", "controls", "gradients", "loss_attack", "simulated"
)

STEPS, MEASURED = ("steps-{}",), ("measured-{}",)
OUTPUTS = tuple(f"outputs-{{}}-{length}" for length in tasks.LENGTHS)


def _names(patterns: tuple[str, ...], settings: Any) -> tuple[str, ...]:
    """The evidence of these patterns for each data set of a run."""
    words = tasks.words(settings).values()
    return tuple(pattern.format(word) for word in words for pattern in patterns)


def _needs(*patterns: str) -> Callable[[Any], tuple[str, ...]]:
    return functools.partial(_names, patterns)


def _read(source: Source, patterns: tuple[str, ...]) -> "list[xr.Dataset]":
    return [source.evidence(name) for name in _names(patterns, source.settings)]


def _of_steps(function: Callable[..., pd.DataFrame]) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(_read(source, STEPS))


def _of_steps_and_settings(
    function: Callable[..., pd.DataFrame],
) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(_read(source, STEPS), source.settings)


def _of_measured(function: Callable[..., pd.DataFrame]) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(_read(source, MEASURED))


def _figure_5(source: Source) -> pd.DataFrame:
    return source.table("gmip-fig-2")


def _figure_6(source: Source) -> pd.DataFrame:
    return loss_attack.figure_6(_read(source, STEPS), _read(source, OUTPUTS))


EXHIBITS = (
    Exhibit(
        "gmip-tab-1",
        "Table 1",
        "threat models of f-DP and f-MIP",
        "Against whom does each notion protect?",
        compute=of_settings(texts.table_1),
    ),
    Exhibit(
        "gmip-tab-2",
        "Table 2",
        "what each attack needs",
        "What does each attack need to know?",
        compute=of_settings(texts.table_2),
    ),
    Exhibit(
        "gmip-fig-1",
        "Figure 1",
        "trade-off curves approach the Gaussian one",
        "How fast does the exact curve approach the Gaussian one?",
        compute=of_settings(theory.figure_1),
        draw=drawn("roc_panels", y="fnr", y_label="false negative rate"),
        says=sentences.of_figure_1,
        caption="Trade-off curves of one step (Theorem 5.1) and their normal limits (Corollary "
        "5.1) as the dimension d and the batch size n grow together.",
        alt=lambda table: (
            "Three panels of false negative against false positive rate. "
            + sentences.of_figure_1(table)
        ),
    ),
    Exhibit(
        "gmip-ctl-1",
        "",
        "Theorem 5.1 against simulated tests",
        "Is the formula right?",
        compute=of_settings(theory.control_1),
        says=sentences.of_control_1,
    ),
    Exhibit(
        "gmip-fig-2",
        "Figure 2",
        "audit: simulated, one step, five steps",
        "Does the attack reach the level that the theorem gives?",
        compute=_of_steps_and_settings(gradients.figure_2),
        needs=_needs(*STEPS),
        draw=drawn("roc_panels"),
        says=sentences.of_figure_2,
        caption="GLiR and the level at K = d. First panels: simulated gradients with known "
        "moments (Figure 2a). Then real gradients after one step (2b) and after several (2c), with "
        "the level at d parameters as in the paper and at the rank of the gradients. Shaded: 95% "
        "interval over repeats or models.",
        alt=sentences.roc,
    ),
    Exhibit(
        "gmip-fig-5",
        "Figure 5",
        "the audit on log-log axes",
        "Does it at low false positive rates?",
        compute=_figure_5,
        needs=_needs(*STEPS),
        draw=drawn("roc_panels", floor=1e-3),
        caption="The curves of Figure 2 on logarithmic axes. Rates below one over the number of "
        "non-members cannot be resolved.",
        alt=sentences.roc,
    ),
    Exhibit(
        "gmip-tab-3",
        "Table 3",
        "settings of the audit",
        "How large are the audits?",
        compute=_of_steps(texts.table_3),
        needs=_needs(*STEPS),
    ),
    Exhibit(
        "gmip-ctl-2",
        "",
        "rank and eigenvalues of the gradients' covariance, and the levels that follow",
        "How many dimensions do real gradients fill?",
        compute=_of_steps(controls.control_2),
        needs=_needs(*STEPS),
        says=sentences.of_control_2,
    ),
    Exhibit(
        "gmip-ctl-3",
        "",
        "calibration of the p-values, with known and with estimated moments",
        "Are the p-values p-values?",
        compute=_of_steps_and_settings(controls.control_3),
        needs=_needs(*STEPS),
        says=sentences.of_control_3,
    ),
    Exhibit(
        "gmip-ctl-4",
        "",
        "five steps: the joint test against the sum of log p",
        "Do five steps tell more than one?",
        compute=of_settings(simulated.five_steps),
        says=sentences.of_control_4,
    ),
    Exhibit(
        "gmip-ctl-5",
        "",
        "estimated covariance by background size, with and without shrinkage",
        "How many records does the covariance take?",
        compute=of_settings(simulated.background),
        says=sentences.of_control_5,
    ),
    Exhibit(
        "gmip-ctl-6",
        "",
        "K of real gradients against K = d, and the attack that targets large K",
        "Is the mean K everybody's?",
        compute=_of_steps_and_settings(controls.control_6),
        needs=_needs(*STEPS),
        says=sentences.of_control_6,
    ),
    Exhibit(
        "gmip-ctl-7",
        "",
        "training on shifted images against an attacker who holds the originals",
        "What does augmentation hide?",
        compute=of_settings(augmentation.augmentation),
        says=sentences.of_control_7,
    ),
    Exhibit(
        "gmip-tab-5",
        "Table 5",
        "noise levels for 20 values of mu",
        "How much noise does each level need, under both notions?",
        compute=of_settings(theory.table_5),
        judge=theory.table_5_comparison,
        says=theory.table_5_sentence,
    ),
    Exhibit(
        "gmip-ctl-8",
        "",
        "whose noise the membership rows of Table 5 hold",
        "Does membership inference privacy ever ask for noise of its own?",
        compute=of_settings(theory.table_5_origin),
        says=sentences.of_control_8,
    ),
    Exhibit(
        "gmip-ctl-9",
        "",
        "how loose the composition and the bound on the covariance are",
        "Where is the slack?",
        compute=of_settings(theory.looseness),
        says=sentences.of_control_9,
    ),
    Exhibit(
        "gmip-fig-3",
        "Figure 3",
        "accuracy against mu, GMIP and GDP",
        "What does each notion of privacy cost?",
        compute=_of_measured(utility.figure_3),
        needs=_needs(*MEASURED),
        draw=drawn("accuracy_by_level"),
        says=sentences.of_figure_3,
        caption="Test accuracy against the privacy level. Shared noise is the control. Bars are "
        "95% intervals over seeds.",
        alt=sentences.levels,
    ),
    Exhibit(
        "gmip-tab-4",
        "Table 4",
        "settings of the utility study",
        "How large are the trainings?",
        compute=_of_measured(texts.table_4),
        needs=_needs(*MEASURED),
    ),
    Exhibit(
        "gmip-ctl-10",
        "",
        "noise shared by the classes against independent noise",
        "What does noise that all classes share do?",
        compute=_of_measured(utility.shared_noise),
        needs=_needs(*MEASURED),
        says=sentences.of_control_10,
    ),
    Exhibit(
        "gmip-fig-4",
        "Figure 4",
        "small d, small n, other distributions",
        "Does the theorem hold for few dimensions, small batches and other laws?",
        compute=of_settings(simulated.figure_4),
        draw=drawn("roc_panels"),
        caption="GLiR for small d and n, and for gradients with uniform, exponential and Student's "
        "distributions (d = 65, n = 50), with Theorem 5.1 at K = d and averaged over each record's "
        "own K.",
        alt=sentences.roc,
    ),
    Exhibit(
        "gmip-fig-6",
        "Figure 6",
        "loss-based likelihood-ratio attacks",
        "Does the gradient tell more than the loss?",
        compute=_figure_6,
        needs=_needs(*STEPS, *OUTPUTS),
        draw=drawn("roc_panels", floor=1e-3),
        says=sentences.of_figure_6,
        caption="The loss-based likelihood-ratio attack beside GLiR after a few steps, and alone "
        "after training for as many steps as in Figure 3. Logarithmic axes. Shaded: 95% interval "
        "over models.",
        alt=sentences.roc,
    ),
)
