"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Source
from membership.exhibits.declaration import declaring, drawn, later, of_settings
from membership.studies.gmip import sentences, tasks, texts, theory, utility

if TYPE_CHECKING:
    import xarray as xr

augmentation, clipped, composed, controls, cost, gap = later(
    __package__, "augmentation", "clipped", "composed", "controls", "cost", "gap"
)
gradients, law_of_k, loss_attack, noised, panels, simulated = later(
    __package__, "gradients", "law_of_k", "loss_attack", "noised", "panels", "simulated"
)

STEPS, MEASURED = ("steps-{}",), ("measured-{}",)
CLIPPED, COMPOSED, STARTS = ("clipped-{}",), ("composed-{}",), ("starts-{}",)
JOINT, NOISED, TIMES = ("joint-{}",), ("noised-{}",), ("times-{}",)
PANELS = ("simulated-panels",)
OUTPUTS = tuple(f"outputs-{{}}-{length}" for length in tasks.LENGTHS)


def _names(patterns: tuple[str, ...], settings: Any) -> tuple[str, ...]:
    """The evidence of these patterns for each data set of a run."""
    if patterns == PANELS:
        return patterns
    words = settings.words.values()
    if patterns == COMPOSED:
        words = settings.small_words.values()
    if patterns in (JOINT, NOISED, TIMES):
        words = settings.first_word.values()
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


def _figure_2(source: Source) -> pd.DataFrame:
    return gradients.figure_2(_read(source, STEPS), *_read(source, PANELS))


def _figure_4(source: Source) -> pd.DataFrame:
    return panels.figure_4(*_read(source, PANELS))


def _figure_5(source: Source) -> pd.DataFrame:
    return source.table("gmip-fig-2")


def _figure_6(source: Source) -> pd.DataFrame:
    return loss_attack.figure_6(_read(source, STEPS), _read(source, OUTPUTS))


def _control_17(source: Source) -> pd.DataFrame:
    return composed.attack_table(_read(source, COMPOSED))


def _control_4(source: Source) -> pd.DataFrame:
    return controls.control_4(_read(source, JOINT), source.settings)


def _control_18(source: Source) -> pd.DataFrame:
    return noised.table(_read(source, NOISED), source.settings)


def _control_19(source: Source) -> pd.DataFrame:
    return cost.table(_read(source, TIMES))


def _of_clipped(function: Callable[..., pd.DataFrame]) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(_read(source, CLIPPED))


def _control_16(source: Source) -> pd.DataFrame:
    return loss_attack.by_start(_read(source, STARTS))


exhibit = declaring(__package__)

EXHIBITS = (
    exhibit("tab-1", of_settings(texts.table_1)),
    exhibit("tab-2", of_settings(texts.table_2)),
    exhibit(
        "fig-1",
        of_settings(theory.figure_1),
        draw=drawn("roc_panels", y="fnr", y_label="false negative rate"),
        says=sentences.of_figure_1,
        alt=lambda table: (
            "Three panels of false negative against false positive rate. "
            + sentences.of_figure_1(table)
        ),
    ),
    exhibit("ctl-1", of_settings(theory.control_1), says=sentences.of_control_1),
    exhibit(
        "fig-2",
        _figure_2,
        needs=lambda settings: (*_names(STEPS, settings), *PANELS),
        draw=drawn("roc_panels"),
        says=sentences.of_figure_2,
        alt=sentences.roc,
    ),
    exhibit(
        "fig-5",
        _figure_5,
        needs=lambda settings: (*_names(STEPS, settings), *PANELS),
        draw=drawn("roc_panels", floor=1e-3),
        says=sentences.of_figure_5,
        alt=sentences.log_roc,
    ),
    exhibit("tab-3", _of_steps(texts.table_3), needs=_needs(*STEPS)),
    exhibit(
        "ctl-2", _of_steps(controls.control_2), needs=_needs(*STEPS), says=sentences.of_control_2
    ),
    exhibit(
        "ctl-3",
        _of_steps_and_settings(controls.control_3),
        needs=_needs(*STEPS),
        says=sentences.of_control_3,
    ),
    exhibit("ctl-4", _control_4, needs=_needs(*JOINT), says=sentences.of_control_4),
    exhibit("ctl-5", of_settings(simulated.background), says=sentences.of_control_5),
    exhibit(
        "ctl-6",
        _of_steps_and_settings(controls.control_6),
        needs=_needs(*STEPS),
        says=sentences.of_control_6,
    ),
    exhibit("ctl-7", of_settings(augmentation.augmentation), says=sentences.of_control_7),
    exhibit(
        "tab-5",
        of_settings(theory.table_5),
        judge=theory.table_5_comparison,
        says=theory.table_5_sentence,
    ),
    exhibit("ctl-8", of_settings(theory.table_5_origin), says=sentences.of_control_8),
    exhibit("ctl-9", of_settings(theory.looseness), says=sentences.of_control_9),
    exhibit(
        "fig-3",
        _of_measured(utility.figure_3),
        needs=_needs(*MEASURED),
        draw=drawn("accuracy_by_level"),
        says=sentences.of_figure_3,
        alt=sentences.levels,
    ),
    exhibit(
        "ctl-10",
        _of_measured(utility.shared_noise),
        needs=_needs(*MEASURED),
        says=sentences.of_control_10,
    ),
    exhibit("tab-4", _of_measured(texts.table_4), needs=_needs(*MEASURED)),
    exhibit(
        "ctl-11", _of_steps(law_of_k.levels), needs=_needs(*STEPS), says=sentences.of_control_11
    ),
    exhibit(
        "ctl-12",
        _of_steps(law_of_k.likelihood_ratio),
        needs=_needs(*STEPS),
        says=sentences.of_control_12,
    ),
    exhibit(
        "ctl-13",
        _of_steps_and_settings(gap.decomposition),
        needs=_needs(*STEPS),
        says=sentences.of_control_13,
    ),
    exhibit(
        "ctl-14",
        _of_clipped(clipped.table),
        needs=_needs(*CLIPPED),
        says=sentences.of_control_14,
    ),
    exhibit(
        "ctl-15", _of_clipped(clipped.costs), needs=_needs(*CLIPPED), says=sentences.of_control_15
    ),
    exhibit(
        "fig-4",
        _figure_4,
        needs=_needs(*PANELS),
        draw=drawn("roc_panels"),
        says=sentences.of_figure_4,
        alt=sentences.roc,
    ),
    exhibit(
        "fig-6",
        _figure_6,
        needs=_needs(*STEPS, *OUTPUTS),
        draw=drawn("roc_panels", floor=1e-3),
        says=sentences.of_figure_6,
        alt=sentences.log_roc,
    ),
    exhibit("ctl-16", _control_16, needs=_needs(*STARTS), says=sentences.of_control_16),
    exhibit("ctl-17", _control_17, needs=_needs(*COMPOSED), says=sentences.of_control_17),
    exhibit("ctl-18", _control_18, needs=_needs(*NOISED), says=sentences.of_control_18),
    exhibit("ctl-19", _control_19, needs=_needs(*TIMES), says=sentences.of_control_19),
)
