"""What a true positive rate at a false positive rate is called: in words, and in tables."""


def tpr_label(fpr: float) -> str:
    """The rate in percent, in words: "TPR at 1% FPR (%)"."""
    return f"TPR at {100 * fpr:g}% FPR (%)"


def tpr_column(fpr: float, end: str = "(%)") -> str:
    """The same as tables name the metric, up to what follows the rate: "TPR@1%FPR(%)"."""
    return f"TPR@{100 * fpr:g}%FPR{end}"
