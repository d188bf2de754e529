"""Whether the data of a run can carry the chapter, asked before anything is trained."""

from collections.abc import Collection
from typing import Any

from membership import data
from membership.addresses import Takes
from membership.errors import InputError
from membership.studies.bmia import patches
from membership.studies.bmia.settings import is_for_images

LEAST_RECORDS = 100
SHIFTED = "shifted"
DIGITS = "digits"
# The deepest networks halve a picture five times.
LEAST_SIDE = 8


def check(settings: Any) -> None:
    """See that every data set fits its networks, and Table 2's strangers its members.

    Raises
    ------
    InputError
        A data set is unknown, missing, too small or out of scale, or a network or
        ``ood_dataset`` does not fit.
    """
    root = settings.data_root or None
    names = dict.fromkeys([settings.dataset, *settings.also_datasets])
    strangers = [] if settings.ood_dataset == SHIFTED else [settings.ood_dataset]
    patches.require_known([*names, *strangers], root)
    every = [patches.outline(name, root) for name in names]
    for found in every:
        if found.n_records < LEAST_RECORDS:
            raise InputError(
                f"dataset {found.name!r} holds {found.n_records} records; give at least "
                f"{LEAST_RECORDS}"
            )
        data.require_scaled(found)
        usual = "small-cnn" if found.is_image and found.name != DIGITS else ""
        _check_network("architecture", settings.architecture or usual, found)
    for architecture in settings.architectures:
        _check_network("architectures", architecture, every[0])
    for name in strangers:
        members = every[0] if every[0].is_image else data.outline(DIGITS)
        _check_strangers(data.outline(name, root), members)


def takes() -> Takes:
    """The least that the checks above accept."""
    return Takes(LEAST_RECORDS, "of all classes", LEAST_SIDE, scaled=True)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Note tables whose features differ widely in scale; no size depends on the data."""
    root = settings.data_root or None
    names = dict.fromkeys([settings.dataset, *settings.also_datasets])
    patches.require_known(list(names), root)
    return settings.noting(
        *(line for n in names for line in data.cautions(patches.outline(n, root)))
    )


def _check_network(parameter: str, architecture: str, found: data.Outline) -> None:
    if not is_for_images(architecture):
        return
    if not found.is_image:
        raise InputError(
            f"{parameter} = {architecture!r} takes images, and {found.name} holds none; take an "
            "mlp, such as mlp-256-128"
        )
    if min(found.shape[1:]) < LEAST_SIDE:
        raise InputError(
            f"{parameter} = {architecture!r} takes pictures of at least {LEAST_SIDE} pixels a "
            f"side, and {found.name} has {found.shape[1]} x {found.shape[2]}; take an mlp"
        )


def _check_strangers(other: data.Outline, members: data.Outline) -> None:
    channels, height, width = members.shape
    fits = other.is_image and other.shape[0] == channels
    if not fits or other.shape[1] < height or other.shape[2] < width:
        raise InputError(
            f"ood_dataset {other.name!r} has records of shape {other.shape}; members have "
            f"{members.shape}, and images can only be averaged down"
        )
    if other.n_classes > members.n_classes:
        raise InputError(
            f"ood_dataset {other.name!r} has {other.n_classes} classes, and the models of "
            f"{members.name!r} know {members.n_classes}; give a data set of no more classes"
        )
    data.require_scaled(other)
