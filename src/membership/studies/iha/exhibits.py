"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Source
from membership.exhibits.declaration import declaring, drawn, later, of_settings
from membership.published import misprints
from membership.studies.iha import sentences, subjects

if TYPE_CHECKING:
    from membership.studies.iha.leave_one_out import Protocol

against_references, audit, clean_game, cost, damping, leave_one_out = later(
    __package__, "against_references", "audit", "clean_game", "cost", "damping", "leave_one_out"
)
score_taken_apart, small_game, theory = later(
    __package__, "score_taken_apart", "small_game", "theory"
)


def _needs(
    kinds: tuple[str, ...], some: Callable[[Any], list] = subjects.subjects
) -> Callable[[Any], tuple[str, ...]]:
    """The evidence of these kinds of every data set of a run, or of some."""
    return lambda settings: subjects.files(kinds, some(settings))


_whole = _needs(subjects.WHOLE, subjects.whole)
_main, _compared = _needs(subjects.MAIN), _needs(subjects.MAIN, subjects.compared)
_swept, _solved, _every = (
    _needs(kinds, subjects.decomposed)
    for kinds in (subjects.SWEPT, subjects.SOLVED, (*subjects.MAIN, "sweep"))
)


def _damped(settings: Any) -> tuple[str, ...]:
    return (*_swept(settings), *_whole(settings))


def _main_and_whole(settings: Any) -> tuple[str, ...]:
    return (*_main(settings), *_whole(settings))


def _costs(settings: Any) -> tuple[str, ...]:
    return subjects.files(("costs",), [subjects.timed(settings)])


def _variants(settings: Any) -> tuple[str, ...]:
    more = subjects.variants(settings)
    deep = [one for one in more if one.deep]
    return (
        *_main(settings),
        *subjects.files(subjects.MAIN, more),
        *subjects.files(("sweep",), deep),
    )


def _left_out(settings: Any) -> tuple[str, ...]:
    return subjects.files(subjects.LEFT_OUT, subjects.left_out(settings))


def _games(settings: Any) -> tuple[str, ...]:
    return subjects.files(subjects.GAME, subjects.games(settings))


def _games_and_first(settings: Any) -> tuple[str, ...]:
    return (*_games(settings), *subjects.files(subjects.MAIN, subjects.subjects(settings)[:1]))


def _of(
    read: Callable[[Source], Any], function: Callable[[Any, Any], pd.DataFrame]
) -> Callable[[Source], pd.DataFrame]:
    """Evidence read in one way, made a table of."""
    return lambda source: function(read(source), source.settings)


_of_main = functools.partial(_of, audit.audits)
_of_compared = functools.partial(_of, audit.compared_audits)
_of_damped = functools.partial(_of, audit.damped_audits)
_of_known = functools.partial(_of, audit.known_audits)
_of_left_out = functools.partial(_of, leave_one_out.experiments)
_of_games = functools.partial(_of, clean_game.games)


def _table_3(source: Source) -> pd.DataFrame:
    some = subjects.decomposed(source.settings)
    solved = [source.evidence(name) for name in subjects.files(("solvers",), some)]
    return cost.table_3(audit.decomposed_audits(source), solved, source.settings)


def _table_6(source: Source) -> pd.DataFrame:
    (name,) = _costs(source.settings)
    return cost.table_6(source.evidence(name), source.settings)


def _table_7(source: Source) -> pd.DataFrame:
    return against_references.table_7(
        audit.variant_audits(source), audit.deep_sweep(source), source.settings
    )


def _with_forms(*kinds: str) -> Callable[[Source], Any]:
    """Every data set of a run, attacked, each with its evidence of these kinds."""

    def read(source: Source) -> list[tuple]:
        if "sweep" in kinds:
            found, some = audit.decomposed_audits(source), subjects.decomposed(source.settings)
        else:
            found, some = audit.audits(source), subjects.subjects(source.settings)
        return [
            (one, *(source.evidence(f"{kind}-{subject.slug}") for kind in kinds))
            for one, subject in zip(found, some, strict=True)
        ]

    return read


def _control_13(source: Source) -> pd.DataFrame:
    some = _with_forms("white-box")(source)
    return score_taken_apart.control_13(some, audit.whole_audits(source), source.settings)


def _protocols(source: Source) -> "list[Protocol]":
    some = leave_one_out.experiments(source)
    return [leave_one_out.protocol(one, source.settings) for one in some]


exhibit = declaring(__package__)

