r"""The quadratic forms of gradients that white-box scores are made of; self-influence is one.

With P the conditioned inverse that stands for :math:`H^{-1}` (or, regularised, for
:math:`(H + \alpha I)^{-1}`), P' that of :math:`H^{-1}`, g a record's gradient,
:math:`\nabla L_1` that of the mean training loss and :math:`\alpha w` that of the weight decay:

* own1: :math:`g^\top P g`; own2: :math:`g^\top P^2 g`; own3: :math:`g^\top P P' P g`;
* mean2, mean3: as own2 and own3 with :math:`\nabla L_1` for the last g;
* rest2, rest3: with :math:`R = \nabla L_1 + \alpha w` for it, where the two nearly cancel.

A record's own part and the mean's are kept apart: whether g is to be taken out of the mean is
decided when scoring, where membership enters. As an adversary may know it, the gradient over the
other records is :math:`\nabla L_0 = \text{scale} \cdot \nabla L_1 + \text{own} \cdot g`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from membership.arrays import BoolArray, FloatArray, as_float64, one_of
from membership.attacks.registry import Attack, declare
from membership.curvature.eigen import CONVENTIONS, Spectrum
from membership.curvature.gradients import WhiteBoxView, views
from membership.curvature.inverse import Inverse, Inversion, eigenvalues, identity
from membership.curvature.objective import Loss, objective, pair
from membership.curvature.suitable import Parameters
from membership.errors import InputError

TERMS = ("own1", "own2", "own3", "mean2", "mean3", "rest2", "rest3")
IDENTITY = "identity"
KNOWLEDGE = ("leave-one-out", "everyone", "everyone-less-own")
STATIONARITIES = ("published", "regularised")

Forms = dict[str, FloatArray]


def quadratic_forms(
    view: WhiteBoxView,
    values: FloatArray | None,
    weight_decay: float,
    conditioning: str = "damping",
    damping: float = 0.2,
    stationarity: str = "published",
    convention: str = "paper",
) -> Forms:
    """The forms of records whose gradients have been read, by the names of `TERMS`.

    Parameters
    ----------
    view : WhiteBoxView
        In the eigenbasis of the Hessian.
    values : numpy.ndarray, shape (p,)
        Its eigenvalues; None will do with "identity".
    weight_decay : float
        0 or more.
    conditioning : {"damping", "low-rank", "identity"}
        "identity" puts the identity in the place of every inverse, a control; in any basis.
    damping : float
        As for `iha`; not used with "identity".
    stationarity : {"published", "regularised"}
        As for `iha`.
    convention : {"paper", "authors"}
        As for `iha`.

    Returns
    -------
    dict of str to numpy.ndarray of shape (records,)

    Raises
    ------
    InputError
        As `iha`.
    """
    one_of("stationarity", stationarity, STATIONARITIES)
    if conditioning == IDENTITY:
        inverse = identity(len(view.mean_gradient))
    else:
        shift = weight_decay if stationarity == "regularised" else 0.0
        inverse = eigenvalues(values, damping, conditioning, convention, shift)
    (forms,) = forms_of([view], [inverse], weight_decay)
    return {name: forms[name] for name in TERMS}


def forms_of(
    views: Iterable[WhiteBoxView], inverses: Sequence[Inverse], weight_decay: float
) -> list[Forms]:
    """The forms of one model's queried records, block by block, with each of some inverses.

    Besides `TERMS` the record's ``loss``, and the ``residual`` of a system that is solved to a
    tolerance. What multiplies a gradient is solved for once.
    """
    against: list[FloatArray] = []
    blocks: list[list[Forms]] = [[] for _ in inverses]
    for view in views:
        against = against or [_against(view, one, weight_decay) for one in inverses]
        for inverse, vectors, forms in zip(inverses, against, blocks, strict=True):
            crossed = zip(TERMS[3:], (view.gradient @ vectors.T).T, strict=True)
            forms.append({**inverse.own(view.gradient), **dict(crossed), "loss": view.loss})
    return [
        {name: np.concatenate([block[name] for block in forms]) for name in forms[0]}
        for forms in blocks
    ]


def _against(view: WhiteBoxView, inverse: Inverse, weight_decay: float) -> FloatArray:
    """Rows that a gradient is multiplied with for mean2, mean3, rest2 and rest3."""
    rest = view.mean_gradient + weight_decay * view.weight
    first = inverse.solve(np.stack([view.mean_gradient, rest]))
    squared, cubed = inverse.solve(first), inverse.solve(inverse.between(first))
    return np.stack([squared[0], cubed[0], squared[1], cubed[1]])


def reader(forms: Mapping[str, Any], shape: tuple[int, ...]) -> Callable[[str], FloatArray]:
    """Forms by name, each checked as it is read."""

    def read(name: str) -> FloatArray:
        if name not in forms:
            raise InputError(f"forms: {name} is missing; there are {', '.join(map(str, forms))}")
        form = as_float64(f"form {name}", forms[name], 1)
        if form.shape != shape:
            raise InputError(f"form {name} has shape {form.shape}; give {shape}")
        return form

    return read


def against_rest(read: Callable[[str], FloatArray], order: str, scale: FloatArray) -> FloatArray:
    """g against R, in which the mean gradient counts `scale` times."""
    rest = read("rest" + order)
    return rest if (scale == 1).all() else rest + (scale - 1) * read("mean" + order)


def removal(
    member: BoolArray, n_train: int, knowledge: str, convention: str
) -> tuple[FloatArray, FloatArray]:
    """Scale and own part of each queried record; choices and errors as `iha`."""
    one_of("knowledge", knowledge, KNOWLEDGE)
    one_of("convention", convention, CONVENTIONS)
    without = member
    if knowledge != "leave-one-out":
        without = np.full(member.shape, knowledge == "everyone-less-own")
    scale, own = 1.0, -1.0 / n_train
    if convention == "authors":
        scale, own = n_train / max(n_train - 1, 1), -1.0 / max(n_train - 1, 1)
    return np.where(without, scale, 1.0), np.where(without, own, 0.0)


def check_marks(train: tuple, query: tuple, member: BoolArray, knowledge: str) -> None:
    """Refuse marks that the training records contradict, where the mark is read.

    A member occurs among the training records; another record does not, unless as a copy of one
    that is queried as a member.
    """
    if knowledge != "leave-one-out":
        return
    trained, queried = Counter(_digests(*train)), _digests(*query)
    marked = Counter(key for key, mark in zip(queried, member, strict=True) if mark)
    for index, (key, mark) in enumerate(zip(queried, member, strict=True)):
        if mark and not trained[key]:
            raise InputError(
                f"query_member: record {index} of query is marked as a member, and none of the "
                f"{len(train[0])} records of train equals it"
            )
        if not mark and trained[key] > marked[key]:
            raise InputError(
                f"query_member: record {index} of query is marked as no member, and a record of "
                "train equals it"
            )


def _digests(x: torch.Tensor, y: torch.Tensor) -> list[bytes]:
    """A digest a record; single precision, in which one of the two may have been stored."""
    return [
        blake2b(b"".join((part.float() + 0.0).cpu().numpy().tobytes() for part in row)).digest()
        for row in zip(x, y, strict=True)
    ]


def sif(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    damping: float | Literal["least"] = 0.2,
    conditioning: str = "damping",
    solver: str = "exact",
    convention: str = "paper",
    *,
    spectrum: Spectrum | None = None,
    tolerance: float = 1e-6,
    matrix: str = "hessian",
    parameters: Parameters = None,
    batch_size: int | None = None,
) -> FloatArray:
    r"""Score records by minus their self-influence, :math:`-g^\top (H + \epsilon I)^{-1} g`.

    The adversary has the parameters and the training records, of which only the Hessian enters.
    A record that was trained on has a small gradient, so a large influence speaks against
    membership (the released code flips the sign in its plotting script).

    Parameters
    ----------
    model, loss, train, query, damping, conditioning, solver, convention, spectrum, tolerance
        As for `iha`. `membership.curvature.least_damping` says which number "least" is.
    matrix, parameters, batch_size
        As for `iha`.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)
        0 or less; exactly 0 where a low rank keeps no eigenvalue.

    Raises
    ------
    InputError, RunError
        As `iha`.

    Examples
    --------
    >>> import torch
    >>> from membership import attacks
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Linear(2, 2)
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> train = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1, 1])
    >>> query = torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 0])
    >>> score = attacks.sif(model, cross_entropy, train, query)
    >>> score.shape, bool((score <= 0).all())
    ((2,), True)
    """
    inversion = Inversion(damping, conditioning, convention, solver, spectrum, tolerance, matrix)
    goal = objective(model, loss, *pair("train", train), parameters, matrix, batch_size)
    records, query = goal.records(*train), goal.queried(query)
    inverted = inversion.of(goal, records, len(query[0]))
    blocks = views(goal, records, query, inverted.basis)
    return np.concatenate([0.0 - inverted.inverse.influence(view.gradient) for view in blocks])


def sif_from_forms(forms: Mapping[str, Any]) -> FloatArray:
    """As `sif`, from forms that were gathered before: minus own1."""
    return 0.0 - as_float64("form own1", forms["own1"], 1)


declare(
    Attack(
        name="sif",
        display="SIF",
        function=sif,
        needs=("form.published.own1",),
        knowledge=("weights", "training records"),
        references="none",
        paper="cohen2024",
        equation="self-influence",
        score=lambda seen: sif_from_forms(seen.form("published")),
    )
)
