"""Bayes-optimal membership inference and its approximations (Sablayrolles et al. 2019).

With training as in the paper's Equation 2, P(theta) proportional to exp(-sum of losses / T), the
best attack compares a record's loss l(theta, z) with a threshold of its own,

    tau(z) = -T log E exp(-l(t, z) / T),   t ~ models that have not seen z   (Equation 14),

and scores s = (tau(z) - l(theta, z)) / T (Equation 15). Each attack here puts something simpler
in the place of tau. Equation 29 prints tau without its factor -T; Equations 30, 34 and 35 hold
only with it, and so do the functions below.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit, logsumexp

from membership.arrays import LARGEST, BoolArray, FloatArray, as_bool, as_float64
from membership.attacks.adversary import REFERENCES, Observed, loss_of
from membership.attacks.references import as_references, require_models, sided
from membership.attacks.registry import BOTH, OUT, Attack, declare
from membership.errors import InputError


def zero_one(target_correct: Any) -> FloatArray:
    """Score a record by whether the target model classifies it correctly.

    The adversary knows the label and the target model's decision. Baseline of Section 5.1
    (Yeom et al. 2018); at a threshold of 1/2 its accuracy is Equation 41.

    Parameters
    ----------
    target_correct : bool array of shape (records,)

    Returns
    -------
    ndarray of shape (records,)
        1 where correct, else 0.

    Raises
    ------
    InputError
        Not one axis, or entries other than false and true.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.zero_one([True, False]).tolist()
    [1.0, 0.0]
    """
    correct = as_float64("target_correct", target_correct, 1)
    return as_bool("target_correct", correct, correct.shape).astype(np.float64)


def malt(target_loss: Any) -> FloatArray:
    """Score a record by its loss: one threshold for all (MALT, Equation 31).

    The adversary knows the label and the target model's loss. The constant tau is left out: it
    shifts every score alike.

    Parameters
    ----------
    target_loss : array of shape (records,)
        l(theta, z), finite.

    Returns
    -------
    ndarray of shape (records,)
        -l(theta, z).

    Raises
    ------
    InputError
        Not one axis, or entries that are not finite.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.malt([0.1, 2.0]).tolist()
    [-0.1, -2.0]
    """
    return -as_float64("target_loss", target_loss, 1)


def loss(target_loss: Any) -> FloatArray:
    """Score a record by its loss: LOSS, which is `malt` under the name that later papers use.

    Parameters
    ----------
    target_loss : array of shape (records,)
        Finite, as `membership.signals.loss` gives it for one model.

    Returns
    -------
    ndarray of shape (records,)
        Minus the loss.

    Raises
    ------
    InputError
        Not one axis, or entries that are not finite.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.loss([0.1, 2.0]).tolist()
    [-0.1, -2.0]
    """
    return malt(target_loss)


def mast(
    target_loss: Any,
    reference_loss: Any,
    tau: str = "log-mean-exp",
    reference_member: Any = None,
    temperature: float = 1.0,
) -> FloatArray:
    """Score a record by its loss below a threshold of its own (MAST, Equation 30).

    The adversary knows the label, the target model's loss, and the losses of reference models
    trained on data of the same kind.

    Parameters
    ----------
    target_loss : array of shape (records,)
        l(theta, z), finite.
    reference_loss : array of shape (models, records)
        The same loss under each reference model, finite.
    tau : {"log-mean-exp", "mean", "best-separating"}
        The paper gives three definitions of tau(z).
        "log-mean-exp": -T log mean exp(-l / T) over OUT models, Equation 14 (29 with its sign).
        "mean": the average loss over OUT models, Section 5.3; never below the former (Jensen).
        "best-separating": the value that best separates the record's losses under IN models
        (below) from those under OUT models (above), Section 6.3: halfway between two neighbouring
        losses, at the highest share of IN minus share of OUT below; the lowest of equally good
        ones, against the attacker. The adversary trains on the queried record for this one.
    reference_member : bool array of shape (models, records), optional
        Which reference model was trained on which record (IN). None: all models are OUT. Where the
        numbers of IN models differ by one in all, each record does without one model of the side
        that has more; see the notes of `lira`.
    temperature : float
        T > 0, in the unit of the loss; used by "log-mean-exp" alone.

    Returns
    -------
    ndarray of shape (records,)
        tau(z) - l(theta, z), in the unit of the loss. Equation 15 divides by T, which changes
        no ranking.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, T is not positive, a record lacks an OUT model
        (or, for "best-separating", an IN model), or `tau` is none of the three.

    Examples
    --------
    >>> from membership import attacks
    >>> references = [[1.0, 2.0], [1.5, 2.5]]
    >>> attacks.mast([0.25, 2.5], references, tau="mean").tolist()
    [1.0, -0.25]
    """
    loss = as_float64("target_loss", target_loss, 1)
    references = as_references("reference_loss", reference_loss, loss.size)
    references, inside = sided(references, reference_member)
    if tau == "log-mean-exp":
        return _log_mean_exp(references, ~inside, temperature) - loss
    if tau == "mean":
        return references.mean(axis=0, where=~inside) - loss
    if tau == "best-separating":
        require_models(inside, "IN", 1)
        return _best_separating(references, inside) - loss
    raise InputError(f'tau is {tau!r}; give "log-mean-exp", "mean" or "best-separating"')


def matt(
    theta: Any, theta0: Any, gradient: Any, hessian: Any = None, leverage: Any = None
) -> FloatArray:
    """Score a record by how far training moved against its gradient (MATT, Equation 40).

    The adversary knows the target model's parameters (white box) and those of one model trained
    without the record, and that both lie around the same minimum, as in convex problems.

    The score is the linear part of l(theta0, z) - l(theta, z), so MAST with one reference model
    to first order; where l is convex it is never below that difference.

    The second-order term of Equation 39 follows from one Newton step from theta0 on the loss with
    z added, theta1 - theta0 = -H1^-1 g, in the log-ratio of Equation 37 with H = H1. That
    gives -(theta - theta0)'g - g'H1^-1 g / 2. The paper takes H1 for H0, the Hessian without
    z. With a loss of the form f(x'theta), as in logistic regression, H1 = H0 + w x x' with
    w = f'' and g is parallel to x, so that by Sherman and Morrison
    g'H1^-1 g = g'H0^-1 g / (1 + h), with h = w x'H0^-1 x the leverage of the record.

    Parameters
    ----------
    theta, theta0 : array of shape (p,)
        Parameters of the target model, and of the model trained on a separate set.
    gradient : array of shape (records, p)
        g, the gradient of each record's own loss, without regulariser, at theta0.
    hessian : array of shape (p, p), optional
        H0, the Hessian at theta0 of the *summed* training loss, regulariser included; positive
        definite. Given, the term -g'H0^-1 g / 2 of Equation 39 is added.
    leverage : array of shape (records,), optional
        h >= 0, which turns the term into -g'H0^-1 g / (2 (1 + h)). Needs `hessian`.

    Returns
    -------
    ndarray of shape (records,)
        With `hessian`, an approximate log-likelihood ratio at T = 1.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, the Hessian is not positive definite, a leverage
        is negative or comes without a Hessian.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.matt([0.5, 0.0], [0.0, 0.0], gradient=[[-1.0, 0.0], [1.0, 0.0]]).tolist()
    [0.5, -0.5]
    """
    theta = as_float64("theta", theta, 1)
    theta0 = as_float64("theta0", theta0, 1)
    gradient = as_float64("gradient", gradient, 2)
    _require_shape("theta0", theta0, theta.shape)
    _require_shape("gradient", gradient, (len(gradient), theta.size))
    score = gradient @ (theta0 - theta)
    if hessian is None and leverage is None:
        return score
    if hessian is None:
        raise InputError("leverage is given without hessian; give both or neither")
    hessian = as_float64("hessian", hessian, 2)
    _require_shape("hessian", hessian, (theta.size, theta.size))
    second = _quadratic_form(hessian, gradient) / 2
    if leverage is None:
        return score - second
    return score - second / (1 + _checked_leverage(leverage, score.shape))


def matt_from_log_odds(
    log_odds: Any, reference_log_odds: Any, leverage: Any = None, newton: bool = True
) -> FloatArray:
    r"""`matt` of a model that is linear in its parameters, from what it answers.

    With :math:`\ell = \log(1 + e^{-f})` and f linear in the parameters, the gradient at theta0 is
    :math:`-\sigma(-f_0)` times that of f, so that Equation 40 is :math:`\sigma(-f_0)(f - f_0)`, and
    :math:`g^\top H_0^{-1} g = e^{-f_0} h`.

    Parameters
    ----------
    log_odds, reference_log_odds : array of shape (records,)
        f and :math:`f_0`, the log-odds of the label at theta and at theta0.
    leverage : array of shape (records,), optional
        h >= 0 at theta0; given, the second-order term of Equation 39 is added.
    newton : bool
        Whether that term is divided by 1 + h, as a Newton step on the loss with z has it.

    Returns
    -------
    ndarray of shape (records,)

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, or a leverage is negative.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.matt_from_log_odds([2.0, 0.5], [0.0, 0.0]).tolist()
    [1.0, 0.25]
    """
    f, start = as_float64("log_odds", log_odds, 1), reference_log_odds
    start = as_float64("reference_log_odds", start, 1)
    _require_shape("reference_log_odds", start, f.shape)
    first = expit(-start) * (f - start)
    if leverage is None:
        return first
    h = _checked_leverage(leverage, f.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        second = np.exp(-start) * h / (2 * (1 + h if newton else 1))
    if not np.isfinite(second).all():
        raise InputError(
            f"reference_log_odds is as low as {start.min():.3g}, where a step of Newton's has no "
            "length; leave those records out, or give no leverage"
        )
    return first - second


def _log_mean_exp(loss: FloatArray, out: BoolArray, temperature: float) -> FloatArray:
    if not 1e-75 <= temperature <= LARGEST:
        raise InputError(
            f"temperature is {temperature}; give a finite number above 0, 1e-75 or more"
        )
    total = logsumexp(-loss / temperature, axis=0, b=out)
    return temperature * (np.log(out.sum(axis=0)) - total)


def _best_separating(loss: FloatArray, inside: BoolArray) -> FloatArray:
    """Per record, the midpoint of sorted losses with most IN below it and most OUT above."""
    order = np.argsort(loss, axis=0)
    loss = np.take_along_axis(loss, order, axis=0)
    inside = np.take_along_axis(inside, order, axis=0)
    n_in, n_out = inside.sum(axis=0), (~inside).sum(axis=0)
    # In whole models, so that equally good thresholds compare as equal.
    gain = np.cumsum(inside, axis=0) * n_out - np.cumsum(~inside, axis=0) * n_in
    # Nothing passes between equal losses. Where all are equal, that loss itself remains.
    gain = np.where(loss[:-1] < loss[1:], gain[:-1], -np.inf)
    best = np.argmax(gain, axis=0)[None]
    below, above = (np.take_along_axis(loss, best + step, axis=0)[0] for step in (0, 1))
    return (below + above) / 2


def _quadratic_form(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """g'H^-1 g for each row g."""
    try:
        factor = cho_factor(hessian, lower=True)
    except LinAlgError:
        raise InputError(
            "hessian is not positive definite; give that of the summed loss with its regulariser"
        ) from None
    form = np.einsum("ij,ji->i", gradient, cho_solve(factor, gradient.T))
    if not np.isfinite(form).all():
        raise InputError(
            "hessian is as good as singular; give that of the summed loss with its regulariser"
        )
    return form


def _checked_leverage(leverage: Any, shape: tuple[int, ...]) -> FloatArray:
    leverage = as_float64("leverage", leverage, 1)
    _require_shape("leverage", leverage, shape)
    if (leverage < 0).any():
        raise InputError(f"leverage is as low as {leverage.min()}; give values of 0 or more")
    return leverage


def _require_shape(name: str, array: FloatArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; give {shape}")


def mast_score(seen: Observed, tau: str) -> FloatArray:
    """MAST of the loss that is seen, by a statistic of the references' losses."""
    references = loss_of(seen, "references.log_odds")
    return mast(loss_of(seen), references, tau, seen["references.member"])


def _matt(seen: Observed, newton: bool | None = None) -> FloatArray:
    if newton is None and "step_product" in seen.arrays:
        return seen["step_product"]
    leverage = None if newton is None else seen["leverage"]
    return matt_from_log_odds(seen["log_odds"], seen["reference_log_odds"], leverage, bool(newton))


declare(
    Attack(
        name="loss",
        display="LOSS",
        function=malt,
        needs=("loss|log_odds",),
        knowledge=("losses",),
        references="none",
        paper="sablayrolles2019",
        equation="Equation 31",
        score=lambda seen: malt(loss_of(seen)),
        term="MALT",
    ),
    Attack(
        name="zero-one",
        display="0-1",
        function=zero_one,
        needs=("correct",),
        knowledge=("outputs",),
        references="none",
        paper="yeom2018",
        equation="Section 5.1 of Sablayrolles et al. 2019",
        score=lambda seen: zero_one(seen["correct"]),
        term="0\u20131 attack",
    ),
)

_mast = partial(
    Attack,
    function=mast,
    needs=("log_odds", *REFERENCES),
    knowledge=("losses", "reference models"),
    paper="sablayrolles2019",
    term="MAST",
)
declare(
    _mast(
        name="mast",
        display="MAST",
        references=OUT,
        equation="Equation 30",
        score=lambda seen: mast_score(seen, "log-mean-exp"),
    ),
    _mast(
        name="mast-best",
        display="MAST, best-separating",
        references=BOTH,
        equation="Section 6.3",
        score=lambda seen: mast_score(seen, "best-separating"),
    ),
)

_matt_attack = partial(
    Attack,
    knowledge=("weights", "reference models"),
    references=OUT,
    paper="sablayrolles2019",
    term="MATT",
    single_reference=True,
)
_LINEAR = ("log_odds", "reference_log_odds", "leverage")
declare(
    _matt_attack(
        name="matt",
        display="MATT",
        function=matt,
        needs=("log_odds", "reference_log_odds|step_product"),
        equation="Equation 40",
        score=_matt,
    ),
    _matt_attack(
        name="matt-second",
        display="MATT, second order",
        function=matt_from_log_odds,
        needs=_LINEAR,
        equation="Equation 39",
        score=lambda seen: _matt(seen, newton=False),
    ),
    _matt_attack(
        name="matt-newton",
        display="MATT, Newton step",
        function=matt_from_log_odds,
        needs=_LINEAR,
        equation="Equation 39",
        score=lambda seen: _matt(seen, newton=True),
    ),
)
