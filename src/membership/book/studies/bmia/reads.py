"""What the chapter's exhibits read: evidence by data set, and what is made of it once a run."""

from collections.abc import Callable, Sequence
from functools import partial

from membership.book.exhibits.declaration import Reading
from membership.book.studies.bmia import evidence, posteriors, scores
from membership.book.studies.bmia.settings import Settings


def _seen(files: Callable[[Settings], Sequence[str]]) -> Reading:
    """Outputs and posteriors of these files, made ready once."""
    return Reading(files, lambda source: scores.read(source, files))


# What every attack reads, data set by data set; the same on the queries of other posteriors.
SEEN = _seen(partial(evidence.files, evidence.MAIN))
ON_VARIANTS = Reading(
    partial(evidence.files, (*evidence.MAIN, "variants")), posteriors.read_variants
)
ARCHITECTURES, STRANGERS = _seen(evidence.of_architectures), _seen(evidence.of_strangers)
MANY = _seen(partial(evidence.of_last, evidence.MANY))
VARIANTS, MEASURED, TIMES, REGRESSED = (
    partial(evidence.files, (kind,)) for kind in ("variants", "measured", "times", evidence.QMIA)
)
POPULATION, DRAWS, QUANTILES = (
    partial(evidence.of_last, kinds)
    for kinds in ((evidence.POPULATION,), evidence.DRAWS, (evidence.QUANTILES,))
)
