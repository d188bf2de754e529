"""How a training run draws its batches, and what two neighbouring training sets are."""

import math
from typing import NamedTuple

import numpy as np

from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.levels import composed_mu, subsampled_mu
from membership.privacy.numerical import Pair

SAMPLINGS = ("poisson", "fixed", "shuffled")
ADJACENCIES = ("add-remove", "replace-one")
MOST_COMPOSED = 10**9


class Schedule(NamedTuple):
    """What is composed: the steps that may use the record, each with probability p."""

    n: float
    n_records: float
    steps: int
    composed: int
    p: float
    sampling: str
    adjacency: str

    @property
    def reach(self) -> float:
        """How far the record moves a step's sum of gradients, in clipping norms."""
        # With Poisson sampling a replaced record moves two mixtures by one norm each.
        return 1.0 if self.sampling == "poisson" else 2.0

    def step(self, sigma: float) -> float:
        """mu of one step whose batch holds the record."""
        norms = 1.0 if self.adjacency == "add-remove" else 2.0
        return norms / sigma if sigma else math.inf

    def pairs(self, sigma: float) -> list[Pair]:
        """The pairs of distributions whose worst bounds every attack."""
        if self.sampling != "poisson":
            kinds = ["either"]
        else:
            kinds = ["joined", "left"] if self.adjacency == "add-remove" else ["exchanged"]
        mu = self.reach / sigma if sigma else math.inf
        return [Pair(kind, mu, self.p) for kind in kinds]

    def limit(self, sigma: float) -> float:
        """mu of all steps, in the limit of many."""
        mu = self.reach / sigma if sigma else math.inf
        if self.sampling == "poisson" and self.adjacency == "replace-one":
            with np.errstate(over="ignore"):
                return float(2 * self.p * np.sqrt(self.composed * np.sinh(np.square(mu))))
        return self.limit_at(mu, "fixed" if self.sampling == "poisson" else "either")

    def limit_at(self, mu: float, order: str) -> float:
        """mu of all steps, in the limit, where each has the level mu."""
        if self.sampling == "shuffled":
            return composed_mu(mu, self.composed)
        return subsampled_mu(mu, self.n, self.n_records, self.composed, order=order)


def schedule(n: float, n_records: float, epochs: float, sampling: str, adjacency: str) -> Schedule:
    """Check a run's sizes, and that its sampling and adjacency can be accounted for."""
    n = checks.batch(n)
    n_records, epochs = checks.records(n_records, n), checks.epochs(epochs)
    for name, value, known in (
        ("sampling", sampling, SAMPLINGS),
        ("adjacency", adjacency, ADJACENCIES),
    ):
        if value not in known:
            raise InputError(f"{name} = {value!r}: give one of {', '.join(known)}")
    if adjacency == "add-remove" and sampling != "poisson":
        raise InputError(
            f"adjacency = 'add-remove': no accountant exists for {sampling} batches, which need a "
            "fixed number of records; give replace-one, or sampling poisson"
        )
    steps = math.ceil(n_records * epochs / n)
    # A shuffled run uses a record once an epoch. That nobody knows when is not credited.
    composed = math.ceil(epochs) if sampling == "shuffled" else steps
    if composed > MOST_COMPOSED:
        raise InputError(f"epochs = {epochs:g}: {steps} steps; give at most 1e9 steps")
    p = 1.0 if sampling == "shuffled" else n / n_records
    return Schedule(n, n_records, steps, composed, p, sampling, adjacency)
