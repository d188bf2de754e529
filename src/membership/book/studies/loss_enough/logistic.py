"""A logistic regression by brute force: a grid of weights, a few kinds of records, all sums exact.

Two weights on a grid, records of five kinds, D' drawn with replacement from them. Training is one
of two: a draw from the posterior exp(-(sum of losses + ridge) / T) on the grid, or the last step of
SGD with batches of one and a little Gaussian noise, whose Markov chain on the grid has a stationary
law that is solved for. A population attack averages over all D' that there are.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
from scipy.special import expit

from membership.arrays import FloatArray
from membership.attacks.iha import iha_at
from membership.attacks.residual import residual_at
from membership.book.studies.loss_enough import exact_roc
from membership.book.studies.loss_enough.names import (
    ALL,
    BEST_LOSS,
    BEST_PARAMETERS,
    IHA,
    IHA_STAR,
    MALT,
    MAST,
    MATT,
    POPULATION,
    POSTERIOR,
    RESIDUAL,
    SGD,
)

# Features times label: a label 1 in an expected place, and one record that is labelled against it.
KINDS = np.array([[1.6, 0.3], [0.4, 1.2], [-0.5, 1.0], [0.9, -0.7], [-1.0, -0.4]])
LIKELY = np.array([0.25, 0.25, 0.2, 0.2, 0.1])
OTHERS = 5
TEMPERATURE, PENALTY = 0.5, 0.6
RATE, NOISE = 0.6, 0.25
WIDEST = 5.0
DAMPING = 0.2
_DIGITS = 9


@dataclass(frozen=True)
class LogisticGame:
    """The game on a grid of `points` weights a side, with `others` records in D'."""

    points: int
    others: int = OTHERS
    temperature: float = TEMPERATURE

    @cached_property
    def weights(self) -> FloatArray:
        """The grid, (points^2, 2)."""
        axis = np.linspace(-WIDEST, WIDEST, self.points)
        return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)

    @cached_property
    def losses(self) -> FloatArray:
        """Of each kind at each weight, (kinds, points^2)."""
        return np.logaddexp(0.0, -KINDS @ self.weights.T)

    @cached_property
    def gradients(self) -> FloatArray:
        """Likewise, (kinds, points^2, 2)."""
        return -expit(-KINDS @ self.weights.T)[:, :, None] * KINDS[:, None, :]

    @cached_property
    def sets(self) -> list[tuple[tuple[int, ...], float]]:
        """Every D' as counts of the kinds, with its probability."""
        counted = []
        for drawn in combinations_with_replacement(range(len(KINDS)), self.others):
            counts = np.bincount(drawn, minlength=len(KINDS))
            ways = factorial(self.others) / np.prod([float(factorial(c)) for c in counts])
            counted.append((tuple(int(c) for c in counts), float(ways * np.prod(LIKELY**counts))))
        return counted

    def law(self, optimiser: str, counts: tuple[int, ...]) -> FloatArray:
        """The probability of each weight after training on such records."""
        if optimiser == POSTERIOR:
            return self._posterior(np.array(counts))
        return self._stationary(np.array(counts))

    def _posterior(self, counts: np.ndarray) -> FloatArray:
        ridge = PENALTY / 2 * np.square(self.weights).sum(axis=1)
        energy = (counts @ self.losses + ridge) / self.temperature
        mass = np.exp(energy.min() - energy)
        return mass / mass.sum()

    @cached_property
    def _moves(self) -> FloatArray:
        """One step of SGD on each kind: from a weight (rows) to each weight, (kinds, g, g)."""
        axis = np.linspace(-WIDEST, WIDEST, self.points)
        decay = PENALTY / (self.others + 1)
        moves = []
        for gradient in self.gradients:
            to = self.weights - RATE * (gradient + decay * self.weights)
            first, second = (np.exp(-(((to[:, k, None] - axis) / NOISE) ** 2) / 2) for k in (0, 1))
            joint = (first[:, :, None] * second[:, None, :]).reshape(len(to), -1)
            moves.append(joint / joint.sum(axis=1, keepdims=True))
        return np.stack(moves)

    def _stationary(self, counts: np.ndarray) -> FloatArray:
        """The law that a step leaves as it is: one linear system."""
        size = len(self.weights)
        step = np.tensordot(counts / counts.sum(), self._moves, axes=1)
        system = np.eye(size) - step.T
        system[0] = 1.0
        unit = np.zeros(size)
        unit[0] = 1.0
        stationary = np.maximum(np.linalg.solve(system, unit), 0.0)
        return stationary / stationary.sum()

    @cache  # noqa: B019
    def laws(self, optimiser: str) -> tuple[FloatArray, FloatArray]:
        """Without the record, (sets, g), and with a record of each kind, (sets, kinds, g)."""
        known: dict[tuple[int, ...], FloatArray] = {}

        def law(counts: tuple[int, ...]) -> FloatArray:
            if counts not in known:
                known[counts] = self.law(optimiser, counts)
            return known[counts]

        added = np.eye(len(KINDS), dtype=int)
        without = np.stack([law(counts) for counts, _ in self.sets])
        with_record = [
            [law(tuple(int(c) for c in counts + kind)) for kind in added]
            for counts in (np.array(counts) for counts, _ in self.sets)
        ]
        return without, np.stack([np.stack(by_kind) for by_kind in with_record])

    @cache  # noqa: B019
    def rates(self, optimiser: str) -> dict[str, dict[str, tuple[float, float]]]:
        """By knowledge and attack, AUC and TPR at 1% FPR, pooled over all D' and records."""
        without, within = self.laws(optimiser)
        chance = np.array([probability for _, probability in self.sets])
        mixed = chance @ without
        mixed_in = np.tensordot(chance, within, axes=1)
        settings = {
            ALL: (without, within, chance, np.array([counts for counts, _ in self.sets])),
            POPULATION: (mixed[None], mixed_in[None], np.ones(1), self.others * LIKELY[None]),
        }
        by_knowledge = {}
        for knowledge, (out, into, mass, counts) in settings.items():
            weight = mass[:, None, None] * LIKELY[None, :, None]
            member, other = weight * into, weight * out[:, None]
            by_knowledge[knowledge] = {
                attack: exact_roc.rates(score, member, other)
                for attack, score in self.scores(out, into, counts).items()
            }
        return by_knowledge

    def scores(self, out: FloatArray, into: FloatArray, counts: FloatArray) -> dict:
        """Every attack's score of (set, kind, weight), for who expects these counts of others."""
        loss = np.broadcast_to(self.losses, into.shape)
        softmin = -np.log(np.einsum("sg,kg->sk", out, np.exp(-self.losses / self.temperature)))
        reference = out @ self.weights
        by_attack = {
            BEST_PARAMETERS: exact_roc.log_ratio(into, np.broadcast_to(out[:, None], into.shape)),
            BEST_LOSS: self._of_loss(out, into),
            MALT: -loss,
            MAST: self.temperature * softmin[:, :, None] - loss,
            MATT: self._matt(reference),
        }
        return {**by_attack, **self._white_box(tuple(map(tuple, counts.tolist())))}

    def _of_loss(self, out: FloatArray, into: FloatArray) -> FloatArray:
        """The log-likelihood ratio of the record's loss: weights of one loss are one outcome."""
        ratio = np.empty_like(into)
        for kind, loss in enumerate(self.losses):
            _, index = np.unique(np.round(loss, _DIGITS), return_inverse=True)
            for outcome in range(len(out)):
                sums = [np.bincount(index, law) for law in (into[outcome, kind], out[outcome])]
                ratio[outcome, kind] = exact_roc.log_ratio(*sums)[index]
        return ratio

    def _matt(self, reference: FloatArray) -> FloatArray:
        """Against the mean of the models without the record, (sets, 2)."""
        gradient = -expit(-reference @ KINDS.T)[:, :, None] * KINDS
        return -np.einsum("skj,sgj->skg", gradient, self.weights - reference[:, None])

    @cache  # noqa: B019
    def _white_box(self, counts: tuple[tuple[float, ...], ...]) -> dict[str, FloatArray]:
        """IHA, IHA* and the residual test with the expected gradient over the others."""
        n, recipe = self.others + 1, (RATE, 0.0, PENALTY / (self.others + 1))
        curvature = expit(KINDS @ self.weights.T) * expit(-KINDS @ self.weights.T)
        outer = KINDS[:, :, None] * KINDS[:, None, :]
        by_attack = {name: [] for name in (IHA, IHA_STAR, RESIDUAL)}
        for count in counts:
            mean_gradient = np.tensordot(np.array(count), self.gradients, axes=1) / n
            hessian = np.einsum("k,kg,kij->gij", count, curvature, outer) / n
            for kind, gradient in enumerate(self.gradients):
                seen = (
                    self.weights,
                    self.losses[kind],
                    gradient,
                    mean_gradient,
                    hessian,
                    n,
                    recipe,
                )
                by_attack[IHA].append(iha_at(*seen, damping=DAMPING))
                by_attack[IHA_STAR].append(iha_at(*seen, "regularised", damping=DAMPING))
                by_attack[RESIDUAL].append(
                    residual_at(self.weights, gradient, mean_gradient, n, recipe[2])
                )
        shape = (len(counts), len(KINDS), -1)
        return {name: np.stack(scores).reshape(shape) for name, scores in by_attack.items()}


OPTIMISERS = (POSTERIOR, SGD)
