"""Whether the data of a run can carry the chapter, asked before anything is trained."""

from collections.abc import Collection
from typing import Any

from membership import data
from membership.addresses import Takes
from membership.errors import InputError
from membership.studies.comparison.names import kinds

LEAST_RECORDS = 300


def check(settings: Any) -> None:
    """See that every data set is there, large enough and of the right kind.

    Raises
    ------
    InputError
        A data set is unknown, missing, too small or far from 1 in size, or a network does not fit.
    """
    root = settings.data_root or None
    names = dict.fromkeys([settings.dataset, *settings.also_datasets])
    data.require_known(list(names), root)
    for one in settings.also_models:
        _, meant, only = one.partition("@")
        if meant and only not in settings.also_datasets:
            given = ", ".join(settings.also_datasets) or "none"
            raise InputError(f"also_models {one!r}: after @ goes one of also_datasets: {given}")
    for name in names:
        found = data.outline(name, root)
        if found.n_records < LEAST_RECORDS:
            raise InputError(
                f"dataset {found.name!r} holds {found.n_records} records; give at least "
                f"{LEAST_RECORDS}"
            )
        # The book's own tables are encoded before anything is trained on them.
        if found.dataset is not None and not found.dataset.verified:
            data.require_scaled(found)
        if not kinds(settings, name):
            raise InputError(f"also_models has no kind for {name}; add one, as 'logistic@{name}'")
        if "cnn" in kinds(settings, name) and not found.is_image:
            raise InputError(
                f"models: 'cnn' takes images, and {found.name} holds none; leave it out"
            )


def takes() -> Takes:
    """The least that the checks above accept."""
    return Takes(LEAST_RECORDS, "of all classes", 1, scaled=True)


def fitted(settings: Any, asked: Collection[str]) -> Any:
    """Leave out of the profile's models those that take images, where there are none."""
    root = settings.data_root or None
    data.require_known([settings.dataset, *settings.also_datasets], root)
    found = data.outline(settings.dataset, root)
    settings = settings.noting(*data.cautions(found))
    if found.is_image:
        return settings
    models = [name for name in settings.models if name != "cnn"]
    return settings.cut(asked, {"models": models}, f"{found.name} holds no images")
