"""A training run as the accountant sees it: phases of steps that may use a record."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from membership.arrays import one_of
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.levels import composed_mu, subsampled_mu
from membership.privacy.numerical import Pair

SAMPLINGS = ("poisson", "fixed", "shuffled")
ADJACENCIES = ("add-remove", "replace-one")
PHASE = ("n", "n_records", "epochs", "rate", "steps", "sigma")
MOST_COMPOSED = 10**9
MOST_IN_GROUP = 100
Phases = Sequence[Mapping[str, float]]
"""What `history` takes: phases, each with keys of `PHASE`."""


class Phase(NamedTuple):
    """Steps of one kind: `steps` batches, of which the record may be in `composed`."""

    n: float
    n_records: float
    steps: int
    composed: int
    p: float
    sigma: float


class Run(NamedTuple):
    """Phases on the same records; the last one is the run in question."""

    phases: tuple[Phase, ...]
    sampling: str
    adjacency: str
    group: int

    @property
    def steps(self) -> int:
        return sum(phase.steps for phase in self.phases)

    @property
    def last(self) -> Phase:
        return self.phases[-1]

    @property
    def reach(self) -> float:
        """How far a record moves a step's sum of gradients, in clipping norms."""
        # With Poisson sampling a replaced record moves two mixtures by one norm each.
        return 1.0 if self.sampling == "poisson" else 2.0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the pairs of distributions whose worst bounds every attack."""
        if self.sampling != "poisson":
            return ("either",)
        return ("joined", "left") if self.adjacency == "add-remove" else ("exchanged",)

    def at(self, sigma: float) -> "Run":
        """The same run with another noise in its last phase."""
        return self._replace(phases=(*self.phases[:-1], self.last._replace(sigma=sigma)))

    def parts(self, kind: str) -> list[tuple[Pair, int]]:
        """Each phase's pair of distributions, and its steps."""
        return [
            (Pair(kind, _over(self.reach, phase.sigma), phase.p, self.group), phase.composed)
            for phase in self.phases
        ]

    def step(self) -> float:
        """mu of the phases' most telling step, where its batch holds the record."""
        norms = self.group * (1.0 if self.adjacency == "add-remove" else 2.0)
        return max(_over(norms, phase.sigma) for phase in self.phases)

    def limit(self) -> float:
        """mu of all steps, in the limit of many; at full batch that of any number."""
        return math.hypot(*(self._limit(phase) for phase in self.phases))

    def _limit(self, phase: Phase) -> float:
        mu = _over(self.reach, phase.sigma)
        is_poisson = self.sampling == "poisson"
        if phase.p == 1:
            norms = self.group * (1.0 if self.adjacency == "add-remove" else 2.0)
            return composed_mu(_over(norms, phase.sigma), phase.composed)
        with np.errstate(over="ignore"):
            if is_poisson and self.adjacency == "replace-one":
                return float(2 * phase.p * np.sqrt(phase.composed * np.sinh(np.square(mu))))
            if self.group > 1:
                # The squared distance of the mixture from N(0, 1): two draws of how many joined.
                drawn = Pair("joined", 1.0, phase.p, self.group).mixture
                square = sum(
                    a * b * np.expm1(np.square(mu) * i * j) for a, i in drawn for b, j in drawn
                )
                return float(np.sqrt(phase.composed * square))
        return limit_at(phase, mu, "fixed" if is_poisson else "either")


def limit_at(phase: Phase, mu: float, order: str) -> float:
    """mu of a phase's steps, in the limit, where each has the level mu."""
    if phase.p == 1:
        return composed_mu(mu, phase.composed)
    return subsampled_mu(mu, phase.n, phase.n_records, phase.composed, order=order)


def _over(norms: float, sigma: float) -> float:
    return norms / sigma if sigma else math.inf


