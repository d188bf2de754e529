"""What metrics are called: in words, and in tables."""

import re

_WORDS = {
    "auc(%)": "AUC (%)",
    "attack_accuracy_other_threshold(%)": "accuracy, threshold from other records (%)",
    "attack_accuracy_model_threshold(%)": "accuracy, threshold from other models (%)",
    "std_ratio": "ratio of standard deviations",
}


def tpr_label(fpr: float) -> str:
    """The rate in percent, in words: "TPR at 1% FPR (%)"."""
    return f"TPR at {100 * fpr:g}% FPR (%)"


def tpr_column(fpr: float, end: str = "(%)") -> str:
    """The same as tables name the metric, up to what follows the rate: "TPR@1%FPR(%)"."""
    return f"TPR@{100 * fpr:g}%FPR{end}"


def metric_words(metric: str) -> str:
    """A metric's name as a reader wants it: "TPR at 1% FPR (%)" for "TPR@1%FPR(%)"."""
    name, comma, rest = metric.partition(", ")
    if name in _WORDS:
        return _WORDS[name] + comma + rest
    metric = re.sub(r"TPR ?\(%\)@FPR=([\d.]+)%(?=$|,)", r"TPR@\1%FPR (%)", metric)
    words = re.sub(r"@([\d.]+)%FPR", r" at \1% FPR", metric).replace("_", " ")
    return re.sub(r" ?\(%\)(?=$|,)", " (%)", words)
