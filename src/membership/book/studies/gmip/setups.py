"""What was run beside what the paper says: how rows are called, their origin, and Tables 1 to 4."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import pandas as pd
import xarray as xr

from membership.book import published
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.gmip.settings import RECIPES, Recipe, Settings

SIMULATED = "simulated"
"""How the data of a row that is no real data set's are called, or how their name begins."""
KNOWN, ONE, FEW, ALL = "one step, moments known", "one step", "few steps", "all steps"


def recipe_of(evidence: xr.Dataset) -> Recipe:
    """The sizes that the evidence was gathered with."""
    return Recipe(**evidence.attrs["recipe"])


def computed(**attrs: Any) -> dict[str, Any]:
    """The attributes of a table that needed no data."""
    return {"data": {}, "deviations": [], "device": "cpu", **attrs}


def observed(
    used: Sequence[xr.Dataset], *deviations: str, sizes: dict[str, str] | None = None, **attrs: Any
) -> dict[str, Any]:
    """The attributes of a table computed from evidence; `deviations` are those of all data sets."""
    ran = {evidence.attrs["published"] for evidence in used}
    missing = [recipe.label for recipe in RECIPES.values() if recipe.label not in ran]
    absent = [f"not run: {', '.join(missing)}"] if missing else []
    whole = origin(used, *absent, *deviations, named=True, **attrs)
    return whole if sizes is None else whole | {"sizes": sizes | whole["sizes"]}


def repeats(settings: Settings) -> dict[str, str]:
    """How often a table's simulations are repeated, as its sizes say it."""
    return {"Simulated repeats": str(settings.simulated_repeats)}


def steps_described(steps: int) -> str:
    return ONE if steps == 1 else f"{steps} steps"


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
    run = [
        _sizes(audit, audit.attrs["batch_size"], audit.attrs["batch_size"], audit.sizes["step"])
        | fixed
        for audit in audits
    ]
    return _beside(printed, run, observed(audits, "no clipping (the paper: C = 10)"))


def table_4(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The sizes of the utility study (Table 4): columns dataset, source, N, d, n_batch, ..., C."""
    printed = published.table("gmip_table4").assign(source="paper").rename(columns={"d_eq_K": "d"})
    recipes = [recipe_of(evidence) for evidence in trained]
    run = [
        _sizes(evidence, r.n_records, r.batch_size, r.epochs) | {"C": r.clip}
        for evidence, r in zip(trained, recipes, strict=True)
    ]
    return _beside(printed, run, observed(trained))


def _sizes(evidence: xr.Dataset, n_records: int, batch: int, epochs: int) -> dict[str, Any]:
    recipe = recipe_of(evidence)
    return {
        **{"dataset": evidence.attrs["set"], "source": "this run"},
        **{"N": n_records, "d": recipe.dimension, "n_batch": batch, "epochs": epochs},
        "architecture": f"{recipe.width} fixed features",
    }


def _beside(printed: pd.DataFrame, run: list[dict[str, Any]], attrs: Any) -> pd.DataFrame:
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "tau", "architecture"]
    sizes = pd.concat([printed, pd.DataFrame(run)], ignore_index=True)
    return tidy([sizes[[name for name in columns if name in sizes]]], attrs)
