"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from membership.exhibits.declaration import Reading, drawn, exhibits_of, later
from membership.published import misprints
from membership.studies.iha import sentences, subjects

if TYPE_CHECKING:
    from membership.studies.iha.settings import Settings

against_references, clean_game, combined, cost, evaluation = later(
    __package__, "against_references", "clean_game", "combined", "cost", "evaluation"
)
damping, drawings, leave_one_out, noise, one_loss = later(
    __package__, "damping", "drawings", "leave_one_out", "noise", "one_loss"
)
score_taken_apart, small_game, theory, whole_game = later(
    __package__, "score_taken_apart", "small_game", "theory", "whole_game"
)

Names = Callable[["Settings"], tuple[str, ...]]


def _files(
    kinds: Sequence[str], list_subjects: Callable[["Settings"], list] = subjects.subjects
) -> Names:
    """The evidence of these kinds of every data set of a run, or of some."""
    return lambda settings: subjects.files(kinds, list_subjects(settings))


def _both(first: Names, second: Names) -> Names:
    return lambda settings: (*first(settings), *second(settings))


FORMS, FORMS_OF_DECOMPOSED, SWEEPS, SOLVED = (
    _files(["white-box"]),
    *(_files([kind], subjects.decomposed) for kind in ("white-box", "sweep", "solvers")),
)
FIRST, FIRST_FORMS = (_files([kind], subjects.first) for kind in subjects.MAIN)
GAMES, TIMED = _files(subjects.GAME, subjects.games), _files(["costs"], subjects.timed)
WHOLE_GAMES = _files(subjects.WHOLE_GAME, subjects.whole_games)
NOISES = _files(subjects.NOISE, subjects.first)
_main, _whole = _files(subjects.MAIN), _files(subjects.WHOLE, subjects.whole)
_left_out = _files(subjects.LEFT_OUT, subjects.left_out)

# What tables are made of: data sets attacked, or the models of an experiment.
MAIN = Reading(_main, evaluation.evaluations)
COMPARED = Reading(_files(subjects.MAIN, subjects.compared), evaluation.compared_evaluations)
DECOMPOSED = Reading(_files(subjects.MAIN, subjects.decomposed), evaluation.decomposed_evaluations)
DAMPED, WHOLE = (
    Reading(
        _both(_files(subjects.SWEPT, subjects.decomposed), _whole), evaluation.damped_evaluations
    ),
    Reading(_whole, evaluation.whole_evaluations),
)
KNOWN = Reading(_files(subjects.KNOWN), evaluation.known_evaluations)
VARIANTS = Reading(
    _both(_main, _files(subjects.MAIN, subjects.variants)), evaluation.variant_evaluations
)
DEEP = Reading(_files(subjects.SWEPT, subjects.deep), evaluation.deep_sweep)
LEFT_OUT = Reading(_left_out, leave_one_out.experiments)
PROTOCOLS = Reading(_left_out, leave_one_out.protocols)

_BY_DAMPING = {"x": "damping", "by": "series", "panel": "panel", "log_x": True}
_ROWS = drawn("dots_by_row", row="attack", by="series", baseline=0.5, label="AUC")
exhibit = exhibits_of(__package__)

