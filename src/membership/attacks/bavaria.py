"""LiRA with a prior on its variances (BaVarIA, Brännvall 2026)."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import special

from membership.arrays import BoolArray, FloatArray, as_float64, one_of
from membership.attacks.adversary import REFERENCES, Observed
from membership.attacks.bmia import student_log_survival
from membership.attacks.references import (
    as_references,
    require_models,
    side_of,
    sided,
)
from membership.attacks.registry import BOTH, OUT, Attack, declare
from membership.errors import InputError

# Half of the prior's degrees of freedom is looked for between these; above, all variances are one.
SHAPES = (1e-6, 1e6)


class _Predictive(NamedTuple):
    """What IN or OUT models say of each record's signal; fields of shape (records,)."""

    mean: FloatArray
    variance: FloatArray
    degrees: FloatArray
    count: FloatArray

    def log_density(self, phi: FloatArray, predictive: str) -> FloatArray:
        if predictive == "normal":
            return scipy.stats.norm.logpdf(phi, self.mean, np.sqrt(self.variance))
        return scipy.stats.t.logpdf(phi, self.degrees, self.mean, self._width())

    def surprise(self, phi: FloatArray, predictive: str) -> FloatArray:
        """How far above this side a signal lies."""
        if predictive == "normal":
            return (phi - self.mean) / np.sqrt(self.variance)
        above = (phi - self.mean) / self._width()
        if np.isinf(self.degrees).all():
            return -scipy.stats.norm.logsf(above)
        return -student_log_survival(above, self.degrees)

    def _width(self) -> FloatArray:
        """Of the predictive law, which carries the doubt about the mean too."""
        return np.sqrt(self.variance * (1 + 1 / self.count))


def bavaria(
    target: Any,
    reference: Any,
    reference_member: Any = None,
    mode: str = "online",
    *,
    predictive: str = "t",
) -> FloatArray:
    r"""Score a record as `lira` does, with variances drawn towards those of the other records.

    The adversary knows what LiRA's does. A record's variance under few reference models is mostly
    noise, and one variance for all records is wrong for most of them. Here the variances of a
    side have an inverse-gamma law over records, and a record's own estimate :math:`s^2` with
    :math:`d` degrees of freedom becomes

    .. math:: \tilde s^2 = \frac{d_0 s_0^2 + d s^2}{d_0 + d}.

    Parameters
    ----------
    target : array of shape (records,)
        phi under the target model, finite: the scaled logit log p_y / (1 - p_y).
    reference : array of shape (models, records)
        phi under each reference model, finite.
    reference_member : bool array of shape (models, records), optional
        Which reference model was trained on which record. None: all are OUT; offline only.
        A record may have a single model on a side: it takes the prior's variance there.
    mode : {"online", "offline"}
        "online": the log ratio of phi's densities under IN and under OUT models.
        "offline": how far phi lies above its OUT models.
    predictive : {"t", "normal"}
        "t" (BaVarIA-t): Student's law with :math:`d_0 + d` degrees of freedom, which carries the
        doubt about mean and variance. "normal" (BaVarIA-n): a normal law of the variance above.

    Returns
    -------
    ndarray of shape (records,)
        Online: a log-likelihood ratio in nats. Offline: minus a log p-value ("t"), or standard
        deviations ("normal").

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, a record lacks a model on a side, fewer than two
        records have two models of a side that differ, or an option is none of those above.

    Notes
    -----
    :math:`d_0` and :math:`s_0^2` are fitted to the records of a side by the first two moments of
    :math:`\log s^2` (Smyth 2004, who calls such variances moderated); the prior of the mean is
    flat. Both are choices made here: nothing is left to tune.

    Where the numbers of IN models differ by one in all, each record does without one model of the
    side that has more; see the notes of `lira`.

    Examples
    --------
    >>> from membership import attacks
    >>> references = [[2.8, 2.9], [3.2, 3.2], [0.4, 0.6], [0.6, 0.3]]
    >>> member = [[True, True], [True, True], [False, False], [False, False]]
    >>> (attacks.bavaria([3.0, 0.5], references, member) > 0).tolist()
    [True, False]
    """
    phi = as_float64("target", target, 1)
    references = as_references("reference", reference, phi.size)
    one_of("mode", mode, ("online", "offline"))
    one_of("predictive", predictive, ("t", "normal"))
    if mode == "online" and reference_member is None:
        raise InputError('reference_member is None; give it, or mode="offline"')
    references, inside = sided(references, reference_member)
    out = _fit(references, ~inside, "OUT")
    if mode == "offline":
        return out.surprise(phi, predictive)
    require_models(inside, "IN", 1)
    member = _fit(references, inside, "IN")
    return member.log_density(phi, predictive) - out.log_density(phi, predictive)


def _fit(phi: FloatArray, chosen: BoolArray, side: str) -> _Predictive:
    of = side_of(phi, chosen)
    varied = of.squares > 0
    if varied.sum() < 2:
        raise InputError(
            f"reference has {varied.sum()} records on which two {side} models differ, too few for "
            "a law of variances; give more models or records"
        )
    degrees = (of.count - 1).astype(float)
    prior_degrees, prior = prior_of_variances(of.squares[varied] / degrees[varied], degrees[varied])
    total = prior_degrees + degrees
    if np.isinf(prior_degrees):
        return _Predictive(of.mean, np.full(of.count.size, prior), total, of.count)
    variance = (prior_degrees * prior + of.squares) / total
    return _Predictive(of.mean, variance, total, of.count)


def prior_of_variances(variance: FloatArray, degrees: FloatArray) -> tuple[float, float]:
    """The scaled inverse chi-squared law that variances were drawn from: (degrees, scale).

    By the mean and the variance of their logarithms (Smyth 2004, Section 6.2). Where these vary no
    more than estimates of one variance do, the degrees are infinite.
    """
    log = np.log(variance) - special.digamma(degrees / 2) + np.log(degrees / 2)
    excess = log.var(ddof=1) - special.polygamma(1, degrees / 2).mean()
    if excess <= special.polygamma(1, SHAPES[1]):
        return np.inf, float(np.exp(log.mean()))
    if excess >= special.polygamma(1, SHAPES[0]):
        shape = SHAPES[0]
    else:
        shape = np.exp(
            scipy.optimize.brentq(
                lambda x: np.log(special.polygamma(1, np.exp(x)) / excess), *np.log(SHAPES)
            )
        )
    return 2 * float(shape), float(np.exp(log.mean() + special.digamma(shape) - np.log(shape)))


def bavaria_score(seen: Observed, mode: str, predictive: str) -> FloatArray:
    reference, member = seen[REFERENCES[0]], seen[REFERENCES[1]]
    return bavaria(seen["log_odds"], reference, member, mode, predictive=predictive)


_bavaria = partial(
    Attack,
    function=bavaria,
    needs=("log_odds", *REFERENCES),
    knowledge=("losses", "reference models"),
    paper="brannvall2026",
    term="BaVarIA",
)
declare(
    _bavaria(
        name="bavaria",
        display="BaVarIA-t",
        references=BOTH,
        equation="Student's t, online",
        score=lambda seen: bavaria_score(seen, "online", "t"),
    ),
    _bavaria(
        name="bavaria-normal",
        display="BaVarIA-n",
        references=BOTH,
        equation="normal, online",
        score=lambda seen: bavaria_score(seen, "online", "normal"),
    ),
    _bavaria(
        name="bavaria-offline",
        display="BaVarIA-t offline",
        references=OUT,
        equation="Student's t, offline",
        score=lambda seen: bavaria_score(seen, "offline", "t"),
    ),
)
