"""What the chapter's exhibits read, and what their tables say of it."""

import functools
from typing import Any

from membership.book.exhibits.tidy import Gathered, origin
from membership.book.studies.lood import evidence
from membership.book.studies.lood.evidence import SEARCHES

ALL_SEARCHES, EDGE, CONSTANT = (
    functools.partial(evidence.both, kind) for kind in (SEARCHES, evidence.EDGE, evidence.CONSTANT)
)


def about(*read: Gathered, sizes: Any = None, **own: Any) -> dict[str, Any]:
    """The origin of a table, with its own sizes beside those of the evidence."""
    whole = origin(read, *own.pop("deviations", ()), **own)
    return whole | {"sizes": whole.get("sizes", {}) | (sizes or {})}