EXHIBITS = (
    exhibit("tab-1", of_settings(against_references.table_1), says=sentences.of_table_1),
    exhibit(
        "fig-1",
        _of_compared(against_references.figure_1),
        needs=_compared,
        draw=drawn("roc_panels", floor=1e-3),
        says=sentences.of_figure_1,
        alt=sentences.of_curves,
    ),
    exhibit(
        "tab-2",
        _of_compared(against_references.table_2),
        needs=_compared,
        judge=against_references.table_2_judged,
        says=sentences.of_table_2,
    ),
    exhibit(
        "ctl-1", _of_main(against_references.control_1), needs=_main, says=sentences.of_control_1
    ),
    exhibit(
        "ctl-13",
        _control_13,
        needs=_main_and_whole,
        says=sentences.of_control_13,
    ),
    exhibit(
        "ctl-2",
        _of_damped(damping.control_2),
        needs=_damped,
        draw=damping.drawn,
        says=sentences.of_control_2,
        alt=sentences.of_dampings,
    ),
    exhibit(
        "tab-8",
        _of_damped(damping.table_8),
        needs=_damped,
        judge=damping.table_8_judged,
        says=sentences.of_table_8,
    ),
    exhibit(
        "ctl-3",
        _of_compared(against_references.control_3),
        needs=_compared,
        judge=against_references.control_3_judged,
        says=sentences.of_control_3,
    ),
    exhibit(
        "ctl-4", _of_main(score_taken_apart.control_4), needs=_main, says=sentences.of_control_4
    ),
    exhibit(
        "ctl-11",
        _of(_with_forms("white-box"), score_taken_apart.control_11),
        needs=_main,
        says=sentences.of_control_11,
    ),
    exhibit(
        "ctl-12",
        _of(_with_forms("white-box", "sweep"), score_taken_apart.control_12),
        needs=_every,
        draw=drawn("lines_with_intervals", x="damping", by="series", panel="panel", log_x=True),
        says=sentences.of_control_12,
        alt=sentences.of_contrasts_by_damping,
    ),
    exhibit("ctl-14", _of_games(clean_game.four), needs=_games, says=sentences.of_control_14),
    exhibit(
        "ctl-15",
        _of_games(clean_game.every_attack),
        needs=_games,
        draw=drawn("dots_by_row", row="attack", by="series", baseline=0.5, label="AUC"),
        says=sentences.of_control_15,
        alt=sentences.of_attacks_at_scale,
    ),
    exhibit(
        "ctl-16",
        clean_game.convergence,
        needs=_games_and_first,
        says=sentences.of_control_16,
    ),
    exhibit("ctl-5", _of_left_out(small_game.play), needs=_left_out, says=sentences.of_control_5),
    exhibit(
        "ctl-10",
        _of_left_out(small_game.control_10),
        needs=_left_out,
        draw=small_game.most_exposed,
        records=small_game.one_by_one,
        says=sentences.of_control_10,
        alt=sentences.of_most_exposed,
    ),
    exhibit(
        "ctl-8",
        _of(_protocols, leave_one_out.control_8),
        needs=_left_out,
        judge=leave_one_out.control_8_judged,
        says=sentences.of_control_8,
    ),
    exhibit(
        "tab-5",
        _of(_protocols, leave_one_out.table_5),
        needs=_left_out,
        judge=leave_one_out.table_5_judged,
        says=sentences.of_table_5,
    ),
    exhibit(
        "tab-4",
        _of_main(score_taken_apart.table_4),
        needs=_main,
        judge=score_taken_apart.table_4_judged,
        says=sentences.of_table_4,
    ),
    exhibit(
        "tab-9",
        _of_known(score_taken_apart.table_9),
        needs=_needs(subjects.KNOWN),
        judge=score_taken_apart.table_9_judged,
        says=sentences.of_table_9,
    ),
    exhibit(
        "tab-3",
        _table_3,
        needs=_solved,
        judge=cost.table_3_judged,
        says=sentences.of_table_3,
    ),
    exhibit("tab-6", _table_6, needs=_costs, judge=cost.table_6_judged, says=sentences.of_table_6),
    exhibit(
        "tab-7",
        _table_7,
        needs=_variants,
        judge=against_references.table_7_judged,
        says=sentences.of_table_7,
    ),
    exhibit("ctl-6", of_settings(theory.control_6), says=sentences.of_control_6),
    exhibit("ctl-9", of_settings(theory.control_9), says=sentences.of_control_9),
    exhibit("ctl-7", lambda source: misprints.pairs("iha"), says=sentences.of_control_7),
)
