"""The papers' own numbers, who wrote them, and how a regenerated number is judged by them."""

from membership.published.bibliography import Paper, bibtex, papers
from membership.published.tables import exhibits, metric_words, table
from membership.published.verdicts import compare, verdict

__all__ = ["Paper", "bibtex", "compare", "exhibits", "metric_words", "papers", "table", "verdict"]
