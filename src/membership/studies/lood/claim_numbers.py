"""The numbers behind claims: contrasts of an exhibit's rows, and outcomes over data sets."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.exhibits.numbers import number
from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import identity, much_better
from membership.published.outcomes import every, overall
from membership.studies.lood.records import NAMES

PAPER = (NAMES["cifar10"],)
# Networks smaller than these stand in for the paper's and decide nothing.
NETWORKS = {"network_width": 1024, "depth": 9, "n_retrained": 20, "n_networks": 50}
STRONG, _SHOWN = 0.7, 6

Table = pd.DataFrame


def interval(row: Mapping[str, Any] | pd.Series, label: str, less: float = 0.0) -> Contrast:
    """A number with its interval, less a threshold."""
    error = (row["high"] - row["low"]) / (2 * stats.norm.ppf(0.975))
    return Contrast(label, float(row["value"]) - less, float(error))


def above(rows: Table, threshold: float, *keys: str, parts: int = 0) -> list[Outcome]:
    """Whether each row's number lies above a threshold."""
    return [
        much_better(
            interval(row, _label(row, keys), threshold),
            0.0,
            parts=parts or len(rows),
        )
        for _, row in rows.iterrows()
    ]


def most(rows: Table, *keys: str, parts: int = 0) -> list[Outcome]:
    """Whether each row's share, in percent, is more than half."""
    found = []
    for _, row in rows.iterrows():
        label = f"share, {_label(row, keys)}, less ½"
        hits = round(row["value"] * row["n"] / 100)
        share = Share.count(hits, int(row["n"]), label, 0.5)
        found.append(much_better(share, 0.0, parts=parts or len(rows)))
    return found


def _label(row: pd.Series, keys: tuple[str, ...]) -> str:
    named = {"training_set": "set ", "q": "q = "}
    return ", ".join(f"{named.get(key, '')}{number(row[key])}" for key in keys)


def exceeded(excess: Any, label: str, tolerance: float = 1e-6) -> Outcome:
    """Nothing lies above a bound; one that does contradicts, for closed forms need no repeat."""
    values = np.asarray(excess, dtype=float)
    return identity(values, tolerance, label, confirm=lambda case: float(values[case]))


def summed_up(outcomes: Iterable[Outcome]) -> Outcome:
    """All of a claim's parts, of which those nearest to their threshold are shown."""
    outcomes = list(outcomes)
    whole = every(outcomes)
    telling = [one for one in outcomes if one.word == whole.word] or outcomes
    numbers = sorted((n for one in telling for n in one.numbers), key=lambda n: abs(n.difference))
    return replace(whole, numbers=tuple(numbers[:_SHOWN]))


def points(source: Any) -> pd.DataFrame:
    """The fixed points of the edge of chaos, a row each: activation and q."""
    table = source.table("lood-ctl-12")
    return table.pivot_table(
        index=["activation", "q"], columns="metric", values="value", sort=False
    )


def judged(wide: pd.DataFrame) -> pd.DataFrame:
    """Those of smooth activations whose variance is stable, which Proposition G.1 presumes."""
    return wide[(wide["chi_var"] < 1) & (wide.index.get_level_values("activation") != "ReLU")]


def data_of(source: Any) -> str:
    """The display name of the run's data set."""
    name = source.settings.dataset
    return NAMES.get(name, name)


def over(source: Any, outcome: Outcome) -> Outcome:
    """The outcome on the run's data: others than the paper's stand in and decide nothing."""
    return overall({data_of(source): outcome}, PAPER)


def of_networks(source: Any, outcome: Outcome) -> Outcome:
    """The same where networks smaller than the paper's stand in."""
    chosen = source.settings
    if all(getattr(chosen, name) >= least for name, least in NETWORKS.items()):
        return over(source, outcome)
    said = f"{chosen.depth + 1} layers of {chosen.network_width}, {chosen.n_retrained} records"
    return overall({f"{data_of(source)}, networks of {said}": outcome}, PAPER)
