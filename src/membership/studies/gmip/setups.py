"""What was run beside what the paper says: the origin of a table, and Tables 1 to 4."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import pandas as pd
import xarray as xr

from membership import published
from membership.exhibits.tidy import origin, tidy
from membership.studies.gmip.recipes import RECIPES, Recipe
from membership.studies.gmip.settings import Settings

KEYS = [
    *("dataset", "data", "case", "attack", "quantity", "method", "convention", "nominal"),
    "metric",
]
NUMBERS = ["value", "low", "high", "standard_error", "degrees_of_freedom", "n_repeats"]


def recipe_of(evidence: xr.Dataset) -> Recipe:
    """The sizes that the evidence was gathered with."""
    return Recipe(**evidence.attrs["recipe"])


def computed(**more: Any) -> dict[str, Any]:
    """The attributes of a table that needed no data."""
    return {"data": {}, "deviations": [], "device": "cpu", **more}


def observed(some: Sequence[xr.Dataset], *more: str, **others: Any) -> dict[str, Any]:
    """The attributes of a table computed from evidence; `more` are deviations of all data sets."""
    ran = {one.attrs["published"] for one in some}
    missing = [recipe.label for recipe in RECIPES.values() if recipe.label not in ran]
    absent = [f"not run: {', '.join(missing)}"] if missing else []
    return origin(some, *absent, *more, named=True, **others)


def repeated(settings: Settings, **more: Any) -> dict[str, Any]:
    """The attributes of a table of simulated repeats."""
    return computed(sizes={"Simulated repeats": str(settings.simulated_repeats)}, **more)


def in_words(table: str) -> pd.DataFrame:
    """Table 1, the two threat models, or 2, what each attack needs; see ``in_words.toml``."""
    text = files(__package__).joinpath("in_words.toml").read_text(encoding="utf-8")
    stated = tomllib.loads(text)[table]
    rows = pd.DataFrame(stated.pop("rows"), columns=stated.pop("columns"))
    return tidy([rows], computed(**stated))


def table_3(audits: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The sizes of the audit (Table 3): columns dataset, source, N, d, n_batch, epochs, C, tau."""
    printed = published.table("gmip_table3").assign(source="paper")
    fixed = {"C": float("inf"), "tau": 0.0}
    ours = [
        _sizes(one, one.attrs["batch_size"], one.attrs["batch_size"], one.sizes["step"]) | fixed
        for one in audits
    ]
    return _beside(printed, ours, observed(audits, "no clipping (the paper: C = 10)"))


def table_4(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The sizes of the utility study (Table 4): columns dataset, source, N, d, n_batch, ..., C."""
    printed = published.table("gmip_table4").assign(source="paper").rename(columns={"d_eq_K": "d"})
    recipes = [recipe_of(one) for one in trained]
    ours = [
        _sizes(one, r.n_records, r.batch_size, r.epochs) | {"C": r.clip}
        for one, r in zip(trained, recipes, strict=True)
    ]
    return _beside(printed, ours, observed(trained))


def _sizes(one: xr.Dataset, n_records: int, batch: int, epochs: int) -> dict[str, Any]:
    recipe = recipe_of(one)
    return {
        **{"dataset": one.attrs["set"], "source": "this run"},
        **{"N": n_records, "d": recipe.dimension, "n_batch": batch, "epochs": epochs},
        "architecture": f"{recipe.width} fixed features",
    }


def _beside(printed: pd.DataFrame, ours: list[dict[str, Any]], attrs: Any) -> pd.DataFrame:
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "tau", "architecture"]
    both = pd.concat([printed, pd.DataFrame(ours)], ignore_index=True)
    return tidy([both[[name for name in columns if name in both]]], attrs)


def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """One table of several: keys they share first, then the number; origins merged."""
    keys = [name for name in KEYS if all(name in table for table in tables)]
    attrs = [table.attrs for table in tables]
    table = pd.concat(tables, ignore_index=True)[[*keys, *NUMBERS]]
    table.attrs = {
        "data": {name: digest for each in attrs for name, digest in each["data"].items()},
        "deviations": list(dict.fromkeys(text for each in attrs for text in each["deviations"])),
        "device": attrs[-1]["device"],
        "sizes": {key: text for each in attrs for key, text in each.get("sizes", {}).items()},
        "note": " ".join(each["note"] for each in attrs if "note" in each),
    }
    return table
