"""What a table says of its origin: data, sizes, and how they differ from the paper's."""

from collections.abc import Sequence
from typing import Any

import xarray as xr

from membership.studies.gmip.recipes import RECIPES, Recipe


def recipe_of(evidence: xr.Dataset) -> Recipe:
    """The sizes that the evidence was gathered with."""
    return Recipe(**evidence.attrs["recipe"])


def computed(**more: Any) -> dict[str, Any]:
    """The attributes of a table that needed no data."""
    return {"data": {}, "deviations": [], "device": "cpu", **more}


def observed(some: Sequence[xr.Dataset], *more: str, **others: Any) -> dict[str, Any]:
    """The attributes of a table computed from evidence; `more` are deviations of all data sets."""
    stated = [(one.attrs["set"], text) for one in some for text in one.attrs["deviations"]]
    ran = {one.attrs["published"] for one in some}
    missing = [recipe.label for recipe in RECIPES.values() if recipe.label not in ran]
    found = [f"{name}: {text}" for name, text in dict.fromkeys(stated)]
    if missing:
        found.append(f"not run: {', '.join(missing)}")
    return {
        "data": {name: digest for one in some for name, digest in one.attrs["data"].items()},
        "deviations": [*found, *more],
        "device": some[0].attrs["device"],
        "sizes": _sizes(some),
        **others,
    }


def _sizes(some: Sequence[xr.Dataset]) -> dict[str, str]:
    """One text a size where all data sets agree, else each data set's."""
    found: dict[str, dict[str, str]] = {}
    for one in some:
        for key, text in one.attrs["sizes"].items():
            found.setdefault(key, {})[one.attrs["set"]] = text
    return {
        key: next(iter(each.values()))
        if len(set(each.values())) == 1
        else ", ".join(f"{name} {text}" for name, text in each.items())
        for key, each in found.items()
    }