EXHIBITS = (
    exhibit("tab-1", against_references.table_1, says=sentences.of_table_1),
    exhibit(
        "fig-1",
        against_references.figure_1,
        COMPARED,
        draw=drawn("roc_panels", floor=1e-3, hero="IHA"),
        says=sentences.of_figure_1,
        alt=sentences.of_curves,
    ),
    exhibit(
        "tab-2",
        against_references.table_2,
        COMPARED,
        judge=against_references.table_2_judged,
        says=sentences.of_table_2,
    ),
    exhibit(
        "ctl-1",
        against_references.control_1,
        MAIN,
        draw=drawings.knowledge,
        says=sentences.of_control_1,
    ),
    exhibit(
        "ctl-13", score_taken_apart.control_13, MAIN, FORMS, WHOLE, says=sentences.of_control_13
    ),
    exhibit("ctl-2", damping.control_2, DAMPED, draw=damping.drawn, says=sentences.of_control_2),
    exhibit(
        "tab-8",
        damping.table_8,
        DAMPED,
        judge=damping.table_8_judged,
        says=sentences.of_table_8,
    ),
    exhibit(
        "ctl-3",
        against_references.control_3,
        COMPARED,
        draw=drawings.own_reference,
        judge=against_references.control_3_judged,
        says=sentences.of_control_3,
    ),
    exhibit(
        "ctl-4",
        score_taken_apart.control_4,
        MAIN,
        settings=True,
        draw=drawings.weight_decay,
        says=sentences.of_control_4,
    ),
    exhibit("ctl-11", score_taken_apart.control_11, MAIN, FORMS, says=sentences.of_control_11),
    exhibit(
        "ctl-12",
        score_taken_apart.control_12,
        DECOMPOSED,
        FORMS_OF_DECOMPOSED,
        SWEEPS,
        draw=drawn("lines_with_intervals", **_BY_DAMPING),
        says=sentences.of_control_12,
    ),
    exhibit(
        "ctl-14",
        clean_game.four,
        GAMES,
        draw=drawings.two_by_two,
        says=sentences.of_control_14,
    ),
    exhibit("ctl-15", clean_game.every_attack, GAMES, draw=_ROWS, says=sentences.of_control_15),
    exhibit(
        "ctl-16", clean_game.convergence, GAMES, FIRST, FIRST_FORMS, says=sentences.of_control_16
    ),
    exhibit(
        "ctl-20",
        whole_game.control_20,
        WHOLE_GAMES,
        draw=drawings.two_by_two_by_rate,
        says=sentences.of_control_20,
    ),
    exhibit("ctl-5", small_game.play, LEFT_OUT, settings=True, says=sentences.of_control_5),
    exhibit(
        "ctl-10",
        small_game.control_10,
        LEFT_OUT,
        settings=True,
        draw=small_game.most_exposed,
        records=small_game.one_by_one,
        says=sentences.of_control_10,
        alt=sentences.of_most_exposed,
    ),
    exhibit(
        "ctl-8",
        leave_one_out.control_8,
        PROTOCOLS,
        judge=leave_one_out.control_8_judged,
        says=sentences.of_control_8,
    ),
    exhibit(
        "tab-5",
        leave_one_out.table_5,
        PROTOCOLS,
        judge=leave_one_out.table_5_judged,
        says=sentences.of_table_5,
    ),
    exhibit("ctl-19", combined.control_19, COMPARED, says=sentences.of_control_19),
    exhibit(
        "tab-4",
        score_taken_apart.table_4,
        MAIN,
        judge=score_taken_apart.table_4_judged,
        says=sentences.of_table_4,
    ),
    exhibit("ctl-21", score_taken_apart.control_21, COMPARED, says=sentences.of_control_21),
    exhibit(
        "tab-9",
        score_taken_apart.table_9,
        KNOWN,
        judge=score_taken_apart.table_9_judged,
        says=sentences.of_table_9,
    ),
    exhibit(
        "tab-3",
        cost.table_3,
        DECOMPOSED,
        SOLVED,
        judge=cost.table_3_judged,
        says=sentences.of_table_3,
    ),
    exhibit("tab-6", cost.table_6, TIMED, judge=cost.table_6_judged, says=sentences.of_table_6),
    exhibit(
        "tab-7",
        against_references.table_7,
        VARIANTS,
        DEEP,
        judge=against_references.table_7_judged,
        says=sentences.of_table_7,
    ),
    exhibit("ctl-6", theory.control_6, settings=True, says=sentences.of_control_6),
    exhibit(
        "ctl-9",
        theory.control_9,
        settings=True,
        draw=drawings.over_the_loss,
        says=sentences.of_control_9,
    ),
    exhibit(
        "ctl-17",
        one_loss.control_17,
        FORMS_OF_DECOMPOSED,
        SWEEPS,
        draw=drawings.kept_by_one_loss,
        says=sentences.of_control_17,
    ),
    exhibit(
        "ctl-18",
        noise.control_18,
        NOISES,
        draw=drawings.noise_supposed,
        says=sentences.of_control_18,
    ),
    exhibit("ctl-7", functools.partial(misprints.pairs, "iha"), says=sentences.of_control_7),
)
