"""The gradient likelihood-ratio attack GLiR (Leemann et al. 2023, Algorithm 1).

A step of SGD publishes the mean m of n gradients. For a record with gradient x, with the mean and
covariance Sigma of the gradients known, let D^2 = (m - x)' Sigma^-1 (m - x) and
K = (x - mean)' Sigma^-1 (x - mean). If the record was not in the batch, n D^2 follows the
non-central chi-squared law with d degrees of freedom and non-centrality n K; if it was, D^2 is
smaller. The p-value of "not in the batch" is therefore the law's distribution function at n D^2.
"""

from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy
from scipy.linalg import solve_triangular

from membership.arrays import FloatArray, as_float64, one_of
from membership.attacks.adversary import Observed
from membership.attacks.registry import Attack, declare
from membership.curvature.noise import whitening
from membership.errors import InputError
from membership.privacy import checks, chi2

CONVENTIONS = ("paper", "authors")
AUTHORS_FLOOR = -250.0
LARGEST_IN_SCIPY = 1e9
UNDERFLOW_IN_SCIPY = -200.0  # the earliest


def glir(
    step_mean: Any,
    query_gradient: Any,
    mean: Any,
    covariance: Any,
    batch_size: int,
    convention: str = "paper",
) -> FloatArray:
    """Score records by one published mean gradient.

    The adversary knows the mean gradient of the step, the gradient of each queried record at the
    same parameters, and the distribution's moments, from data of the same kind. No other model
    is trained.

    Parameters
    ----------
    step_mean : array of shape (d,)
        The mean of the batch's gradients, as published.
    query_gradient : array of shape (records, d)
        Gradients of the queried records before the step.
    mean, covariance : array of shape (d,) and (d, d)
        Of the gradients of the population; see `membership.curvature.gradient_moments`.
    batch_size : int
        n, 2 or more.
    convention : {"paper", "authors"}
        "paper": n D^2, the pseudo-inverse of Sigma, and its rank for d. The gradients of a softmax
        layer sum to zero over the classes, so the rank is smaller than d there.
        "authors": as the released code, which inverts tril(Sigma) tril(Sigma)' in the place of
        Sigma (`torch.cholesky_inverse`), uses (n - 1) D^2 and d, and cuts log p off at -250.

    Returns
    -------
    ndarray of shape (records,)
        -log p, 0 or more; with "paper", p is uniform for records that were not in the batch.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, the covariance is not square, or not symmetric,
        has a negative eigenvalue or rank zero or, with "authors", a zero on its diagonal; or
        `batch_size` is no number of 2 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> gradients = [[2.0, 0.0], [-2.0, 0.0]]
    >>> score = attacks.glir([0.5, 0.0], gradients, np.zeros(2), np.eye(2), batch_size=4)
    >>> bool(score[0] > score[1])
    True
    """
    m, x, mean, covariance = _checked(step_mean, query_gradient, mean, covariance)
    n = _batch_size(batch_size)
    one_of("convention", convention, CONVENTIONS)
    if convention == "authors":
        both = released_distances(m, x, mean, covariance)
        _two_numbers(*both, n, len(m))
        return released_score(*both, n, len(m))
    root = whitening(covariance)
    return glir_whitened((m - mean) @ root, (x - mean) @ root, n)


def glir_whitened(step_mean: Any, query_gradient: Any, batch_size: int) -> FloatArray:
    """Score records in coordinates where gradients have mean 0 and covariance I; as `glir`.

    For many rounds with the same moments: whiten once, (x - mean) @ `whitening` (covariance).
    """
    m, x = as_float64("step_mean", step_mean, 1), as_float64("query_gradient", query_gradient, 2)
    if x.shape[1] != m.size:
        raise InputError(f"query_gradient has {x.shape[1]} entries a gradient, not {m.size}")
    distance, susceptibility = np.square(x - m).sum(axis=1), np.square(x).sum(axis=1)
    return glir_from_distance(distance, susceptibility, batch_size, m.size)


