"""How well a score tells members from non-members.

A score holds one number a queried record, higher meaning "member"; `member` holds the truth.
Scores that tie are never split: a decision takes the whole tied group or none of it.
"""

from membership.metrics.accuracy import (
    accuracy,
    balanced_accuracy,
    best_threshold,
    peak_accuracy_null,
)
from membership.metrics.intervals import (
    auc_interval,
    exactly,
    interval,
    rate_error,
    summary,
    tpr_interval,
)
from membership.metrics.paired import (
    CrossedInterval,
    PairedInterval,
    Resampled,
    contrast_interval,
    crossed_interval,
    paired_interval,
    resampled,
    resampled_rates,
)
from membership.metrics.roc import (
    auc,
    average_precision,
    curve_band,
    roc_band,
    roc_curve,
    tpr_at_fpr,
    tpr_on,
)

__all__ = [
    "CrossedInterval",
    "PairedInterval",
    "Resampled",
    "accuracy",
    "auc",
    "auc_interval",
    "average_precision",
    "balanced_accuracy",
    "best_threshold",
    "contrast_interval",
    "crossed_interval",
    "curve_band",
    "exactly",
    "interval",
    "paired_interval",
    "peak_accuracy_null",
    "rate_error",
    "resampled",
    "resampled_rates",
    "roc_band",
    "roc_curve",
    "summary",
    "tpr_at_fpr",
    "tpr_interval",
    "tpr_on",
]
