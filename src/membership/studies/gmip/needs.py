"""Whether the data of a run can carry the chapter, asked before anything is trained."""

import math
from typing import Any

from membership import data
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
        recipe = tasks.fitted_recipe(found.name, found.n_records, found.n_classes)
        rank = (recipe.classes - 1) * (recipe.width + 1)
        least = math.ceil(tasks.LEAST_BACKGROUND * rank)
        if settings.n_background < least:
            raise InputError(
                f"n_background = {settings.n_background}: gradients on {name!r} have a covariance "
                f"of rank {rank}; give at least {least:,}"
            )
