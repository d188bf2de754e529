"""What evidence and tables say of their origin: data, sizes, differences from the paper."""

from typing import Any

import xarray as xr

from membership.studies.lood.records import Records


def of_records(records: Records, settings: Any, *deviations: str, **sizes: Any) -> dict[str, Any]:
    """The attributes of evidence that was gathered on some records; sizes in a reader's words."""
    own = records.dataset.name.startswith("cifar10")
    other = [] if own else [f"{records.label}: none of the paper's data"]
    named = {key.replace("_", " ").capitalize(): f"{value:,}" for key, value in sizes.items()}
    return {
        "set": records.label,
        "data": {records.dataset.name: records.dataset.digest},
        "recipe": {"noise": settings.noise, "depth": settings.depth},
        "outputs": records.dataset.n_classes,
        "deviations": [*other, "the captions' numbers are not on record", *deviations],
        "sizes": {"Training records": f"{len(records):,}", **named},
        "device": "cpu",
        "seed": settings.seed,
    }


def of_sets(each: list[Records], settings: Any, **sizes: Any) -> dict[str, Any]:
    """The same for several training sets of one data set."""
    digests = {f"{one.dataset.name}, set {i}": one.dataset.digest for i, one in enumerate(each, 1)}
    return of_records(each[0], settings, training_sets=len(each), **sizes) | {"data": digests}


def of_networks(settings: Any) -> tuple[str, ...]:
    """What the retrained networks differ in from the paper's."""
    sizes = {
        "hidden layers": (settings.depth, 9),
        "units": (settings.network_width, 1024),
        "records": (settings.network_records, 10_000),
        "networks a side": (settings.n_networks, 100),
    }
    changed = [
        f"{name} {own} (the paper: {their})" for name, (own, their) in sizes.items() if own != their
    ]
    return (f"networks: {', '.join(changed)}",) if changed else ()


def observed(*some: xr.Dataset, **more: Any) -> dict[str, Any]:
    """The attributes of a table computed from evidence; sizes that differ are named by data set.

    More are what the table says of itself.
    """
    sizes: dict[str, dict[str, str]] = {}
    for one in some:
        for key, text in one.attrs["sizes"].items():
            sizes.setdefault(key, {})[one.attrs["set"]] = text
    named = {
        key: next(iter(each.values()))
        if len(set(each.values())) == 1
        else ", ".join(f"{name} {text}" for name, text in each.items())
        for key, each in sizes.items()
    }
    said = [
        *more.pop("deviations", []),
        *(text for one in some for text in one.attrs["deviations"]),
    ]
    return {
        "data": {name: digest for one in some for name, digest in one.attrs["data"].items()},
        "deviations": list(dict.fromkeys(said)),
        "device": some[0].attrs["device"] if some else "cpu",
        "sizes": named | more.pop("sizes", {}),
        **more,
    }
