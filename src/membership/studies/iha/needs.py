"""Whether the data of a run can carry the chapter, asked before anything is trained."""

import math
from typing import Any

from membership import data
from membership.data.loading import PARITY, is_purchase_like, purchase_records
from membership.data.purchase import MOST_RECORDS
from membership.errors import InputError
from membership.studies.iha import recipes

# The leave-one-out experiments play for records of a training set of at most this size.
N_BASE = 200
# Table 7: the paper's pools are 160,000 records and 50,000; twice as many shows the direction.
LARGER = 2


def check(settings: Any) -> None:
    """See that every data set has the records that each exhibit needs.

    Raises
    ------
    InputError
        A data set is unknown, missing, too small or out of scale, or its network cannot be cut to
        size.
    """
    data.require_known(settings.datasets, settings.data_root or None)
    found = {name: data.outline(name, settings.data_root or None) for name in settings.datasets}
    for name, one in found.items():
        _check_one(name, one, settings)
    last = settings.datasets[-1]
    most = MOST_RECORDS // LARGER
    if is_purchase_like(last) and purchase_records(last.removesuffix(PARITY)) > most:
        raise InputError(
            f"dataset={last!r}: give at most {most:,} records; this run simulates {LARGER} times "
            "as many too"
        )
    if not last.endswith(PARITY):
        _check_network(found[last], recipes.DEEP, settings.most_parameters)
    half = min(N_BASE, _pool(found[settings.dataset]) // 2)
    if settings.loo_records > half:
        raise InputError(
            f"loo_records = {settings.loo_records}: there are {half} training records only"
        )


def _check_one(name: str, found: data.Outline, settings: Any) -> None:
    if _pool(found) < recipes.LEAST_RECORDS:
        raise InputError(
            f"dataset {found.name!r} has {_pool(found)} records to train on; give at least "
            f"{recipes.LEAST_RECORDS}"
        )
    data.require_scaled(found)
    most, hidden = settings.most_parameters, recipes.recipe_of(name, found.name).hidden
    _check_network(found, hidden, most)
    asked = settings.n_queries != settings.profiles[settings.profile]["n_queries"]
    if asked and settings.n_queries > _pool(found):
        raise InputError(
            f"n_queries = {settings.n_queries}: {found.name} has {_pool(found):,} records to ask "
            "about; give at most as many (0: the profile's, or all)"
        )


def _check_network(found: data.Outline, hidden: tuple[int, ...], most: int) -> None:
    """See that the network can be cut to size; simulated data may lose classes for it."""
    single = found.name.endswith(PARITY)
    few = found.dataset is None
    n_outputs = 1 if single else min(found.n_classes, recipes.FEW_CLASSES) if few else None
    recipes.fitting(math.prod(found.shape), hidden, n_outputs or found.n_classes, most)


def _pool(found: data.Outline) -> int:
    return found.n_train // 2 * 2
