"""What the chapter's exhibits read: evidence by data set, and what is made of it once a run."""

from collections.abc import Callable, Sequence

from membership.book.exhibits.declaration import Reading
from membership.book.studies.iha import evaluation, leave_one_out, left_out, subjects
from membership.book.studies.iha.settings import Settings

Names = Callable[[Settings], tuple[str, ...]]


def _files(kinds: Sequence[str], select: subjects.Select = subjects.subjects) -> Names:
    """The evidence of these kinds of every data set of a run, or of some."""
    return lambda settings: subjects.files(kinds, select(settings))


def _attacked(kinds: tuple[str, ...], select: subjects.Select = subjects.subjects) -> Reading:
    """The same data sets, attacked from that evidence."""
    return Reading(_files(kinds, select), lambda source: evaluation.read(source, kinds, select))


FORMS, FORMS_OF_DECOMPOSED, SWEEPS, SOLVED = (
    _files(["white-box"]),
    *(_files([kind], subjects.decomposed) for kind in ("white-box", "sweep", "solvers")),
)
FIRST, FIRST_FORMS = (_files([kind], subjects.first) for kind in subjects.MAIN)
GAMES, TIMED = _files(subjects.GAME, subjects.games), _files(["costs"], subjects.timed)
WHOLE_GAMES = _files(subjects.WHOLE_GAME, subjects.whole_games)
MATRICES, RESIDUAL = (
    _files(subjects.MATRICES, select) for select in (subjects.decomposed, subjects.residual)
)
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
