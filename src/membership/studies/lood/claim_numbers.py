"""The numbers behind claims: contrasts of an exhibit's rows, and outcomes over data sets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import addresses, data
from membership.exhibits import Source
from membership.exhibits.numbers import number
from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import chance, identity, much_better
from membership.published.outcomes import SUPPORTED, every, overall
from membership.published.rows import of_row
from membership.studies.lood.experiment import NAMES

PAPER = (NAMES["cifar10"],)
# Networks smaller than these stand in for the paper's and decide nothing.
NETWORKS = {"network_width": 1024, "depth": 9, "n_retrained": 20, "n_networks": 50}
# The paper's setting has as many training records, and as many left out; fewer stand in too.
LEAST_RECORDS, LEAST_LEFT_OUT = 1000, 100
STRONG, _SHOWN = 0.7, 2

Table = pd.DataFrame


@dataclass(frozen=True)
class Correlation(Contrast):
    """A rank correlation over independent records, with Fisher's interval."""

    @classmethod
    def of(cls, row: Mapping[str, Any] | pd.Series, label: str) -> "Correlation":
        """From a row with ``value`` and the number ``n`` of records."""
        value, n = float(row["value"]), int(row["n"])
        return cls(label, value, (1 - value**2) / (n - 3) ** 0.5, units=n)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Fisher's limits at a confidence in (0, 1)."""
        half = stats.norm.ppf((1 + level) / 2) / (self.units - 3) ** 0.5
        middle = np.arctanh(np.clip(self.difference, -1 + 1e-12, 1 - 1e-12))
        return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def interval(row: Mapping[str, Any] | pd.Series, label: str) -> Contrast:
    """A row's number, in its own unit, its standard error from the normal 95% interval."""
    error = (row["high"] - row["low"]) / (2 * stats.norm.ppf(0.975))
    return Contrast(label, float(row["value"]), float(error))


def above(rows: Table, what: str, *keys: str) -> list[Outcome]:
    """Whether each row's number lies above 0."""
    named = [interval(row, f"{what}, {_label(row, keys)}") for _, row in rows.iterrows()]
    return [much_better(one, 0.0, parts=len(rows)) for one in named]


def correlated(rows: Table, what: str, *keys: str) -> list[Outcome]:
    """Whether each row's correlation is strong."""
    what = f"{what} (claimed: {STRONG:g} or more)"
    named = [Correlation.of(row, f"{what}, {_label(row, keys)}") for _, row in rows.iterrows()]
    return [much_better(one, STRONG, parts=len(rows)) for one in named]


def badly_correlated(rows: Table, what: str, *keys: str) -> list[Outcome]:
    """Whether each row's correlation, of ranks or values, is not."""
    what = f"{what} (claimed: below {STRONG:g})"
    named = [Correlation.of(row, f"{what}, {_label(row, keys)}") for _, row in rows.iterrows()]
    return [replace(chance(one, STRONG, parts=len(rows)), reason="") for one in named]


def most(rows: Table, *keys: str, parts: int = 0) -> list[Outcome]:
    """Whether each row's share, in percent, is more than half; training sets are the units."""
    outcomes = []
    for _, row in rows.iterrows():
        label = f"share, {_label(row, keys)}, less ½"
        if row.get("n_repeats", 1) > 1:
            share = of_row(row).minus(50).scaled(0.01, label)
        else:
            share = _pooled(row, label)
        outcomes.append(much_better(share, 0.0, parts=parts or len(rows)))
    return outcomes


def most_of_records(rows: Table, *keys: str) -> list[Outcome]:
    """The same with the records of all training sets as the units, as if they were independent."""
    labels = (f"share, {_label(row, keys)}, less ½" for _, row in rows.iterrows())
    each = zip(labels, rows.iterrows(), strict=True)
    return [much_better(_pooled(row, label), 0.0, parts=len(rows)) for label, (_, row) in each]


def _pooled(row: pd.Series, label: str) -> Share:
    return Share.count(round(row["value"] * row["n"] / 100), int(row["n"]), label, 0.5)


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
    said = f"proved in the chapter: {theorem}; {searched.reason}"
    return replace(searched, datasets=(holds,), reason=said)


def summed_up(outcomes: Iterable[Outcome], threshold: float = 0.0) -> Outcome:
    """All of a claim's parts, of which those nearest to their threshold are shown."""
    outcomes = list(outcomes)
    whole = every(outcomes)
    telling = [one for one in outcomes if one.word == whole.word] or outcomes
    numbers = sorted(
        (n for one in telling for n in one.numbers), key=lambda n: abs(n.difference - threshold)
    )
    return replace(whole, numbers=tuple(numbers[:_SHOWN]))


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
    n = attrs["sizes"]["Training records"]
    if int(n.replace(",", "")) >= LEAST_RECORDS and left_out >= LEAST_LEFT_OUT:
        return over(source, outcome)
    return overall({f"{attrs['set']}, {left_out} of {n} records left out": outcome}, PAPER)


def noted(outcome: Outcome, *said: str) -> Outcome:
    """The outcome, its word kept and the non-empty of what is `said` added to its reason."""
    return replace(outcome, reason="; ".join(one for one in (outcome.reason, *said) if one))


def of_networks(source: Source, outcome: Outcome) -> Outcome:
    """The same where networks smaller than the paper's stand in."""
    chosen = source.settings
    if all(getattr(chosen, name) >= least for name, least in NETWORKS.items()):
        return over(source, outcome)
    layers = f"{chosen.depth} hidden layers of {chosen.network_width}"
    name = f"{data_of(source)}, networks of {layers}, {chosen.n_retrained} records"
    return replace(overall({name: outcome}, PAPER), unit="records")
