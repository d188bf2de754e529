"""Whether the data of a run can carry the chapter, asked before anything is computed."""

from collections.abc import Collection
from typing import Any

import numpy as np

from membership import data
from membership.addresses import Takes
from membership.errors import InputError
from membership.studies.lood.experiment import two_classes

LEAST_RECORDS = 20
LEAST_SIDE = 4
"""Pixels a side: the convolutional kernels look at patches of three."""


def check(settings: Any) -> None:
    """See that the data are in scale, and as many as asked for.

    Raises
    ------
    InputError
        The data set is unknown, missing, too small or out of scale.
    """
    found = _outline(settings)
    if found.is_image and min(found.shape[1:]) < LEAST_SIDE:
        raise InputError(
            f"dataset {found.name!r} has pictures of {found.shape[1]} x {found.shape[2]} pixels; "
            f"give at least {LEAST_SIDE} a side"
        )
    if found.is_image:  # features of a table are scaled
        data.require_scaled(found)
    two = two_classes(found.dataset)
    if len(two) < settings.n_records:
        raise InputError(
            f"n_records = {settings.n_records}: dataset {found.name!r} holds {len(two):,} "
            f"different records of the two classes; give at most as many: `-p n_records {len(two)}`"
        )
    blank = ~two.x.reshape(len(two), -1).any(axis=1)
    if blank.any():
        raise InputError(
            f"dataset {found.name!r}: {blank.sum():,} records of the two classes are zero "
            "everywhere, or least in every feature, which has no norm to scale to; leave them out"
        )
    if np.ptp(two.x) == 0:
        raise InputError(f"dataset {found.name!r}: every record is the same; give different ones")


def _outline(settings: Any) -> data.Outline:
    data.require_known([settings.dataset], settings.data_root or None)
    found = data.outline(settings.dataset, settings.data_root or None)
    if found.dataset is None:
        raise InputError(
            f"dataset={settings.dataset!r}: its records are simulated in a hundred classes, and "
            "this chapter compares two; give digits, cifar10 or data of your own"
        )
    return found


def takes() -> Takes:
    """The least that the checks above accept; tables are scaled, pictures are not."""
    return Takes(LEAST_RECORDS, "different ones of classes 0 and 1", LEAST_SIDE, scaled=False)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Cut the profile's sizes to the different records of the two classes."""
    found = _outline(settings)
    there = len(two_classes(found.dataset))
    n = settings.n_records if "n_records" in asked else min(settings.n_records, there)
    networks = settings.network_records
    networks = networks if "network_records" in asked else min(networks, n)
    most = {
        "n_records": n,
        "n_reconstructed": min(settings.n_reconstructed, n // 2),
        "network_records": networks,
        "n_retrained": min(settings.n_retrained, networks // 2),
    }
    if n < LEAST_RECORDS:
        raise InputError(
            f"dataset {found.name!r} holds {there:,} different records of its first two classes; "
            f"give at least {LEAST_RECORDS}"
        )
    why = f"{found.name} holds {there:,} different records of the two classes"
    return settings.cut(asked, most, why)
