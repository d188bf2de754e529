"""Table 2's non-members: images of another source than the members'."""

from typing import Any

import numpy as np

from membership import data
from membership.errors import InputError
from membership.studies.bmia.needs import DIGITS, SHIFTED
from membership.studies.bmia.worlds import World, world

Found = tuple[World, np.ndarray, np.ndarray, dict[str, str]]


def strangers(settings: Any) -> Found:
    """The members' world, the strangers, their labels, and the digest of the file they are from.

    Members are images: those of the run's own data set where it holds images, else digits. The
    others are named by ``ood_dataset``: "shifted" moves the same data set's validation images by
    a pixel to the right; a data set's name takes its images, averaged down to the size
    of the members' where they are larger.
    """
    own = world(settings.dataset, settings)
    members = own if own.dataset.x.ndim == 4 else world(DIGITS, settings)
    if settings.ood_dataset == SHIFTED:
        held = members.validation
        return members, np.roll(members.dataset.x[held], 1, axis=3), members.dataset.y[held], {}
    other = data.load(settings.ood_dataset, root=settings.data_root or None)
    most = 10 * len(members.pool)
    x, shape = other.x, members.dataset.x.shape[1:]
    if x.shape[1:] != shape:
        x = averaged(x, shape)
    return members, x[:most], other.y[:most], {other.name: other.digest}


def averaged(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Images cut at the edges and averaged over blocks, so that they have the given shape."""
    (_, height, width), block = shape, min(x.shape[2] // shape[1], x.shape[3] // shape[2])
    if x.ndim != 4 or x.shape[1] != shape[0] or block < 1:
        raise InputError(
            f"ood_dataset has records of shape {x.shape[1:]}; members have {shape}, and images can "
            "only be averaged down"
        )
    top, left = (x.shape[2] - block * height) // 2, (x.shape[3] - block * width) // 2
    cut = x[:, :, top : top + block * height, left : left + block * width]
    return cut.reshape(len(x), shape[0], height, block, width, block).mean(axis=(3, 5))
