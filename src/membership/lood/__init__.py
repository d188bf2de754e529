"""Leave-one-out distinguishability of Gaussian processes (Ye et al. 2024)."""

from membership.lood.all_records import LeaveOneOut, leave_one_out
from membership.lood.comparison import Comparison, compare, distinguishability, tradeoff
from membership.lood.contrast import Contrast
from membership.lood.posterior import Posterior, posterior

__all__ = [
    "Comparison",
    "Contrast",
    "LeaveOneOut",
    "Posterior",
    "compare",
    "distinguishability",
    "leave_one_out",
    "posterior",
    "tradeoff",
]
