"""Whether the data of a run can carry the chapter, asked before anything is trained."""

import itertools
import math
from collections.abc import Collection
from typing import Any

from membership import data
from membership.addresses import Takes
from membership.errors import InputError
from membership.studies.gmip import tasks

LEAST_SIMULATED = 20_000
"""The 20 largest of the simulator's classes hold some 24% of its records."""
PRETRAINED_ON = "cifar100_20k"


def check(settings: Any) -> None:
    """See that every data set has the records that its audit needs.

    Raises
    ------
    InputError
        A data set is unknown, missing or too small, or ``n_background`` is.
    """
    root = settings.data_root or None
    names = dict.fromkeys([settings.dataset, *settings.also_datasets])
    data.require_known(list(names), root)
    for name in names:
        found = data.outline(name, root)
        if found.name == "purchase_like" and found.n_records < LEAST_SIMULATED:
            raise InputError(
                f"dataset={name!r}: this chapter keeps 20 of its 100 classes; give at least "
                f"{LEAST_SIMULATED:,} records"
            )
        if found.name == "cifar10":
            data.outline(PRETRAINED_ON, root)
        rank, least = _rank_and_background(found)
        if settings.n_background < least:
            raise InputError(
                f"n_background = {settings.n_background}: gradients on {name!r} have a covariance "
                f"of rank {rank}; give at least {least:,}: `-p n_background {least}`"
            )


def takes() -> Takes:
    """The least that the checks above accept, of two classes: more take more."""

    def enough(n: int) -> bool:
        try:
            tasks.fitted_recipe("", n, 2)
        except InputError:
            return False
        return True

    return Takes(next(n for n in itertools.count(2) if enough(n)), "of two classes", 1, False)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Raise the profile's background to what gradients on these data need."""
    root = settings.data_root or None
    names = list(dict.fromkeys([settings.dataset, *settings.also_datasets]))
    data.require_known(names, root)
    every = [data.outline(name, root) for name in names]
    least = max(_rank_and_background(found)[1] for found in every)
    most = {"n_background": max(settings.n_background, least)}
    settings = settings.noting(*(line for one in every for line in data.cautions(one, scaled=True)))
    return settings.cut(asked, most, "a covariance is estimated on them")


def _rank_and_background(found: data.Outline) -> tuple[int, int]:
    """The rank of the gradients' covariance, and the records that it takes to estimate it."""
    recipe = tasks.fitted_recipe(found.name, found.n_records, found.n_classes)
    rank = (recipe.classes - 1) * (recipe.width + 1)
    return rank, math.ceil(tasks.LEAST_BACKGROUND * rank)
