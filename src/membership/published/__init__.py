"""The papers' own numbers, who wrote them, and how a regenerated number is judged by them."""

from membership.bibliography import (
    Paper,
    Question,
    bibtex,
    papers,
    questions,
    subjects,
)
from membership.published.claims import Claim
from membership.published.comparison import compare, differ_after_holm, summary
from membership.published.contrasts import Contrast, Share
from membership.published.outcomes import Outcome
from membership.published.setups import comparability, setup
from membership.published.tables import data_sets, metric_words, noted, printed, reference, table
from membership.published.verdicts import Verdict, imputed, verdict

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
