"""What evidence files, metrics and rows are called, for those who make and those who read them."""

NETWORKS = "networks"
LADDER = "ladder"

ACCURACY, PEAK, AUC = "attack_accuracy(%)", "peak_accuracy(%)", "auc(%)"
SHARE, MEMBERS = "share of all records(%)", "members(%)"
SHADOW = "shadow attack"
OTHER = "attack_accuracy_other_threshold(%)"
SLOPE = "slope over n"
RATIO = "second-order over first-order term, one C"
LEADS = {AUC: "AUC, MATT less MALT", ACCURACY: "accuracy, MATT less MALT"}
SPREAD = "interquartile_range_over_losses"


def logistic(n: int) -> str:
    """The file of one size of Table 1."""
    return f"logistic-{n}"
