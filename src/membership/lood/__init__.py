"""Leave-one-out distinguishability of Gaussian processes (Ye et al. 2024).

How far apart are the posteriors f_D and f_D' of a Gaussian process, where D' is D and one record S
(or a group) more, when they are observed at some queries?

Every record at once
    `leave_one_out`, `LeaveOneOut`; of 100,000 records, some: `leave_some_out`, `SomeLeftOut`
Every record or group at any queries
    `influence`, `Influence`; `leave_groups_out`, `twins`
The noise that the labels ask for
    `choose_noise`, `NoiseChoice`
Networks trained with a record and without it
    `trained_ensembles`
One record or group, any queries
    `distinguishability`, `tradeoff`; `compare` and `Comparison` for many queries
What tells two posteriors apart
    `Contrast`
The posteriors themselves
    `posterior`, `Posterior`
Normalisation that depends on the data
    `compare_normalised`, `NormalisedComparison`
Queries by gradient
    `gradient`, `maximise`, `maximise_each`, `Optimum`, `reconstruct`, `Reconstruction`,
    `least_stationary`

For a fixed kernel and noise, f(S) is sufficient for telling f_D from f_D': the density of f_D'
relative to f_D is proportional to N(y_S; f(S), noise), so given f(S) the rest of the function has
one law under both. By data processing, no set of queries has a larger f-divergence, AUC or power
at any false-positive rate than S itself.

Every function takes its arguments in one order: kernel, x, y, differing, query, noise. A kernel is
one of `membership.nngp`, scikit-learn or GPyTorch, a function of two sets of records, or a matrix.

The closed forms need NumPy and SciPy only. What works by gradient imports JAX when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from membership.errors import extra
from membership.lood.all_records import LeaveOneOut, leave_one_out, trained_ensembles
from membership.lood.comparison import (
    Comparison,
    NormalisedComparison,
    compare,
    compare_normalised,
    distinguishability,
    tradeoff,
)
from membership.lood.contrast import Contrast
from membership.lood.influence import Influence, influence, leave_groups_out, twins
from membership.lood.many import SomeLeftOut, leave_some_out
from membership.lood.noise import NoiseChoice, choose_noise
from membership.lood.process import Posterior, posterior
from membership.lood.reconstruction import Reconstruction, reconstruct

if TYPE_CHECKING:
    from membership.lood.each import maximise_each
    from membership.lood.search import Optimum, gradient, least_stationary, maximise

_BY_GRADIENT = {
    "Optimum": "search",
    "gradient": "search",
    "least_stationary": "search",
    "maximise": "search",
    "maximise_each": "each",
}

__all__ = [
    "Comparison",
    "Contrast",
    "Influence",
    "LeaveOneOut",
    "NoiseChoice",
    "NormalisedComparison",
    "Optimum",
    "Posterior",
    "Reconstruction",
    "SomeLeftOut",
    "choose_noise",
    "compare",
    "compare_normalised",
    "distinguishability",
    "gradient",
    "influence",
    "least_stationary",
    "leave_groups_out",
    "leave_one_out",
    "leave_some_out",
    "maximise",
    "maximise_each",
    "posterior",
    "reconstruct",
    "tradeoff",
    "trained_ensembles",
    "twins",
]


def __getattr__(name: str) -> Any:
    if name not in _BY_GRADIENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extra("kernels"):
        return getattr(import_module(f"membership.lood.{_BY_GRADIENT[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
