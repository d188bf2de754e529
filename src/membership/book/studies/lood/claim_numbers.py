"""The numbers behind claims: contrasts of an exhibit's rows, and outcomes over data sets."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from membership import addresses, data
from membership.arrays import FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.numbers import number
from membership.book.published import Outcome
from membership.book.published.claim_rules import identity, much_better
from membership.book.published.outcomes import SUPPORTED, overall
from membership.book.published.rows import rows_at, share, stated_size
from membership.book.studies.lood import queries
from membership.book.studies.lood.experiment import NAMES

PAPER = (NAMES["cifar10"],)
# Networks smaller than these stand in for the paper's and decide nothing.
NETWORKS = {"network_width": 1024, "depth": 9, "n_retrained": 20, "n_networks": 50}
# The paper's setting has as many training records, and as many left out; fewer stand in too.
LEAST_RECORDS, LEAST_LEFT_OUT = 1000, 100
STRONG = 0.7

Table, Rule = pd.DataFrame, Callable[..., Outcome]


def most(rows: Table, *keys: str, parts: int = 0, rule: Rule = much_better) -> list[Outcome]:
    """Whether each row's share, in percent, is more than half; training sets are the units."""
    outcomes = []
    for _, row in rows.iterrows():
        above = share(row).minus(0.5, f"share, {_label(row, keys)}, less ½")
        outcomes.append(rule(above, 0.0, parts=parts or len(rows)))
    return outcomes


def most_of_records(rows: Table, *keys: str) -> list[Outcome]:
    """The same with the records of all training sets as the units, as if they were independent."""
    return most(rows.drop(columns="n_repeats"), *keys)


def _label(row: pd.Series, keys: tuple[str, ...]) -> str:
    named = {"training_set": "set ", "q": "q = "}
    return ", ".join(f"{named.get(key, '')}{number(row[key])}" for key in keys)


def exceeded(excess: Any, label: str, tolerance: float = 1e-6) -> Outcome:
    """Nothing lies above a bound; one that does contradicts, for closed forms need no repeat."""
    values = np.asarray(excess, dtype=float)
    return identity(values, tolerance, label, exact=True)


def proved(searched: Outcome, theorem: str, holds: str) -> Outcome:
    """What a theorem decides, whatever the data; a counterexample would be one to its proof."""
    if searched.word != SUPPORTED:
        return searched
    reason = f"proved in the chapter: {theorem}; {searched.reason}"
    return replace(searched, datasets=(holds,), reason=reason)


def near_the_mean(source: Source) -> tuple[Table, FloatArray, Outcome]:
    """Queries beside the mean of D': rows, least gain by distance, whether two paths agree."""
    rows = rows_at(source.table("lood-ctl-6"), case=queries.NEAR_MEAN)
    rows = rows[rows["query"].str.endswith(queries.FROM_MEAN)]
    least = rows_at(rows, metric=queries.SMALLEST_GAIN)["value"].to_numpy()
    off = rows_at(rows, metric="largest deviation of the second path")["value"].to_numpy()[-1]
    return rows, least, exceeded([off], "deviation of the second path, over the KL", 1e-3)


def points(source: Source) -> pd.DataFrame:
    """The fixed points of the edge of chaos, a row each: activation and q."""
    table = source.table("lood-ctl-12")
    return table.pivot_table(
        index=["activation", "q"], columns="metric", values="value", sort=False
    )


def judged(wide: pd.DataFrame) -> pd.DataFrame:
    """Those of smooth activations whose variance is stable, which Proposition G.1 presumes."""
    return wide[(wide["chi_var"] < 1) & (wide.index.get_level_values("activation") != "ReLU")]


def data_of(source: Source) -> str:
    """The display name of the run's data set."""
    name = source.settings.dataset
    if addresses.read(name).is_own:
        name = data.outline(name, source.settings.data_root or None).name
    return NAMES.get(name, name)


def over(source: Source, outcome: Outcome) -> Outcome:
    """The outcome on the run's data: others than the paper's stand in and decide nothing."""
    return overall({data_of(source): outcome}, PAPER)


def of_cases(source: Source, outcomes: Mapping[str, Outcome]) -> Outcome:
    """One outcome from those of several cases, all of which are the paper's on its data."""
    return overall(outcomes, tuple(outcomes) if data_of(source) in PAPER else PAPER)


def of_size(source: Source, outcome: Outcome, name: str, left_out: int) -> Outcome:
    """The same where the evidence of this name has too few training records, or left out."""
    attrs = source.evidence(name).attrs
    n = records_of(attrs)
    if n >= LEAST_RECORDS and left_out >= LEAST_LEFT_OUT:
        return over(source, outcome)
    return overall({f"{attrs['set']}, {left_out} of {n:,} records left out": outcome}, PAPER)


def records_of(attrs: Mapping[str, Any]) -> int:
    """Training records of some evidence, from its attributes."""
    return stated_size(attrs, "Training records")


def noted(outcome: Outcome, *remarks: str) -> Outcome:
    """The outcome, its word kept and the non-empty `remarks` added to its reason."""
    return replace(outcome, reason="; ".join(text for text in (outcome.reason, *remarks) if text))


def of_networks(source: Source, outcome: Outcome) -> Outcome:
    """The same where networks smaller than the paper's stand in."""
    chosen = source.settings
    if all(getattr(chosen, name) >= least for name, least in NETWORKS.items()):
        return over(source, outcome)
    layers = f"{chosen.depth} hidden layers of {chosen.network_width}"
    name = f"{data_of(source)}, networks of {layers}, {chosen.n_retrained} records"
    return overall({name: outcome}, PAPER)
