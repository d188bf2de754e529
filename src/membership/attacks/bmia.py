"""The Bayesian membership inference attack (Liu et al. 2025, Algorithm 1).

One reference model, made a Gaussian over weights by a Laplace approximation, predicts the hinge
score s = f_y - max over the other classes of f that a model which has not seen the record gives
it. A record is called a member where the target's own score s0 lies above that prediction. Where a
function asks for `target_hinge`, that is s0 as `signals.hinge` computes it.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy
from scipy import special

from membership.arrays import LARGEST, FloatArray, as_float64, deviation, whole
from membership.attacks.adversary import Observed
from membership.attacks.registry import OUT, Attack, declare
from membership.errors import InputError

# Numbers drawn at once.
CHUNK = 2**24
# Below this the survival function loses digits, and soon is 0.
SMALLEST = 1e-280
MANY = 1e6


def bmia(
    target_hinge: Any,
    mean_logits: Any,
    covariance_logits: Any,
    label: Any,
    n_samples: int | None = None,
    seed: int = 0,
) -> FloatArray:
    """Score records by how far the target's hinge lies above the reference's prediction.

    The adversary knows the target's hinge of each record and the posterior of one reference model
    that has not seen it.

    Parameters
    ----------
    target_hinge : array of shape (records,)
        s0, finite.
    mean_logits : array of shape (records, classes)
        Of the reference, from `curvature.last_layer_laplace`.
    covariance_logits : array of shape (records, classes, classes)
        Positive semidefinite. In closed form also an array of shape (records,): the variance of
        the label's logit less the `runner_up`'s.
    label : array of int, shape (records,)
        0 to classes - 1.
    n_samples : int, optional
        None: closed form. The class with the largest mean among the others is taken for the
        largest in every draw, which makes the hinge Gaussian. 2 or more: mean and standard
        deviation of so many draws of the hinge.
    seed : int
        Of the draws.

    Returns
    -------
    ndarray of shape (records,)
        z = (s0 - mean) / standard deviation. Algorithm 1's t is z times the square root of
        `n_samples`, which ranks alike.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, labels do not fit the reference's classes, a
        variance is not positive, or `n_samples` is below 2.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> covariance = np.array([np.eye(2), np.eye(2)]) / 2
    >>> attacks.bmia([3.0, 0.5], [[1.0, 0.0], [1.0, 0.0]], covariance, [0, 0]).tolist()
    [2.0, -0.5]
    """
    target = as_float64("target_hinge", target_hinge, 1)
    mean_logits = as_float64("mean_logits", mean_logits, 2)
    if len(mean_logits) != target.size:
        raise InputError(
            f"mean_logits is of {len(mean_logits)} records, target_hinge of {target.size}; give "
            "the same ones"
        )
    if n_samples is not None:
        draws = sampled_hinge(mean_logits, covariance_logits, label, n_samples, seed)
        return bmia_sampled(target, draws)
    mean, variance = frozen_moments(mean_logits, covariance_logits, label)
    return (target - mean) / np.sqrt(variance)


def bmia_sampled(target_hinge: Any, sampled_hinge: Any) -> FloatArray:
    """Score records by the target's hinge beside draws of the reference's, however drawn.

    Parameters
    ----------
    target_hinge : array of shape (records,)
    sampled_hinge : array of shape (n_samples, records)
        Hinges of the reference under drawn weights or logits: two samples or more.

    Returns
    -------
    ndarray of shape (records,)
        z = (s0 - mean) / standard deviation (ddof 1).

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, there is one sample, or all samples of a record
        are equal.
    """
    target = as_float64("target_hinge", target_hinge, 1)
    draws = as_float64("sampled_hinge", sampled_hinge, 2)
    if draws.shape[1] != target.size or len(draws) < 2:
        raise InputError(
            f"sampled_hinge has shape {draws.shape}; give (n_samples, {target.size} records), "
            "two samples or more"
        )
    spread = deviation(draws, ddof=1)
    if not (spread > 0).all():
        raise InputError(f"sampled_hinge: all samples of record {spread.argmin()} are equal")
    return (target - draws.mean(axis=0)) / spread


def bmia_p_value(
    target_hinge: Any, sampled_hinge: Any, calibrated: bool = True, log: bool = False
) -> FloatArray:
    r"""The p-value of "not a member", or its logarithm.

    Algorithm 1 tests with :math:`t = z \sqrt{N}` whether the *mean* of the N draws is s0: the more
    draws, the more non-members it rejects. For the false-positive rate s0 must be compared with one
    more draw, :math:`t' = z / \sqrt{1 + 1/N}`. Both follow Student's law with N - 1 degrees of
    freedom under their own hypothesis.

    Parameters
    ----------
    target_hinge : array of shape (records,)
    sampled_hinge : array of shape (n_samples, records)
    calibrated : bool
        True: from t'. False: as published, from t.
    log : bool
        Return the natural logarithm, which tells records apart where p rounds to 0.

    Returns
    -------
    ndarray of shape (records,)
        Small for members: a score is its negative. Computed as a survival function; the
        difference 1 - F would round to 0 from p = 1e-16 on.

    Raises
    ------
    InputError
        As `bmia_sampled`.
    """
    z = bmia_sampled(target_hinge, sampled_hinge)
    n = len(sampled_hinge)
    t = z / np.sqrt(1 + 1 / n) if calibrated else z * np.sqrt(n)
    return student_log_survival(t, n - 1) if log else scipy.stats.t.sf(t, n - 1)


def bmia_mixture(
    target_hinge: Any, mean_logits: Any, covariance_logits: Any, label: Any
) -> FloatArray:
    r"""Score records by the tail of a mixture of several references' predictions.

    Parameters
    ----------
    target_hinge : array of shape (records,)
    mean_logits : array of shape (models, records, classes)
    covariance_logits : array of shape (models, records, classes, classes) or (models, records)
        As for `bmia` in closed form, for each reference.
    label : array of int, shape (records,)

    Returns
    -------
    ndarray of shape (records,)
        :math:`\log F(s_0) - \log(1 - F(s_0))` with F the distribution function of the equal
        mixture of the Gaussians: the order of :math:`1 - F`, with no rounding to 0 or 1. With one
        reference, the order of `bmia`.

    Raises
    ------
    InputError
        As `bmia`; or the numbers of references differ.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> mean = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    >>> covariance = np.array([[np.eye(2), np.eye(2)]]) / 2
    >>> score = attacks.bmia_mixture([3.0, 0.5], mean, covariance, [0, 0])
    >>> score.round(2).tolist()
    [3.76, -0.81]
    """
    mean = as_float64("mean_logits", mean_logits, 3)
    if len(covariance_logits) != len(mean):
        raise InputError(
            f"covariance_logits is of {len(covariance_logits)} references, mean_logits of "
            f"{len(mean)}; give the same ones"
        )
    z = np.stack(
        [
            bmia(target_hinge, mean[model], covariance_logits[model], label)
            for model in range(len(mean))
        ]
    )
    return _mixture(z)


def bmia_from_moments(
    target_hinge: Any, mean: Any, sd: Any, *, several: str = "mixture"
) -> FloatArray:
    r"""Score records by moments of the predicted hinge, of one reference or of several.

    Several references can be put together in two ways. The mixture asks for the tail of their
    predictions together. The other splits the variance, as the paper's ICML 2026 edition is
    reported to (its algorithm itself was not seen): with W the mean of the K references'
    variances and B the variance of their means, Student's test of :math:`t = (s_0 - \bar m) /
    \sqrt{(1 + 1/K) B + W}` has :math:`(K - 1) (1 + W / ((1 + 1/K) B))^2` degrees of freedom, by
    Satterthwaite. The two order records alike where references agree. Where they differ by more
    than each is wide, the mixture's far tail is that of the highest reference alone.

    Parameters
    ----------
    target_hinge : array of shape (records,)
    mean, sd : array of shape (records,) or (references, records)
        Of the hinge that each reference predicts; standard deviations above 0.
    several : {"mixture", "variance"}
        What several references give.

    Returns
    -------
    ndarray of shape (records,)
        Of one reference z = (s0 - mean) / sd, as `bmia`; of several the log-odds of their
        mixture, as `bmia_mixture`, or minus the logarithm of the p-value of t.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, a standard deviation is not positive, or
        `several` is neither of the two.

    Examples
    --------
    >>> from membership import attacks
    >>> mean, sd = [[0.0, 0.0], [4.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]
    >>> attacks.bmia_from_moments([8.0, 3.0], mean, sd).round(2).tolist()
    [11.05, 6.61]
    >>> attacks.bmia_from_moments([8.0, 3.0], mean, sd, several="variance").round(2).tolist()
    [1.84, 6.61]
    """
    if several not in ("mixture", "variance"):
        raise InputError(f'several is {several!r}; give "mixture" or "variance"')
    target = as_float64("target_hinge", target_hinge, 1)
    axes = max(1, np.ndim(mean))
    mean, sd = as_float64("mean", mean, axes), as_float64("sd", sd, axes)
    if mean.shape != sd.shape or mean.shape[-1] != target.size or axes > 2:
        raise InputError(
            f"mean of shape {mean.shape} and sd of shape {sd.shape}: give both ({target.size},) or "
            f"(references, {target.size})"
        )
    if sd.min() < 1 / LARGEST:
        raise InputError(f"sd is as low as {sd.min():g}; give standard deviations above 0")
    if axes == 1 or several == "mixture":
        z = (target - mean) / sd
        return z if axes == 1 else _mixture(z)
    return _by_total_variance(target, mean, sd)


def _by_total_variance(target: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Minus the log p-value of Student's test by the variance within and between references."""
    count, within = len(mean), np.square(sd).mean(axis=0)
    if count == 1:
        return (target - mean[0]) / sd[0]
    between = (1 + 1 / count) * np.square(deviation(mean, ddof=1))
    t = (target - mean.mean(axis=0)) / np.sqrt(between + within)
    with np.errstate(divide="ignore", over="ignore"):
        dof = (count - 1) * np.square(1 + within / between)
    # Beyond so many degrees Student's law is the normal one.
    few = dof < MANY
    result = -scipy.stats.norm.logsf(t)
    result[few] = -student_log_survival(t[few], dof[few])
    return result


def _mixture(z: FloatArray) -> FloatArray:
    """Log-odds of the equal mixture of Gaussians, from z of shape (references, records)."""
    return special.logsumexp(scipy.stats.norm.logcdf(z), axis=0) - special.logsumexp(
        scipy.stats.norm.logsf(z), axis=0
    )


def runner_up(mean_logits: Any, label: Any) -> np.ndarray:
    """The class other than the label with the largest mean logit.

    Parameters
    ----------
    mean_logits : array of shape (records, classes)
    label : array of int, shape (records,)

    Returns
    -------
    ndarray of int64, shape (records,)

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, or labels do not fit the classes.
    """
    mean = as_float64("mean_logits", mean_logits, 2)
    return _runner_up(mean, _labels(label, mean))


def sampled_hinge(
    mean_logits: Any, covariance_logits: Any, label: Any, n_samples: int, seed: int = 0
) -> FloatArray:
    """Draw the hinge under Gaussian logits, each record by itself.

    Parameters
    ----------
    mean_logits : array of shape (records, classes)
    covariance_logits : array of shape (records, classes, classes)
    label : array of int, shape (records,)
    n_samples : int
        2 or more.
    seed : int
        0 or more.

    Returns
    -------
    ndarray of shape (n_samples, records)

    Raises
    ------
    InputError
        As `bmia`.
    """
    whole("n_samples", n_samples, least=2)
    mean = as_float64("mean_logits", mean_logits, 2)
    label = _labels(label, mean)
    covariance = _covariance(covariance_logits, mean)
    rng = np.random.default_rng(seed)
    result = np.empty((n_samples, len(mean)))
    step = max(1, CHUNK // (n_samples * mean.shape[1]))
    for first in range(0, len(mean), step):
        rows = slice(first, first + step)
        draws = rng.standard_normal((len(mean[rows]), n_samples, mean.shape[1]))
        logits = mean[rows, None] + draws @ _root(covariance[rows]).transpose(0, 2, 1)
        index = label[rows, None, None]
        own = np.take_along_axis(logits, index, axis=2)[..., 0]
        np.put_along_axis(logits, index, -np.inf, axis=2)
        result[:, rows] = (own - logits.max(axis=2)).T
    return result


def frozen_moments(
    mean_logits: Any, covariance_logits: Any, label: Any
) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of the hinge with the runner-up frozen.

    With :math:`j = \arg\max_{c \ne y} \mu_c` the hinge is taken for :math:`f_y - f_j`, of mean
    :math:`\mu_y - \mu_j` and variance :math:`V_{yy} + V_{jj} - 2 V_{yj}`. Where another class may
    overtake j, the true hinge has a lower mean, another variance and is not Gaussian.
    """
    mean = as_float64("mean_logits", mean_logits, 2)
    label = _labels(label, mean)
    other, rows = _runner_up(mean, label), np.arange(len(mean))
    if np.ndim(covariance_logits) == 1:
        variance = as_float64("covariance_logits", covariance_logits, 1)
        if variance.shape != rows.shape:
            raise InputError(
                f"covariance_logits has shape {variance.shape}; give one variance for each of "
                f"{rows.size} records"
            )
    else:
        v = _covariance(covariance_logits, mean)
        variance = v[rows, label, label] + v[rows, other, other] - 2 * v[rows, label, other]
    if not (variance > 0).all():
        raise InputError(
            f"covariance_logits: the hinge of record {variance.argmin()} has variance "
            f"{variance.min():.3g}; expected a positive one"
        )
    return mean[rows, label] - mean[rows, other], variance


def student_log_survival(t: FloatArray, dof: float | FloatArray) -> FloatArray:
    r"""The log survival function of Student's law, of one dof or one an entry, without underflow.

    In the far tail :math:`1 - F(t) = \tfrac12 I_x(\nu/2, 1/2)` with :math:`x = \nu / (\nu +
    t^2)`, and the incomplete beta function is :math:`I_x(a, b) = x^a (1 - x)^b
    {}_2F_1(a + b, 1; a + 1; x) / (a B(a, b))` (DLMF 8.17.8).
    """
    survival = scipy.stats.t.sf(t, dof)
    far = survival < SMALLEST
    result = np.log(np.where(far, 1.0, survival))
    # Far below zero the survival function rounds to 1; its logarithm does not.
    result = np.where(t < 0, np.log1p(-scipy.stats.t.cdf(np.minimum(t, 0), dof)), result)
    dof = np.broadcast_to(dof, t.shape)[far]
    a, x = dof / 2, dof / (dof + t[far] ** 2)
    series = special.hyp2f1(a + 0.5, 1.0, a + 1.0, x)
    beta = a * np.log(x) + 0.5 * np.log1p(-x) + np.log(series) - np.log(a)
    result[far] = np.log(0.5) + beta - special.betaln(a, 0.5)
    return result


def _labels(label: Any, mean: FloatArray) -> np.ndarray:
    given = as_float64("label", label, 1)
    if given.shape != mean.shape[:1] or (given != np.floor(given)).any():
        raise InputError(
            f"label has shape {given.shape}; give one class for each of {len(mean)} records"
        )
    if given.min() < 0 or given.max() >= mean.shape[1] or mean.shape[1] < 2:
        raise InputError(
            f"label: classes {given.min():.10g} to {given.max():.10g} do not fit mean_logits of "
            f"{mean.shape[1]} classes; was the reference trained on the target's classes?"
        )
    return given.astype(np.int64)


def _covariance(covariance: Any, mean: FloatArray) -> FloatArray:
    covariance = as_float64("covariance_logits", covariance, 3)
    expected = (*mean.shape, mean.shape[1])
    if covariance.shape != expected:
        raise InputError(f"covariance_logits has shape {covariance.shape}; give {expected}")
    return covariance


def _runner_up(mean: FloatArray, label: np.ndarray) -> np.ndarray:
    others = mean.copy()
    others[np.arange(len(mean)), label] = -np.inf
    return others.argmax(axis=1)


def _root(covariance: FloatArray) -> FloatArray:
    """R with R R' = V, record by record; V may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    least = values[:, 0]
    if (least < -1e-8 * values[:, -1]).any():
        raise InputError(
            f"covariance_logits has an eigenvalue of {least.min():.3g}; give positive semidefinite "
            "matrices"
        )
    return vectors * np.sqrt(values.clip(min=0))[:, None, :]


def moments_score(
    seen: Observed, variant: str, first: bool = True, several: str = "mixture"
) -> FloatArray:
    mean, sd = (seen[f"posterior.{variant}.{name}"] for name in ("mean", "sd"))
    if first:
        mean, sd = mean[0], sd[0]
    return bmia_from_moments(seen["hinge"], mean, sd, several=several)


_bmia = partial(
    Attack,
    knowledge=("logits", "reference models"),
    references=OUT,
    paper="liu2025",
    term="BMIA",
)
_CLOSED = ("hinge", "posterior.closed form.mean", "posterior.closed form.sd")
declare(
    _bmia(
        name="bmia",
        display="BMIA",
        function=bmia,
        needs=("hinge", "posterior.kron.mean", "posterior.kron.sd"),
        equation="Algorithm 1",
        score=lambda seen: moments_score(seen, "kron"),
        single_reference=True,
    ),
    _bmia(
        name="bmia-closed",
        display="BMIA, closed form",
        function=bmia,
        needs=_CLOSED,
        equation="Algorithm 1",
        score=lambda seen: moments_score(seen, "closed form"),
        single_reference=True,
    ),
    _bmia(
        name="bmia-mixture",
        display="BMIA, mixture",
        function=bmia_mixture,
        needs=_CLOSED,
        equation="Algorithm 1, several references",
        score=lambda seen: moments_score(seen, "closed form", first=False),
    ),
    _bmia(
        name="bmia-variance",
        display="BMIA, variance split",
        function=bmia_from_moments,
        needs=_CLOSED,
        equation="ICML 2026 edition, several references, as reported",
        score=lambda seen: moments_score(seen, "closed form", first=False, several="variance"),
    ),
)
