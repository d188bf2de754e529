"""The papers' own numbers, who wrote them, and how a regenerated number is judged by them."""

from membership.book.bibliography import (
    Paper,
    Question,
    bibtex,
    papers,
    questions,
    subjects,
)
from membership.book.published.claims import Claim
from membership.book.published.comparison import compare, differ_after_holm, summary
from membership.book.published.contrasts import Contrast, Share
from membership.book.published.outcomes import Outcome
from membership.book.published.setups import comparability, setup
from membership.book.published.tables import data_sets, noted, printed, reference, table
from membership.book.published.verdicts import Verdict, imputed, verdict
from membership.metrics.rate_names import metric_words

__all__ = [
    "Claim",
    "Contrast",
    "Outcome",
    "Paper",
    "Question",
    "Share",
    "Verdict",
    "bibtex",
    "comparability",
    "compare",
    "data_sets",
    "differ_after_holm",
    "imputed",
    "metric_words",
    "noted",
    "papers",
    "printed",
    "questions",
    "reference",
    "setup",
    "subjects",
    "summary",
    "table",
    "verdict",
]
