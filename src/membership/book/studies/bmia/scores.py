"""One data set's evidence, read: scores of every attack, target by target, and their statistics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

from membership import attacks, metrics
from membership.arrays import FloatArray
from membership.book.exhibits.source import Source
from membership.errors import InputError
from membership.signals import loss_of_log_odds

Moments = tuple[FloatArray, FloatArray]
Pairs = list[tuple[FloatArray, np.ndarray]]
"""Scores and truth of each target's queries."""

GRID = np.logspace(-3, 0, 61)
RATES = (0.001, 0.01)
SIZES = (2, 4, 8)
DIFFERENCE = "difference"
MIXTURE = "BMIA, mixture"
CLOSED = "BMIA, closed form"
CONSTANT = "BMIA, constant sd"
LESS_BMIA = "less BMIA's"
LIRA, GLOBAL = "LiRA, a variance a record", "LiRA, one variance"
TWO_SIDED = "LiRA, two-sided"
PLAIN, LOG_ODDS, LOG_LOSS = "hinge difference", "log-odds difference", "log-loss difference"
ON_OTHERS, ON_MEMBERS = "accuracy on other records (%)", "accuracy on members (%)"
FULL = "BMIA, full posterior"
REGISTERED = {
    "Attack-P": "attack-p",
    "QMIA": "qmia",
    "Attack-R": "attack-r",
    "LiRA": "lira-offline",
    "RMIA": "rmia-share",
    DIFFERENCE: "difference",
    "BMIA": "bmia",
    MIXTURE: "bmia-mixture",
    CLOSED: "bmia-closed",
}
"""The registered attack behind each of the table's names; LiRA offline, a variance a record."""


def tpr(pairs: Pairs, fpr: float) -> list[float]:
    """The true-positive rate in percent, target by target."""
    return [100 * metrics.tpr_at_fpr(score, member, fpr) for score, member in pairs]


def auc(pairs: Pairs) -> list[float]:
    """The area under the ROC curve in percent, target by target."""
    return [100 * metrics.auc(score, member) for score, member in pairs]


def rate_name(fpr: float) -> str:
    """A metric's name as the published tables spell it: "TPR(%)@FPR=0.1%"."""
    return f"TPR(%)@FPR={100 * fpr:g}%"


def measured(pairs: Pairs, rates: tuple[float, ...] = RATES) -> dict[str, list[float]]:
    """The statistics of every table, by metric, target by target."""
    return {**{rate_name(fpr): tpr(pairs, fpr) for fpr in rates}, "auc(%)": auc(pairs)}


def rows(key: dict[str, Any], pairs: Pairs, rates: tuple[float, ...] = RATES) -> list[dict]:
    """One row a statistic: true-positive rates, then the AUC, in percent."""
    members = sum(int(member.sum()) for _, member in pairs)
    measured_rates = {rate_name(fpr): tpr(pairs, fpr) for fpr in rates}
    listed = [
        {**key, "metric": name, **percent(values, asked=members)}
        for name, values in measured_rates.items()
    ]
    return [*listed, {**key, "metric": "auc(%)", **percent(auc(pairs))}]


def less(
    key: dict[str, Any], pairs: Pairs, baseline: Pairs, words: str, rates: tuple[float, ...] = RATES
) -> list[dict]:
    """The same statistics less another attack's, target by target."""
    base = measured(baseline, rates)
    return [
        {**key, "metric": f"{name}, {words}", **metrics.summary(np.subtract(values, base[name]))}
        for name, values in measured(pairs, rates).items()
    ]


def percent(values: Any, *, asked: int | None = None) -> dict[str, float]:
    """`metrics.summary` of percentages; ``asked`` where they are rates among so many records."""
    return metrics.summary(values, asked=asked, scale=100.0, lowest=0.0, highest=100.0)


def roc(key: dict[str, Any], pairs: Pairs) -> pd.DataFrame:
    """The mean ROC curve on a grid of false-positive rates, with intervals over the targets."""
    band = metrics.roc_band(pairs, GRID)
    del band["standard_error"]
    return pd.DataFrame({**key, **band})


