"""How well a score tells members from non-members.

A score holds one number a queried record, higher meaning "member"; `member` holds the truth.
Scores that tie are never split: a decision takes the whole tied group or none of it.
"""

from membership.metrics.decisions import (
    accuracy,
    balanced_accuracy,
    best_threshold,
    peak_accuracy_null,
)
from membership.metrics.intervals import interval, mean_interval
from membership.metrics.ranking import auc, average_precision, roc_curve, tpr_at_fpr

__all__ = [
    "accuracy",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "best_threshold",
    "interval",
    "mean_interval",
    "peak_accuracy_null",
    "roc_curve",
    "tpr_at_fpr",
]
