r"""The gradient over the records other than the queried one, as an adversary may know it.

It is :math:`\nabla L_0 = \text{scale} \cdot \nabla L_1 + \text{own} \cdot g`.
"""

from collections import Counter
from hashlib import blake2b

import numpy as np
import torch

from membership.arrays import BoolArray, FloatArray, one_of
from membership.curvature.eigen import CONVENTIONS
from membership.errors import InputError

KNOWLEDGE = ("leave-one-out", "everyone", "everyone-less-own")


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