def glir_from_distance(
    distance: Any, susceptibility: Any, batch_size: int, rank: float
) -> FloatArray:
    """Score records by the two numbers that `glir` computes of each.

    Parameters
    ----------
    distance : array of shape (records,)
        D^2 of the step from the record's gradient, 0 or more.
    susceptibility : array of shape (records,)
        K of the record's gradient, 0 or more.
    batch_size : int
        n, 2 or more.
    rank : float
        Of the covariance: degrees of freedom, above 0.

    Returns
    -------
    ndarray of shape (records,)
        -log p, as `glir` with convention "paper"; infinite where D^2 is 0.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite or negative, or a number is out of its range.
    """
    distance, susceptibility, n = _two_numbers(distance, susceptibility, batch_size, rank)
    return -chi2.log_cdf(n * distance, rank, n * susceptibility)


def _two_numbers(
    distance: Any, susceptibility: Any, batch_size: int, rank: float
) -> tuple[FloatArray, FloatArray, int]:
    distance = as_float64("distance", distance, 1)
    susceptibility = as_float64("susceptibility", susceptibility, 1)
    n = _batch_size(batch_size)
    if susceptibility.shape != distance.shape or min(distance.min(), susceptibility.min()) < 0:
        raise InputError(
            f"distance of shape {distance.shape} and susceptibility of shape "
            f"{susceptibility.shape}: give equal shapes, entries of 0 or more"
        )
    largest = max(distance.max(), susceptibility.max())
    if largest > checks.LARGEST:
        raise InputError(
            f"distance or susceptibility is as large as {largest:.3g}; give at most "
            f"{checks.LARGEST:g}, or leave out records whose gradients lie so far from the mean"
        )
    if not 0 < rank < np.inf:
        raise InputError(f"rank = {rank}: give a number above 0")
    return distance, susceptibility, n


def glir_log_ratio(distance: Any, susceptibility: Any, batch_size: int, rank: float) -> FloatArray:
    """Score records by the logarithm of the likelihood ratio, one threshold for all of them.

    With normal means it is linear in both numbers: rank / 2 log(n / (n - 1)) + K / 2 -
    n D^2 / (2 (n - 1)). Parameters and errors as in `glir_from_distance`.
    """
    distance, susceptibility, n = _two_numbers(distance, susceptibility, batch_size, rank)
    certain = rank / 2 * np.log(n / (n - 1)) + susceptibility / 2
    return certain - n * distance / (2 * (n - 1))


def glir_steps(
    step_mean: Any,
    query_gradient: Any,
    mean: Any,
    covariance: Any,
    batch_size: int,
    combine: str = "sum-log",
    convention: str = "paper",
) -> FloatArray:
    """Score records by several steps on the same batch.

    Parameters
    ----------
    step_mean : array of shape (steps, d)
    query_gradient : array of shape (steps, records, d)
        Each at the parameters before its step.
    mean : array of shape (steps, d)
    covariance : array of shape (steps, d, d), or (steps * d, steps * d) with "joint"
        Each step's own; with "joint", of the gradients of all steps of one record in a row.
    batch_size : int
        n, 2 or more.
    combine : {"sum-log", "joint"}
        "sum-log" adds the steps' -log p (Algorithm 1), as if steps were independent. "joint"
        tests all steps at once, as one gradient with steps * d entries. Where a record's
        gradients at successive steps are nearly the same, so are the steps' p-values, and their
        sum says little more than one of them; the small differences between steps still do.
    convention : {"paper", "authors"}
        As in `glir`.

    Returns
    -------
    ndarray of shape (records,)
        The sum of -log p; no p-value itself, unless `combine` is "joint".

    Raises
    ------
    InputError
        As `glir`, or `combine` is neither.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> gradients = [[[2.0, 0.0], [-2.0, 0.0]]]
    >>> moments = np.zeros((1, 2)), np.eye(2)[None]
    >>> score = attacks.glir_steps([[0.5, 0.0]], gradients, *moments, batch_size=4)
    >>> bool(score[0] > score[1])
    True
    """
    m, x = as_float64("step_mean", step_mean, 2), as_float64("query_gradient", query_gradient, 3)
    mean = as_float64("mean", mean, 2)
    steps = len(m)
    if len(x) != steps or mean.shape != m.shape:
        raise InputError(
            f"query_gradient has {len(x)} steps and mean has shape {mean.shape}; give {steps} "
            f"steps and {m.shape}, as step_mean has"
        )
    if combine == "joint":
        joined = x.transpose(1, 0, 2).reshape(x.shape[1], -1)
        return glir(m.ravel(), joined, mean.ravel(), covariance, batch_size, convention)
    if combine != "sum-log":
        raise InputError(f"combine = {combine!r}: give sum-log or joint")
    each = as_float64("covariance", covariance, 3)
    if len(each) != steps:
        raise InputError(f"covariance has {len(each)} steps; give {steps}, as step_mean has")
    return sum(glir(*step, batch_size, convention) for step in zip(m, x, mean, each, strict=True))