@dataclass(frozen=True)
class Seen:
    """Outputs of one data set's models and what their posteriors predict.

    Attributes
    ----------
    outputs, posterior : Dataset
    tables : dict
        `attacks.score_table` by the number of references.
    """

    outputs: xr.Dataset
    posterior: xr.Dataset
    tables: dict[int, attacks.ScoreTable] = field(default_factory=dict, repr=False)

    @property
    def attrs(self) -> dict[str, Any]:
        """What the evidence says of its origin."""
        return self.outputs.attrs

    @property
    def label(self) -> str:
        """The data set as the tables name it."""
        return self.outputs.attrs["set"]

    @property
    def targets(self) -> list[int]:
        """Numbers of the models attacked."""
        return self.outputs.attrs["targets"]

    @property
    def n_reference(self) -> int:
        """How many reference models there are."""
        return len(self.outputs.attrs["references"])

    @cached_property
    def hinge(self) -> FloatArray:
        """Of all models on all queries."""
        return self.outputs["hinge"].values.astype(float)

    @cached_property
    def log_odds(self) -> FloatArray:
        """Of all models on all queries."""
        return self.outputs["log_odds"].values.astype(float)

    @cached_property
    def held_log_odds(self) -> FloatArray:
        """Of all models on records that none has seen."""
        return self.outputs["held_log_odds"].values.astype(float)

    @cached_property
    def loss(self) -> FloatArray:
        """Of all models on all queries."""
        return loss_of_log_odds(self.log_odds)

    @cached_property
    def member(self) -> np.ndarray:
        """The truth, (models, queries)."""
        return self.outputs["member"].values

    def references(self, target: int, n: int) -> list[int]:
        """The models, n of them, that the attacker of a target has for references.

        Every target is attacked with another reference first, so that the spread over the targets
        includes which reference was trained.
        """
        named = self.outputs.attrs["references"]
        return [named[(target + k) % len(named)] for k in range(n)]

    def first(self, target: int) -> int:
        """The one reference of BMIA's attacker."""
        return self.references(target, 1)[0]

    def table(self, n: int) -> attacks.ScoreTable:
        """Every registered attack with so many references, computed once."""
        if n not in self.tables:
            self.tables[n] = attacks.score_table(self.outputs, self.posterior, references=n)
        return self.tables[n]

    def attack(self, name: str, n: int = 1) -> Pairs:
        """Scores and truth of the queries that count, target by target, of a registered attack."""
        table = self.table(n)
        if name not in table.score:
            raise InputError(f"{self.label}: the evidence does not allow {name}; gather it again")
        queried = ~np.isnan(table.score[name])
        return [
            (score[queries], member[queries])
            for score, member, queries in zip(table.score[name], table.member, queried, strict=True)
        ]

    def each(self, score: Callable[[int], FloatArray]) -> Pairs:
        """The same of a score of all queries, given for each target."""
        queried = self.outputs["asked"].values if "asked" in self.outputs else None
        pairs = []
        for target in self.targets:
            queries = slice(None) if queried is None else queried[target]
            pairs.append((score(target)[queries], self.member[target][queries]))
        return pairs

    def on(self, records: np.ndarray) -> "Seen":
        """The same asked about some of the records."""
        if len(records) == self.outputs.sizes["record"]:
            return self
        return Seen(self.outputs.sel(record=records), self.posterior.sel(record=records))

    def moments(self, model: int, variant: str = "kron") -> Moments:
        """What a reference predicts of every query's hinge, or of a target's own ("qmia")."""
        return moments(self.posterior, model, variant)


Score = Callable[[Seen, int, list[int]], FloatArray]
"""Of all queries, from a target and its references."""


def moments(posterior: xr.Dataset, model: int, variant: str) -> Moments:
    """Mean and standard deviation of every query's hinge, from evidence of kind posterior."""
    row = posterior.sel(reference=model, variant=variant)
    return row["mean"].values.astype(float), row["sd"].values.astype(float)