def run_of(
    sizes: Mapping[str, Any],
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    group: int = 1,
    history: Phases = (),
    d: float | None = None,
) -> Run:
    """Check a run's sizes, and that its sampling, adjacency and group can be accounted for."""
    one_of("sampling", sampling, SAMPLINGS)
    one_of("adjacency", adjacency, ADJACENCIES)
    group = _group(group, d)
    if adjacency == "add-remove" and sampling != "poisson":
        raise InputError(
            f"adjacency = 'add-remove': no accountant exists for {sampling} batches, which need a "
            "fixed number of records; give replace-one, or sampling poisson"
        )
    phases = [_phase_of(i, one, sampling, d) for i, one in enumerate(_listed(history))]
    if not phases or any(value is not None for key, value in sizes.items() if key != "sigma"):
        phases.append(_phase(sizes, sampling, d))
    elif sizes["sigma"]:
        raise InputError(
            f"sigma = {sizes['sigma']}: without a run beside the history its phases have the "
            "noise; give it there"
        )
    run = Run(tuple(phases), sampling, adjacency, group)
    if run.steps > MOST_COMPOSED:
        raise InputError(f"history: {run.steps:.3g} steps in all; give at most 1e9 steps")
    if group > 1 and run.kinds != ("joined", "left") and any(phase.p < 1 for phase in phases):
        raise InputError(
            f"group = {group}: no accountant here for groups of replaced records in batches drawn "
            "at random; give sampling poisson and adjacency add-remove"
        )
    return run


def _group(group: int, d: float | None) -> int:
    accepted = f"a whole number of records, 1 to {MOST_IN_GROUP}"
    checks.require("group", group, lambda v: 1 <= v <= MOST_IN_GROUP and v == v // 1, accepted)
    if group > 1 and d is not None:
        raise InputError(
            f"group = {group} and d = {d}: membership privacy's own level is of one record; leave "
            "d out, and the group has what differential privacy implies"
        )
    return int(group)


def _listed(history: Phases) -> list[Mapping[str, float]]:
    keys = ", ".join(PHASE)
    if isinstance(history, str | Mapping) or not isinstance(history, Iterable):
        raise InputError(f"history = {history!r}: give a list of phases, dicts with keys {keys}")
    phases = list(history)
    for i, one in enumerate(phases):
        if not isinstance(one, Mapping):
            raise InputError(f"history[{i}] = {one!r}: give a phase as a dict with keys {keys}")
        unknown = [repr(key) for key in one if key not in PHASE]
        if unknown:
            raise InputError(f"history[{i}]: unknown {', '.join(unknown)}; a phase has {keys}")
    return phases


def _phase_of(place: int, one: Mapping[str, float], sampling: str, d: float | None) -> Phase:
    try:
        return _phase({**dict.fromkeys(PHASE), "sigma": 0.0, **one}, sampling, d)
    except InputError as error:
        raise InputError(f"history[{place}]: {error}") from None


def _phase(sizes: Mapping[str, Any], sampling: str, d: float | None) -> Phase:
    """One phase's sizes, checked."""
    n, n_records, p = _batch(sizes["n"], sizes["n_records"], sizes["rate"])
    count, passes = _length(n, n_records, sizes["epochs"], sizes["steps"])
    if sampling != "poisson" and n < 1:
        raise InputError(f"n = {n:g}: {sampling} batches hold 1 record or more; give that")
    if d is not None:
        checks.number("n", sizes["n"])
    # A shuffled run uses a record once an epoch. That nobody knows when is not credited.
    composed = passes if sampling == "shuffled" else count
    if composed > MOST_COMPOSED:
        steps, epochs = sizes["steps"], sizes["epochs"]
        asked = f"steps = {steps:g}" if epochs is None else f"epochs = {epochs:g}: {count} steps"
        raise InputError(f"{asked}; give at most 1e9 steps")
    p = 1.0 if sampling == "shuffled" else p
    return Phase(n, n_records, count, composed, p, checks.number("sigma", sizes["sigma"]))


def _batch(
    n: float | None, n_records: float | None, rate: float | None
) -> tuple[float, float, float]:
    """n, N and the rate n / N, of which two are given, or the rate alone: then n is 1."""
    if rate is None:
        n = checks.number("n", n, "batch_size")
        n_records = checks.records(n_records, n)
        return n, n_records, n / n_records
    if n_records is not None:
        raise InputError(f"rate = {rate} and n_records = {n_records}: give one of them")
    rate = checks.number("rate", rate)
    n = 1.0 if n is None else checks.number("n", n, "batch_size")
    return n, n / rate, rate


def _length(
    n: float, n_records: float, epochs: float | None, steps: float | None
) -> tuple[int, int]:
    """Steps, and passes over the training set, begun ones included."""
    if steps is None:
        epochs = checks.number("epochs", epochs)
        return math.ceil(n_records * epochs / n), math.ceil(epochs)
    if epochs is not None:
        raise InputError(f"epochs = {epochs} and steps = {steps}: give one of them")
    steps = checks.require("steps", steps, lambda v: v >= 1 and v == v // 1, "a whole number, 1 up")
    return int(steps), math.ceil(round(steps * n / n_records, 9))
