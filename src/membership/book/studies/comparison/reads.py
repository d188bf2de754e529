"""What the chapter's exhibits read: evidence by data set, and what is made of it once a run."""

from collections.abc import Callable, Sequence

from membership.book.exhibits.declaration import Reading
from membership.book.studies.comparison import names
from membership.book.studies.comparison.settings import Settings


def _and(kind: str, cells: Callable[[Settings], Sequence[names.Cell]]) -> Reading:
    """What the leaderboards read, and one more file of some cells."""
    return Reading(
        lambda settings: (
            *names.files(settings),
            *(f"{kind}-{cell.word}" for cell in cells(settings)),
        )
    )


FILES = Reading(names.files)
TIMED, PROCESSES = _and("times", names.cells), _and("lood", names.typical)
PICTURES, OUTSIDE = _and("pictures", names.pictured), _and("outside", names.outside)
WITH_UNTRAINED = Reading(lambda settings: (*names.files(settings), names.UNTRAINED))
# What reads another chapter's evidence.
NOTHING = Reading(lambda settings: ())
