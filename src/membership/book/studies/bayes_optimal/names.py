"""What evidence files, metrics and rows are called, for those who make and those who read them."""

from collections.abc import Mapping
from typing import Any

# Random splits behind a number of the paper's Table 1.
PAPER_SPLITS = 100

# What runs on the paper's records call them.
SHIPS = "CIFAR-10 trucks and ships"

NETWORKS = "networks"
LADDER = "ladder"
PENALTIES = "penalties"
AUGMENTED, RESIDUAL = "augmented-small", "augmented-residual"

ACCURACY, PEAK, AUC = "attack_accuracy(%)", "peak_accuracy(%)", "auc(%)"
TRAIN, VALIDATION = "train_accuracy(%)", "validation_accuracy(%)"
TEST = "test_accuracy(%)"
SHARE, MEMBERS = "share of all records(%)", "members(%)"
SHADOW = "shadow attack"
TABLE_1, WEAKER = "Table 1's network", "weaker network"
OTHER = "attack_accuracy_other_threshold(%)"
MODELS = "attack_accuracy_model_threshold(%)"
SLOPE = "slope over n"
RATIO = "second-order over first-order term, one C"
LEADS = {AUC: "AUC, MATT less MALT", ACCURACY: "accuracy, MATT less MALT"}
ONE_PENALTY = "one C"
OF_SLOPES = {
    f"{quantity}, {SLOPE}": quantity
    for quantity in (RATIO, *LEADS.values(), *(f"{lead}, {ONE_PENALTY}" for lead in LEADS.values()))
}
"""The quantities of Control 11 that are slopes, and what of."""
LIKE_PRINT = "gap as printed"
SPREAD = "interquartile_range_over_losses"


def of_splits(count: int) -> str:
    """How the number of random splits departs from the paper's."""
    return f"{count} random splits (the paper: {PAPER_SPLITS})"


def rows_of(numbers: Mapping[tuple[str, str], float], **key: Any) -> list[dict[str, Any]]:
    """A row a number, by attack and metric."""
    return [
        {**key, "attack": attack, "metric": metric, "value": value}
        for (attack, metric), value in numbers.items()
    ]


def logistic(n: int) -> str:
    """The file of one size of Table 1."""
    return f"logistic-{n}"


def augmented(settings: Any) -> tuple[str, ...]:
    """The files of Table 3's stand-in, one a network; the residual one takes CIFAR-10's time."""
    large = settings.profile == "paper" and settings.dataset == "cifar10"
    return (AUGMENTED, RESIDUAL) if large else (AUGMENTED,)
