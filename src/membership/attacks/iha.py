r"""The inverse Hessian attack (Suri, Zhang and Evans 2024, Theorem 3.2 and Equation 8).

SGD near a minimum :math:`w_*` ends in a Gaussian cloud around it. Whether a record was trained on
moves :math:`w_*`, and the log-likelihood ratio of the two clouds at the released parameters is, up
to a positive factor,

.. math:: \mathrm{IHA}(z) = \frac{\ell}{1+\mu} - \frac{1}{\lambda}(I_1 + I_2 + I_3 + I_4).

With :math:`u = H^{-1} g`, :math:`u_0 = H^{-1}\nabla L_0`,
:math:`s_1 = 1 - \lambda\alpha/(1+\mu)` and :math:`s_2 = 2 - \lambda\alpha/(1+\mu)`:

.. math:: I_1 = \tfrac{s_1}{n}\|u\|^2,\quad I_2 = 2 s_1 u_0^\top u,\quad
   I_3 = \tfrac{\alpha s_2}{2n} u^\top H^{-1} u,\quad I_4 = \alpha s_2 u_0^\top H^{-1} u.

**The regularised stationarity condition.** The paper's proof puts
:math:`\nabla L(w) = H (w - w_*)`, but with weight decay :math:`w_*` minimises
:math:`L + \tfrac{\alpha}{2}\|w\|^2`, so that :math:`R := \nabla L(w) + \alpha w = K (w - w_*)` with
:math:`K = H + \alpha I`. The cloud's precision (paper's Equation 10 without its term of order
:math:`\alpha^2`) is proportional to :math:`(2 I - \tfrac{\lambda}{1+\mu} K) K H^{-1}`. With
:math:`\delta = w - w_* = K^{-1} R` and :math:`K H^{-1} = I + \alpha H^{-1}`,

.. math:: \delta^\top (2 I - \tfrac{\lambda}{1+\mu} K) K H^{-1} \delta
   = s_2 \|\delta\|^2 + \alpha s_2\, \delta^\top H^{-1} \delta
   - \tfrac{\lambda}{1+\mu}\, \delta^\top K \delta ,

and :math:`\tfrac12 \delta^\top K \delta` is the regularised loss above its minimum. With equal
minima in the two worlds (the paper's Assumption 3, here for the regularised loss) it differs
between them by :math:`\ell/n`, and R by :math:`g/n`. What is left is the same score with
:math:`u = K^{-1} g`, :math:`u_0 = K^{-1} R_0` and :math:`s_2 / 2` in the place of :math:`s_1`.
IHA's chapter shows it to be the exact log-likelihood ratio on a quadratic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from torch import nn

from membership.arrays import FloatArray, as_bool, as_float64, from_zero, one_of
from membership.attacks.adversary import Observed, loss_of
from membership.attacks.forms import (
    KNOWLEDGE,
    STATIONARITIES,
    against_rest,
    check_marks,
    forms_of,
    reader,
    removal,
)
from membership.attacks.registry import Attack, declare
from membership.curvature.eigen import Spectrum
from membership.curvature.gradients import views
from membership.curvature.inverse import Inversion
from membership.curvature.objective import Loss, objective, pair
from membership.curvature.suitable import Parameters
from membership.errors import InputError


@dataclass(frozen=True)
class IHAScore:
    r"""The score and its parts, each of shape (records,).

    Attributes
    ----------
    score : numpy.ndarray
        :math:`\ell/(1+\mu) - (I_1 + I_2 + I_3 + I_4)/\lambda`; higher means member.
    loss : numpy.ndarray
        :math:`\ell`.
    i1, i2, i3, i4 : numpy.ndarray
        The paper's terms, as numbered there.
    residual : numpy.ndarray
        Relative residual of the system solved for each record; 0 for an exact inverse.
    damping : float, optional
        What was added to the eigenvalues, or their threshold; None of forms gathered before.
    """

    score: FloatArray
    loss: FloatArray
    i1: FloatArray
    i2: FloatArray
    i3: FloatArray
    i4: FloatArray
    residual: FloatArray
    damping: float | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """The score, so that NumPy and `membership.metrics` take the whole for it."""
        return np.array(self.score, dtype=dtype, copy=copy)


def iha(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    query_member: Any,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    damping: float | Literal["least"] = 0.2,
    conditioning: str = "damping",
    solver: str = "exact",
    convention: str = "paper",
    *,
    stationarity: str = "published",
    knowledge: str = "leave-one-out",
    spectrum: Spectrum | None = None,
    tolerance: float = 1e-6,
    matrix: str = "hessian",
    parameters: Parameters = None,
    batch_size: int | None = None,
) -> IHAScore:
    r"""Score records by the inverse Hessian attack.

    The adversary has the parameters, the training recipe and **all other training records**; see
    `knowledge` for what the membership bit is read for.

    Parameters
    ----------
    model : nn.Module
        The target model.
    loss : callable
        ``loss(output, y)`` gives one value a record, twice differentiable.
    train, query : (x, y)
        All n training records, and the records to query.
    query_member : array_like of bool, shape (records,)
        Which queried records are training records. Equal records of `train` are looked for where
        the mark is read.
    learning_rate : float
        :math:`\lambda > 0`.
    momentum : float
        :math:`0 \le \mu < 1`.
    weight_decay : float
        :math:`\alpha \ge 0`, of :math:`\frac{\alpha}{2}\|w\|^2`.
    damping : float or "least"
        :math:`\epsilon \ge 0`, added to the eigenvalues or the threshold of the low rank. "least"
        is the rule of `membership.curvature.least_damping`; `IHAScore.damping` says its number.
    conditioning : {"damping", "low-rank"}
        See `membership.curvature.conditioned_inverse`.
    solver : {"exact", "cg", "kfac", "ekfac"}
        One Cholesky factor (two for the regularised condition, an eigendecomposition for low
        rank), or conjugate gradients for many records at once; "cg" damps. Of networks with
        :math:`10^5` to :math:`10^7` weights the Kronecker factors of each layer stand for the
        Gauss-Newton matrix, in one look at the records ("kfac") or with eigenvalues corrected in
        a second ("ekfac").
    convention : {"paper", "authors"}
        "authors" is what the released code computes where it differs: members' gradient over the
        others is :math:`(n\nabla L_1 - g)/(n-1)`, and low rank goes by :math:`|\sigma|`.
    stationarity : {"published", "regularised"}
        "regularised" keeps the weight decay in the stationarity condition; not in the paper (see
        `membership.attacks.iha`).
    knowledge : {"leave-one-out", "everyone", "everyone-less-own"}
        "leave-one-out": the truth, :math:`\nabla L_1 - g/n` for a member and
        :math:`\nabla L_1` for others. **This reads the membership bit**: an adversary who knows
        all other records can compute it without the bit, a program that only has the model's
        training set cannot. The two controls take it the same way for every record:
        "everyone" :math:`\nabla L_1`, "everyone-less-own" :math:`\nabla L_1 - g/n`.
    spectrum : Spectrum, optional
        Of the Hessian over the training records, for solver "exact": with one at hand any number
        of dampings cost little.
    tolerance : float
        Relative error of the terms that conjugate gradients aim at, above 0 and below 1; systems
        are solved to its square root, because errors enter the terms by products of two.
    matrix : {"hessian", "ggn"}
        The paper's Hessian, whose least eigenvalue is below minus the paper's damping in many
        trained networks, or the Gauss-Newton matrix (`membership.curvature.ggn`), which has none
        below 0. It is another attack than the paper's: another score.
    parameters : names or predicate, optional
        Of a part of the model alone: see `membership.curvature.per_record_gradients`.
    batch_size : int, optional
        The most records that the model is asked about at a time: fewer take less memory. It is
        asked where it lies; ``model.to("cuda")`` has all work done there.

    Returns
    -------
    IHAScore

    Raises
    ------
    InputError
        A parameter is out of range, the mask is of another length or contradicts `train`, the
        damped Hessian is not positive definite, the model or the loss will not do, or the memory
        is too little.
    RunError
        Conjugate gradients did not reach the tolerance.

    Warnings
    --------
    Rank by the score, and do not read it as a probability. The paper has it that the score can be
    used as one; with a factor it would be the log-odds of a member, but those are far too small at
    the paper's damping, and far too large without any (exhibit iha-ctl-26).

    Examples
    --------
    >>> import torch
    >>> from membership import attacks
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Linear(2, 2)
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> train = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1, 1])
    >>> query = torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 0])
    >>> score = attacks.iha(
    ...     model, cross_entropy, train, query, [True, False],
    ...     learning_rate=0.1, momentum=0.9, weight_decay=5e-4,
    ... )
    >>> score.score.shape, score.i1.shape
    ((2,), (2,))
    """
    recipe = (learning_rate, momentum, weight_decay)
    check_recipe(*recipe)
    inversion = Inversion(damping, conditioning, convention, solver, spectrum, tolerance, matrix)
    one_of("stationarity", stationarity, STATIONARITIES)
    one_of("knowledge", knowledge, KNOWLEDGE)
    goal = objective(model, loss, *pair("train", train), parameters, matrix, batch_size)
    train, query = goal.records(*train), goal.queried(query)
    member = as_bool("query_member", query_member, (len(query[0]),))
    check_marks(train, query, member, knowledge)

    shift = weight_decay if stationarity == "regularised" else 0.0
    inverted = inversion.of(goal, train, len(member), shift)
    read = views(goal, train, query, inverted.basis)
    (forms,) = forms_of(read, [inverted.inverse], weight_decay)
    found = iha_from_forms(
        forms,
        forms["loss"],
        member,
        len(train[0]),
        *recipe,
        stationarity=stationarity,
        knowledge=knowledge,
        convention=convention,
    )
    left = forms.get("residual", found.residual)
    return replace(found, residual=left, damping=inverted.damping)


def iha_from_forms(
    forms: Mapping[str, Any],
    loss: Any,
    member: Any,
    n_train: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    *,
    stationarity: str = "published",
    knowledge: str = "leave-one-out",
    convention: str = "paper",
) -> IHAScore:
    """As `iha`, from forms that were gathered before.

    Parameters
    ----------
    forms : mapping of str to array of shape (records,)
        `quadratic_forms`, of the same stationarity.
    loss : array of shape (records,)
    member : bool array of shape (records,)
        Which records are training records; read as `knowledge` says.
    n_train : int
        Training records, 2 or more.
    learning_rate, momentum, weight_decay, stationarity, knowledge, convention
        As for `iha`.

    Returns
    -------
    IHAScore

    Raises
    ------
    InputError
        A form is missing, shapes disagree, entries are not finite, or as `iha`.
    """
    check_recipe(learning_rate, momentum, weight_decay)
    one_of("stationarity", stationarity, STATIONARITIES)
    loss = as_float64("loss", loss, 1)
    read = reader(forms, loss.shape)
    scale, own = removal(as_bool("member", member, loss.shape), n_train, knowledge, convention)

    def others(order: str) -> FloatArray:
        """g against the gradient over the others."""
        if stationarity == "regularised":
            return own * read("own" + order) + against_rest(read, order, scale)
        return own * read("own" + order) + scale * read("mean" + order)

    quadratic = (read("own2"), others("2"), read("own3"), others("3"))
    recipe = (learning_rate, momentum, weight_decay)
    return iha_terms(*quadratic, loss, n_train, *recipe, stationarity)


def iha_terms(
    own2: FloatArray,
    others2: FloatArray,
    own3: FloatArray,
    others3: FloatArray,
    loss: FloatArray,
    n_train: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    stationarity: str = "published",
) -> IHAScore:
    r"""The four terms and the score, from quadratic forms; parameters as for `iha`.

    own2 is :math:`g^\top P^2 g`, own3 :math:`g^\top P P' P g`, others2 and others3 the same with
    the gradient over the others on the left.
    """
    step = learning_rate * weight_decay / (1.0 + momentum)
    s1 = 1.0 - step if stationarity == "published" else 1.0 - step / 2.0
    s2 = 2.0 - step
    i1 = s1 / n_train * own2
    i2 = 2.0 * s1 * others2
    i3 = weight_decay * s2 / (2.0 * n_train) * own3
    i4 = weight_decay * s2 * others3
    score = loss / (1.0 + momentum) - (i1 + i2 + i3 + i4) / learning_rate
    return IHAScore(score, loss, i1, i2, i3, i4, np.zeros_like(score))


def iha_at(
    w: FloatArray,
    loss: FloatArray,
    gradient: FloatArray,
    others: FloatArray,
    hessian: FloatArray,
    n_train: int,
    recipe: tuple[float, float, float],
    stationarity: str = "published",
    damping: float = 0.0,
) -> FloatArray:
    """The score of `iha_terms` at each w of shape (draws, p), with that w's loss and gradients."""
    decay = recipe[2] if stationarity == "regularised" else 0.0
    one = np.eye(hessian.shape[-1])
    inverse = np.linalg.inv(hessian + (decay + damping) * one)
    between = np.linalg.inv(hessian + damping * one)
    u, u0 = _solved(inverse, gradient), _solved(inverse, others + decay * w)
    products = [np.sum(a * b, axis=1) for b in (u, _solved(between, u)) for a in (u, u0)]
    return iha_terms(*products, loss, n_train, *recipe, stationarity).score


