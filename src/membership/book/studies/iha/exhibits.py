"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from membership.book.exhibits.declaration import Reading, drawn, exhibits_of, later
from membership.book.published.tables import misprints
from membership.book.studies.iha import subjects

if TYPE_CHECKING:
    from membership.book.studies.iha.settings import Settings

against_references, by_damping, clean_game, costs, evaluation = later(
    __package__, "against_references", "by_damping", "clean_game", "costs", "evaluation"
)
expected, inversion = later(__package__, "expected", "inversion")
leave_one_out, left_out, noise, score_taken_apart, scores = later(
    __package__, "leave_one_out", "left_out", "noise", "score_taken_apart", "scores"
)
shuffled, small_game, theory, whole_game = later(
    __package__, "shuffled", "small_game", "theory", "whole_game"
)

Names = Callable[["Settings"], tuple[str, ...]]


def _files(kinds: Sequence[str], select: subjects.Select = subjects.subjects) -> Names:
    """The evidence of these kinds of every data set of a run, or of some."""
    return lambda settings: subjects.files(kinds, select(settings))


def _attacked(kinds: tuple[str, ...], select: subjects.Select = subjects.subjects) -> Reading:
    """The same data sets, attacked from that evidence."""
    return Reading(_files(kinds, select), lambda source: evaluation.read(source, kinds, select))


