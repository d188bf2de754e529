r"""The gradient over the records other than the queried one, as an adversary may know it."""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch

from membership.arrays import BoolArray, FloatArray, as_bool, one_of
from membership.curvature import WhiteBoxView
from membership.curvature.eigen import CONVENTIONS
from membership.errors import InputError

KNOWLEDGE = ("leave-one-out", "everyone", "everyone-less-own")


@dataclass(frozen=True)
class OthersGradient:
    r"""The gradient over the records other than the queried one, of each queried record.

    :math:`\nabla L_0 = \text{scale} \cdot \text{mean} + \text{own} \cdot g`.

    Attributes
    ----------
    mean : numpy.ndarray, shape (p,)
        In the basis of the view it goes with.
    scale, own : numpy.ndarray, shape (records,)
    """

    mean: FloatArray
    scale: FloatArray
    own: FloatArray


def others_gradient(
    view: WhiteBoxView,
    query_member: Any,
    knowledge: str = "leave-one-out",
    convention: str = "paper",
) -> OthersGradient:
    r"""The gradient over the other records, as the adversary is taken to know it.

    Parameters
    ----------
    view : WhiteBoxView
    query_member : array_like of bool, shape (records,)
        Which queried records are among the training records.
    knowledge : {"leave-one-out", "everyone", "everyone-less-own"}
        "leave-one-out": the truth, :math:`\nabla L_1 - g/n` for a member and
        :math:`\nabla L_1` for others. **This reads the membership bit**: an adversary who knows
        all other records can compute it without the bit, a program that only has the model's
        training set cannot. The two controls take it the same way for every record:
        "everyone" :math:`\nabla L_1`, "everyone-less-own" :math:`\nabla L_1 - g/n`.
    convention : {"paper", "authors"}
        "authors": as the released code, :math:`(n \nabla L_1 - g)/(n - 1)` for members.

    Returns
    -------
    OthersGradient

    Raises
    ------
    InputError
        A choice is unknown, or the mask is not a boolean a queried record.
    """
    member = as_bool("query_member", query_member, view.loss.shape)
    return OthersGradient(view.mean_gradient, *removal(member, view.n_train, knowledge, convention))


def removal(
    member: BoolArray, n_train: int, knowledge: str, convention: str
) -> tuple[FloatArray, FloatArray]:
    """Scale and own part of an `OthersGradient`; choices and errors as `others_gradient`."""
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

    Parameters
    ----------
    train, query : (torch.Tensor, torch.Tensor)
        Records and targets, as an `Objective` reads them.
    member : ndarray of bool, shape (records,)
    knowledge : str
        As for `others_gradient`; its controls do not read the mark.

    Raises
    ------
    InputError
        Names the first such record.
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
