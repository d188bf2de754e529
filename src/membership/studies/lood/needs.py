"""Whether the data of a run can carry the chapter, asked before anything is computed."""

from typing import Any

import numpy as np

from membership import data
from membership.errors import InputError
from membership.studies.lood.records import two_classes

LEAST_SIDE = 4
"""Pixels a side: the convolutional kernels look at patches of three."""


def check(settings: Any) -> None:
    """See that the data are pictures, in scale, and as many as asked for.

    Raises
    ------
    InputError
        The data set is unknown, missing, a table, too small or out of scale.
    """
    data.require_known([settings.dataset], settings.data_root or None)
    found = data.outline(settings.dataset, settings.data_root or None)
    if not found.is_image:
        raise InputError(
            f"dataset {found.name!r} is a table, and this chapter shows and reconstructs pictures; "
            "give a data set of images, such as digits or cifar10"
        )
    if min(found.shape[1:]) < LEAST_SIDE:
        raise InputError(
            f"dataset {found.name!r} has pictures of {found.shape[1]} x {found.shape[2]} pixels; "
            f"give at least {LEAST_SIDE} a side"
        )
    data.require_scaled(found)
    two = two_classes(found.dataset)
    if len(two) < settings.n_records:
        raise InputError(
            f"n_records = {settings.n_records}: dataset {found.name!r} holds {len(two):,} "
            "different records of the two classes; give at most as many"
        )
    blank = ~two.x.reshape(len(two), -1).any(axis=1)
    if blank.any():
        raise InputError(
            f"dataset {found.name!r}: {blank.sum():,} pictures of the two classes are zero "
            "everywhere, and cannot be scaled to one norm; leave them out"
        )
    if np.ptp(two.x) == 0:
        raise InputError(f"dataset {found.name!r}: every picture is the same; give different ones")
