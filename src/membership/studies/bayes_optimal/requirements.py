"""Whether a data set can carry the chapter, asked before anything is trained."""

from collections.abc import Collection
from typing import Any

import numpy as np

from membership import data
from membership.addresses import Takes
from membership.data.loading import is_purchase_like
from membership.errors import InputError

# Beside the 3n/2 records of a size n of Table 1: what its penalty is chosen on.
RECORDS_FOR_PENALTY = 20
LEAST_SIZE = 20
LEAST_SIDE = 4


def check_data(settings: Any) -> str:
    """See that the data set has the records that every exhibit needs."""
    data.require_known([settings.dataset], settings.data_root or None)
    found = data.outline(settings.dataset, settings.data_root or None)
    _require_for_networks(found, settings.cnn_records)
    if is_purchase_like(settings.dataset):
        # Counted before they are simulated, which takes a while, and again by class.
        require(found.n_records, settings.n_records)
    _require_for_features(found, settings)
    dataset, both = pair(settings)
    require(len(both), settings.n_records)
    return f"{dataset.name}: {len(dataset):,} records. {dataset.source}"


def takes() -> Takes:
    """The least that the checks below accept."""
    both = 3 * LEAST_SIZE // 2 + RECORDS_FOR_PENALTY
    return Takes(both, "of the two largest classes", LEAST_SIDE, scaled=False)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Cut the profile's sizes to the records there are; what stays too large is refused later."""
    root = settings.data_root or None
    data.require_known([settings.dataset], root)
    found = data.outline(settings.dataset, root)
    settings = settings.noting(*data.cautions(found))
    n_both = len(pair(settings)[1]) if len(settings.classes) != 1 else 0
    most = {}
    if (largest := _largest_size(n_both)) >= LEAST_SIZE:
        most["n_records"] = sorted({min(n, largest) for n in settings.n_records})
    if (most_members := found.n_records // 2) >= settings.least["cnn_records"][0]:
        most["cnn_records"] = min(settings.cnn_records, most_members)
    why = f"{found.name} holds {found.n_records:,} records, {n_both:,} of the two classes"
    return settings.cut(asked, most, why)


def pair(settings: Any) -> tuple[data.Dataset, data.Dataset]:
    """The whole data set, and the records of its two classes, labelled 0 and 1."""
    dataset = data.load(settings.dataset, root=settings.data_root or None)
    return dataset, data.keep_classes(dataset, settings.classes or _largest_two(dataset))


def require(n_available: int, sizes: list[int]) -> None:
    """Refuse sizes that need more records of the two classes than there are.

    Parameters
    ----------
    n_available : int
        Records of the two classes.
    sizes : list of int
        Values of n: each takes 3n/2 records, and 20 more to choose C on.

    Raises
    ------
    InputError
        Too few records; the message says how many would do.
    """
    needed = 3 * max(sizes) // 2 + RECORDS_FOR_PENALTY
    if needed <= n_available:
        return
    largest = _largest_size(n_available)
    remedy = f"give at most {largest}: `-p n_records {largest}`"
    if largest < LEAST_SIZE:
        least = 3 * LEAST_SIZE // 2 + RECORDS_FOR_PENALTY
        remedy = f"too few for any size: give a data set with at least {least} of them"
    raise InputError(
        f"n_records: {max(sizes)} needs {needed} records of the two classes but there are "
        f"{n_available}; {remedy}"
    )


def _largest_size(n_available: int) -> int:
    """The largest even size of Table 1 for so many records of the two classes."""
    return max(n_available - RECORDS_FOR_PENALTY, 0) * 2 // 3 // 2 * 2


def feature_source(root: str | None) -> str:
    """The prepared 20,000 records where only they lie here; else all, downloaded if need be."""
    status = {name: data.check(name, root=root).status for name in ("cifar100", "cifar100_20k")}
    only_some = status["cifar100"] == "missing" and status["cifar100_20k"] == "ok"
    return "cifar100_20k" if only_some else "cifar100"


def _require_for_networks(found: data.Outline, cnn_records: int) -> None:
    """Table 2: each network trains on half of twice ``cnn_records`` records."""
    if found.n_records < (least := 2 * LEAST_SIZE):
        raise InputError(
            f"dataset {found.name!r} holds {found.n_records} records; give at least {least}"
        )
    if 2 * cnn_records > found.n_records:
        raise InputError(
            f"cnn_records = {cnn_records}: twice as many records are drawn, and dataset "
            f"{found.name!r} holds {found.n_records:,}; give at most {found.n_records // 2:,}: "
            f"`-p cnn_records {found.n_records // 2}`"
        )
    if found.is_image and min(found.shape[1:]) < LEAST_SIDE:
        raise InputError(
            f"dataset {found.name!r} has pictures of {found.shape[1]} x {found.shape[2]} pixels; "
            f"give at least {LEAST_SIDE} a side"
        )


def _require_for_features(found: data.Outline, settings: Any) -> None:
    """See that the network of Table 1's features takes these records."""
    if settings.feature_network == "raw":
        return
    root = settings.data_root or None
    source = data.outline(feature_source(root), root)
    same = found.shape == source.shape
    if settings.feature_network != "small-cnn":
        same = found.is_image and found.shape[0] == source.shape[0]
    if not same:
        raise InputError(
            f"feature_network = {settings.feature_network!r}: it is trained on records of shape "
            f"{source.shape}, and {found.name} has {found.shape}; give raw"
        )


def _largest_two(dataset: data.Dataset) -> list[int]:
    counts = np.bincount(dataset.y, minlength=dataset.n_classes)
    return [int(label) for label in np.argsort(-counts, kind="stable")[:2]]