def _solved(inverse: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.matmul(inverse, vectors[..., None])[..., 0]


def check_recipe(learning_rate: float, momentum: float, weight_decay: float) -> None:
    """Raise an InputError unless these are a recipe of SGD."""
    if not 0 < learning_rate < float("inf"):
        raise InputError(f"learning_rate = {learning_rate!r}: expected a number above 0")
    if not 0 <= momentum < 1:
        raise InputError(f"momentum = {momentum!r}: expected a number from 0 up, below 1")
    from_zero("weight_decay", weight_decay)


def _declared(stationarity: str, others: str, **words: str) -> Attack:
    """An entry of the registry, with the forms that it reads."""

    def score(seen: Observed) -> FloatArray:
        recipe = (seen.setting(name) for name in ("learning_rate", "momentum", "weight_decay"))
        forms, n_train = seen.form(stationarity), seen.setting("members")
        how = {"stationarity": stationarity}
        return iha_from_forms(forms, loss_of(seen), seen.member, n_train, *recipe, **how).score

    terms = ("own2", "own3", f"{others}2", f"{others}3")
    return Attack(
        function=iha,
        needs=("loss|log_odds", *(f"form.{stationarity}.{term}" for term in terms)),
        knowledge=("losses", "weights", "recipe", "all other records"),
        references="none",
        paper="suri2024",
        score=score,
        **words,
    )


declare(
    _declared("published", "mean", name="iha", display="IHA", equation="Equation 8"),
    _declared(
        "regularised",
        "rest",
        name="iha-star",
        display="IHA*",
        equation="Equation 8, with the weight decay in the stationarity",
        term="IHA\\*",
    ),
)