def _beside(
    name: str, judge: Callable[[pd.DataFrame, str], pd.DataFrame] = scores.judged
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A table beside the published one of this name."""
    return lambda table: judge(table, name)


def _compared(names: dict[str, str]) -> Callable[[pd.DataFrame], str]:
    """What is said of two attacks' AUC, by their names in the table."""
    return partial(against_references.compared, names=names)


def _printed_twice(table: pd.DataFrame) -> str:
    return f"{len(table)} pairs of printed numbers that should be one, or in another order."


FORMS, FORMS_OF_DECOMPOSED, SWEEPS, SOLVED = (
    _files(["white-box"]),
    *(_files([kind], subjects.decomposed) for kind in ("white-box", "sweep", "solvers")),
)
FIRST, FIRST_FORMS = (_files([kind], subjects.first) for kind in subjects.MAIN)
GAMES, TIMED = _files(subjects.GAME, subjects.games), _files(["costs"], subjects.timed)
WHOLE_GAMES = _files(subjects.WHOLE_GAME, subjects.whole_games)
DAMPED = _files(subjects.DAMPED, subjects.whole_games)
SPREADS = _files(subjects.SPREAD, subjects.whole_games)
NOISES, DROPPED = (_files(kind, subjects.first) for kind in (subjects.NOISE, subjects.DROPPED))
_left_out = _files(subjects.LEFT_OUT, subjects.left_out)

MAIN, KNOWN = _attacked(subjects.MAIN), _attacked(subjects.KNOWN)
COMPARED, DECOMPOSED, VARIANTS = (
    _attacked(subjects.MAIN, select)
    for select in (subjects.compared, subjects.decomposed, subjects.variants)
)
SWEPT, DEEP = (_attacked(subjects.SWEPT, s) for s in (subjects.decomposed, subjects.deep))
WHOLE = _attacked(subjects.WHOLE, subjects.whole)
LEFT_OUT = Reading(_left_out, left_out.experiments)
PROTOCOLS = Reading(_left_out, leave_one_out.protocols)

_BY_DAMPING = {"x": "damping", "by": "series", "panel": "panel", "log_x": True}
_ROWS = drawn("dots_by_row", row="attack", by="series", baseline=0.5, label="AUC")
EVERYONE, AMONG = "IHA, gradient over D for everyone", "LiRA, target among its references"
exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("tab-1", against_references.table_1),
    exhibit(
        "fig-1",
        against_references.figure_1,
        COMPARED,
        draw=drawn("roc_panels", floor=1e-3, hero="IHA"),
        says=against_references.figure_1_said,
    ),
    exhibit(
        "tab-2",
        against_references.table_2,
        COMPARED,
        WHOLE,
        judge=against_references.table_2_judged,
        says=_compared({"IHA (Exact)": "IHA", "LiRA": "LiRA"}),
    ),
    exhibit(
        "ctl-1",
        against_references.control_1,
        MAIN,
        draw=against_references.control_1_drawn,
        says=_compared({EVERYONE: "IHA with one gradient for all", "LOSS": "LOSS"}),
    ),
    exhibit(
        "ctl-13",
        score_taken_apart.control_13,
        MAIN,
        FORMS,
        WHOLE,
        says=score_taken_apart.control_13_said,
    ),
    exhibit(
        "ctl-2",
        inversion.control_2,
        SWEPT,
        WHOLE,
        draw=inversion.control_2_drawn,
        says=inversion.control_2_said,
    ),
    exhibit(
        "tab-8",
        inversion.table_8,
        SWEPT,
        WHOLE,
        judge=_beside("iha_table8"),
        says=inversion.table_8_said,
    ),
    exhibit(
        "ctl-3",
        against_references.control_3,
        COMPARED,
        draw=against_references.control_3_drawn,
        judge=against_references.control_3_judged,
        says=_compared({AMONG: "LiRA with its target as a reference", "LiRA": "LiRA without"}),
    ),
    exhibit(
        "ctl-4",
        score_taken_apart.control_4,
        MAIN,
        settings=True,
        draw=score_taken_apart.control_4_drawn,
        says=score_taken_apart.control_4_said,
    ),
    exhibit(
        "ctl-11", score_taken_apart.control_11, MAIN, FORMS, says=score_taken_apart.control_11_said
    ),
    exhibit(
        "ctl-12",
        score_taken_apart.control_12,
        DECOMPOSED,
        FORMS_OF_DECOMPOSED,
        SWEEPS,
        draw=drawn("lines_with_intervals", **_BY_DAMPING),
        says=score_taken_apart.control_12_said,
    ),
    exhibit(
        "ctl-14", clean_game.four, GAMES, draw=clean_game.four_drawn, says=clean_game.four_said
    ),
    exhibit(
        "ctl-15", clean_game.every_attack, GAMES, draw=_ROWS, says=clean_game.every_attack_said
    ),
    exhibit("ctl-16", clean_game.convergence, GAMES, FIRST, FIRST_FORMS),
    exhibit("ctl-20", whole_game.control_20, WHOLE_GAMES, draw=whole_game.control_20_drawn),
    exhibit("ctl-24", by_damping.control_24, DAMPED, WHOLE_GAMES, draw=by_damping.control_24_drawn),
    exhibit("ctl-25", by_damping.control_25, DAMPED, WHOLE_GAMES, draw=by_damping.control_25_drawn),
    exhibit("ctl-26", by_damping.control_26, DAMPED, draw=by_damping.control_26_drawn),
    exhibit("ctl-5", small_game.play, LEFT_OUT, settings=True, says=small_game.play_said),
    exhibit(
        "ctl-10",
        small_game.control_10,
        LEFT_OUT,
        settings=True,
        draw=small_game.control_10_drawn,
        records=small_game.one_by_one,
        says=small_game.control_10_said,
    ),
    exhibit(
        "ctl-8",
        leave_one_out.control_8,
        PROTOCOLS,
        judge=leave_one_out.control_8_judged,
        says=leave_one_out.control_8_said,
    ),
    exhibit(
        "tab-5",
        leave_one_out.table_5,
        PROTOCOLS,
        judge=leave_one_out.table_5_judged,
        says=leave_one_out.table_5_said,
    ),
    exhibit("ctl-19", against_references.control_19, COMPARED),
    exhibit(
        "tab-4",
        score_taken_apart.table_4,
        MAIN,
        judge=_beside("iha_table4"),
        says=score_taken_apart.table_4_said,
    ),
    exhibit("ctl-21", score_taken_apart.control_21, COMPARED),
    exhibit("tab-9", against_references.table_9, KNOWN, judge=against_references.table_9_judged),
    exhibit(
        "tab-3",
        inversion.table_3,
        DECOMPOSED,
        SOLVED,
        judge=_beside("iha_table3", inversion.beside),
    ),
    exhibit("tab-6", costs.table_6, TIMED, judge=_beside("iha_table6", inversion.beside)),
    exhibit(
        "tab-7",
        against_references.table_7,
        MAIN,
        VARIANTS,
        DEEP,
        judge=against_references.table_7_judged,
        says=_compared({"IHA (Ours)": "IHA", "LiRA": "LiRA"}),
    ),
    exhibit("ctl-6", theory.control_6, settings=True),
    exhibit(
        "ctl-9",
        theory.control_9,
        settings=True,
        draw=theory.control_9_drawn,
        says=theory.control_9_said,
    ),
    exhibit("ctl-22", shuffled.control_22, settings=True, draw=shuffled.control_22_drawn),
    exhibit("ctl-23", shuffled.control_23, SPREADS, draw=shuffled.control_23_drawn),
    exhibit("ctl-27", expected.control_27, WHOLE_GAMES, GAMES, draw=expected.control_27_drawn),
    exhibit("ctl-18", noise.control_18, NOISES, draw=noise.control_18_drawn),
    exhibit("ctl-28", noise.control_28, DROPPED),
    exhibit("ctl-7", partial(misprints, "iha"), says=_printed_twice),
)
