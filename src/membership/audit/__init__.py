"""An audit of one's own model: from scores, or from evidence, to statements with intervals."""

from membership.audit.comparison import compare
from membership.audit.labels import Moves, Noise, kept_label
from membership.audit.observe import gather
from membership.audit.reading import Scored, Several, read_scores
from membership.audit.report import write
from membership.audit.several import audit

__all__ = [
    "Moves",
    "Noise",
    "Scored",
    "Several",
    "audit",
    "compare",
    "gather",
    "kept_label",
    "read_scores",
    "write",
]