def read(source: Source, files: Callable[[Any], Sequence[str]]) -> list[Seen]:
    """Outputs and posteriors of files that come in turns, named by a function of the settings."""
    gathered = [source.evidence(name) for name in files(source.settings)]
    return [Seen(*two) for two in zip(gathered[::2], gathered[1::2], strict=True)]


def keys(seen: Seen) -> list[tuple[str, int]]:
    """The rows of Table 1: attack and number of references, none beyond those trained."""
    sizes = [n for n in SIZES if n <= seen.n_reference]
    several = [(name, n) for name in ("Attack-R", "LiRA", "RMIA") for n in sizes]
    return [
        ("Attack-P", 0),
        ("QMIA", 0),
        *several,
        (DIFFERENCE, 1),
        ("BMIA", 1),
        (MIXTURE, sizes[-1]),
    ]


def all_scores(seen: Seen) -> dict[tuple[str, int], Pairs]:
    """Scores of all attacks of Table 1, in the table's order."""
    return {(name, n): seen.attack(REGISTERED[name], max(n, 1)) for name, n in keys(seen)}


def _lira(**how: str) -> Score:
    """Offline; the paper's formula is one-sided and does not say whose variance."""
    return lambda s, t, r: attacks.lira(s.log_odds[t], s.log_odds[r], mode="offline", **how)


SCORES: dict[str, Score] = {
    "Attack-R": lambda s, t, r: attacks.attack_r(s.loss[t], s.loss[r]),
    "loss difference": lambda s, t, r: attacks.difference(-s.loss[t], -s.loss[r]),
    # Minus the logarithm of the loss is large where a model is sure of the label.
    LOG_LOSS: lambda s, t, r: attacks.difference(-np.log(s.loss[t]), -np.log(s.loss[r])),
    # LiRA with one variance for all records ranks so, and takes one reference too.
    LOG_ODDS: lambda s, t, r: attacks.difference(s.log_odds[t], s.log_odds[r]),
    PLAIN: lambda s, t, r: attacks.difference(s.hinge[t], s.hinge[r]),
    LIRA: _lira(),
    GLOBAL: _lira(variance="global"),
    TWO_SIDED: _lira(sided="two"),
    "RMIA": lambda s, t, r: attacks.rmia(
        expit(s.log_odds[t]),
        expit(s.log_odds[r]),
        expit(s.held_log_odds[t]),
        expit(s.held_log_odds[r]),
    ),
}
"""What attacks without a posterior make of a target and some references."""
TAKES_TWO = (LIRA, GLOBAL, TWO_SIDED)
"""A variance takes two references."""


def with_references(seen: Seen, name: str, n: int) -> Pairs:
    """One of `SCORES` with so many references."""
    return seen.each(lambda t: SCORES[name](seen, t, seen.references(t, n)))


def accuracies(seen: Seen) -> dict[str, list[float]]:
    """Of the targets in percent; a hinge above 0 is a right answer."""
    held_hinge = seen.outputs["held_hinge"].values
    return {
        ON_MEMBERS: [100 * (seen.hinge[t][seen.member[t]] > 0).mean() for t in seen.targets],
        ON_OTHERS: [100 * (held_hinge[t] > 0).mean() for t in seen.targets],
    }


def gained_of(metric: str) -> str:
    """What the gain in a statistic is called."""
    return f"{metric.replace('auc', 'AUC')} gained"


def gains(pairs: Pairs, plain: Pairs) -> dict[str, FloatArray]:
    """What an attack's statistics have more than the plain difference's, target by target."""
    base = measured(plain)
    return {
        gained_of(metric): np.subtract(values, base[metric])
        for metric, values in measured(pairs).items()
    }


def constant_sd(seen: Seen) -> Pairs:
    """BMIA's predicted mean, but one standard deviation for all: the ablation."""

    def score(target: int) -> FloatArray:
        return seen.hinge[target] - seen.moments(seen.first(target))[0]

    return seen.each(score)
