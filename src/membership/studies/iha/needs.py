"""Whether the data of a run can carry the chapter, asked before anything is trained."""

import math
from collections.abc import Collection
from typing import Any

from membership import addresses, data
from membership.addresses import PARITY, Takes
from membership.data.loading import is_purchase_like, purchase_records
from membership.data.simulate import MOST_RECORDS
from membership.errors import InputError
from membership.studies.iha import subjects
from membership.studies.iha.subjects import LARGER

# The leave-one-out experiments play for records of a training set of at most this size.
N_BASE = 200
# Parameters up to which a profile's limit is raised: the paper's profile has 4,800.
MOST_RAISED = 5000


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
    if not addresses.read(last).parity:
        _check_network(last, found[last], subjects.DEEP, settings.most_parameters)
    half = min(N_BASE, _pool(found[settings.dataset]) // 2)
    if settings.loo_records > half:
        raise InputError(
            f"loo_records = {settings.loo_records}: there are {half} training records only; give "
            f"at most `-p loo_records {half}`"
        )


def takes() -> Takes:
    """The least that the checks above accept."""
    return Takes(subjects.LEAST_RECORDS, "to train on", 1, scaled=True)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Fit the profile's sizes to the data, as far as that is no other study."""
    root = settings.data_root or None
    data.require_known(settings.datasets, root)
    found = {name: data.outline(name, root) for name in settings.datasets}
    settings = settings.noting(*(line for one in found.values() for line in data.cautions(one)))
    half = min(N_BASE, _pool(found[settings.dataset]) // 2)
    last = settings.datasets[-1]
    least = max(_least_parameters(name, one, name == last) for name, one in found.items())
    most = {"loo_records": min(settings.loo_records, max(half, 2))}
    if settings.most_parameters < least <= MOST_RAISED:
        most["most_parameters"] = least
    why = f"{found[settings.dataset].name} has {half} training records"
    settings = settings.cut(asked, {"loo_records": most.pop("loo_records")}, why)
    return settings.cut(asked, most, "the smallest networks that take these records")


def _check_one(name: str, found: data.Outline, settings: Any) -> None:
    if _pool(found) < subjects.LEAST_RECORDS:
        raise InputError(
            f"dataset {found.name!r} has {_pool(found)} records to train on; give at least "
            f"{subjects.LEAST_RECORDS}"
        )
    data.require_scaled(found)
    most, hidden = settings.most_parameters, subjects.recipe_of(name, found.name).hidden
    _check_network(name, found, hidden, most)
    asked = settings.n_queries != settings.profiles[settings.profile]["n_queries"]
    if asked and settings.n_queries > _pool(found):
        raise InputError(
            f"n_queries = {settings.n_queries}: {found.name} has {_pool(found):,} records to ask "
            "about; give at most as many (0: the profile's, or all)"
        )


def _check_network(name: str, found: data.Outline, hidden: tuple[int, ...], most: int) -> None:
    """See that the network can be cut to size; simulated data may lose classes for it."""
    subjects.fitting(math.prod(found.shape), hidden, _n_outputs(name, found), most)


def _n_outputs(name: str, found: data.Outline) -> int:
    few = found.dataset is None
    n_classes = min(found.n_classes, subjects.FEW_CLASSES) if few else found.n_classes
    return 1 if addresses.read(name).parity else n_classes


def _least_parameters(name: str, found: data.Outline, deep_too: bool) -> int:
    """Parameters of the smallest network, which the data set is tried with, or of the deep one."""
    shapes = [subjects.recipe_of(name, found.name).hidden]
    shapes += [subjects.DEEP] * (deep_too and not addresses.read(name).parity)
    size, n_outputs = math.prod(found.shape), _n_outputs(name, found)
    return max(subjects.size_of(size, tuple(1 for _ in one), n_outputs) for one in shapes)


def _pool(found: data.Outline) -> int:
    return found.n_train // 2 * 2
