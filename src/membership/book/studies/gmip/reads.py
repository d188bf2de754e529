"""What the chapter's exhibits read: evidence by data set, and what is made of it once a run."""

from collections.abc import Callable

from membership.book.exhibits.declaration import Reading
from membership.book.studies.gmip.settings import Settings


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