def released_distances(m: Any, x: Any, mean: Any, covariance: Any) -> tuple[FloatArray, FloatArray]:
    """D^2 and K of each record by the inverse that the released code takes; errors as `glir`."""
    lower = np.tril(covariance)
    if not np.diag(lower).all():
        raise InputError("covariance has a zero on its diagonal; drop entries that never change")
    with np.errstate(over="ignore"):
        distance, susceptibility = (
            np.square(solve_triangular(lower, (x - centre).T, lower=True)).sum(axis=0)
            for centre in (m, mean)
        )
    return distance, susceptibility


def released_score(distance: Any, susceptibility: Any, n: int, d: int) -> FloatArray:
    """-log p of the released code from what `released_distances` gives, d the parameters."""
    x, noncentrality = (n - 1) * distance, n * susceptibility
    log_p = chi2.log_cdf(x, d, noncentrality)
    # There SciPy, which the code asks, may have given up; elsewhere it agrees and is far slower.
    doubtful = (log_p < UNDERFLOW_IN_SCIPY) & (log_p > AUTHORS_FLOOR)
    doubtful &= np.maximum(x, noncentrality) <= LARGEST_IN_SCIPY
    log_p[doubtful] = scipy.stats.ncx2.logcdf(x[doubtful], d, noncentrality[doubtful])
    return -np.maximum(log_p, AUTHORS_FLOOR)


def _checked(
    step_mean: Any, query_gradient: Any, mean: Any, covariance: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    m, x = as_float64("step_mean", step_mean, 1), as_float64("query_gradient", query_gradient, 2)
    mean, covariance = as_float64("mean", mean, 1), as_float64("covariance", covariance, 2)
    for name, shape in (("query_gradient", x.shape[1:]), ("mean", mean.shape)):
        if shape != m.shape:
            raise InputError(f"{name} has {shape[0]} entries a gradient; step_mean has {m.size}")
    if covariance.shape != (m.size, m.size):
        raise InputError(f"covariance has shape {covariance.shape}; give {(m.size, m.size)}")
    return m, x, mean, covariance


def _batch_size(n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, Real):
        raise InputError(f"batch_size = {n!r}: give a number of 2 or more")
    if not np.isfinite(n) or n < 2:
        raise InputError(f"batch_size = {n}: give 2 or more")
    return n


def _glir(seen: Observed, steps: slice) -> FloatArray:
    how = (seen.setting("batch_size"), seen.setting("rank"))
    pairs = zip(seen["steps.distance"][steps], seen["steps.susceptibility"][steps], strict=True)
    return sum(glir_from_distance(*pair, *how) for pair in pairs)


_leemann = partial(
    Attack,
    needs=("steps.distance", "steps.susceptibility"),
    knowledge=("step gradients", "population records"),
    references="none",
    paper="leemann2023",
    equation="Algorithm 1",
    term="GLiR",
)
declare(
    _leemann(
        name="glir",
        display="GLiR",
        function=glir,
        score=lambda seen: _glir(seen, slice(0, 1)),
    ),
    _leemann(
        name="glir-steps",
        display="GLiR, all steps",
        function=glir_steps,
        score=lambda seen: _glir(seen, slice(None)),
    ),
)
