"""What the adversary and the judge see of one world: signals, last layers, posteriors."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from membership import curvature, signals
from membership.attacks.bmia import bmia_sampled
from membership.attacks.gaussian_hinge import runner_up
from membership.errors import InputError
from membership.metrics.arrays import FloatArray
from membership.studies.bmia.worlds import World
from membership.training import Ensemble

# Logits drawn at once.
CHUNK = 2**21
MARGINAL = "marginal-likelihood"
Queries = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Signals:
    """Signals of some models on some records, each of shape (models, records)."""

    hinge: FloatArray
    odds: FloatArray
    loss: FloatArray

    @classmethod
    def of(cls, logits: Any, y: np.ndarray) -> Self:
        """All of them from logits of shape (models, records, classes)."""
        return cls(
            *(f(logits, None, y) for f in (signals.hinge, signals.scaled_logit, signals.loss))
        )

    @property
    def probability(self) -> FloatArray:
        """Of the true label."""
        return np.exp(-self.loss)


@dataclass(frozen=True)
class Evidence:
    """Trained models of one world and the records that are queried.

    Attributes
    ----------
    world : World
    ensemble : Ensemble
        Targets first, then references.
    x, y : array
        The queries.
    member : bool array of shape (targets, queries)
        The truth.
    queried : bool array of shape (targets, queries)
        Which queries count for which target: all of them, but in Table 2.
    kept : dict
        What several exhibits need and takes long: last layers, posteriors, draws, regressions.
    """

    world: World
    ensemble: Ensemble
    x: np.ndarray
    y: np.ndarray
    member: np.ndarray
    queried: np.ndarray
    kept: dict = field(default_factory=dict, repr=False)

    @property
    def n_targets(self) -> int:
        """How many models are attacked."""
        return len(self.world.targets)

    @property
    def n_reference(self) -> int:
        """How many reference models there are."""
        return len(self.ensemble) - self.n_targets

    @cached_property
    def signals(self) -> Signals:
        """Of all models on the queries."""
        return Signals.of(self.ensemble.logits(self.x), self.y)

    @cached_property
    def validation(self) -> Signals:
        """Of all models on the records that nobody was trained on."""
        x, y = self.records(self.world.validation)
        return Signals.of(self.ensemble.logits(x), y)

    def records(self, rows: np.ndarray) -> Queries:
        """Records of the data set by number."""
        return self.world.dataset.x[rows], self.world.dataset.y[rows]

    def references(self, target: int, n: int) -> np.ndarray:
        """The models, n of them, that the attacker of a target has for references.

        Every target is attacked with another reference first, so that the spread over the targets
        includes which reference was trained.
        """
        chosen = (target + np.arange(n)) % self.n_reference
        return self.n_targets + chosen

    def layer(self, model: int, part: str) -> curvature.LastLayer:
        """The last layer of a model on "queries", "validation" or its own records ("fit")."""
        key = (model, part)
        if key not in self.kept:
            rows = {"fit": self.ensemble.membership[model], "validation": self.world.validation}
            x = self.x if part == "queries" else self.world.dataset.x[rows[part]]
            self.kept[key] = curvature.last_layer(self.ensemble.module(model), x)
        return self.kept[key]

    def posterior(
        self, model: int, structure: str = "kron", prior: str = MARGINAL
    ) -> curvature.LaplacePosterior:
        """The Laplace posterior of a reference's last layer, on its own training records."""
        key = (model, structure, prior)
        if key not in self.kept:
            layer, dataset = self.layer(model, "fit"), self.world.dataset
            held_out = None
            if prior == "validation":
                held = self.layer(model, "validation")
                held_out = (held.features, held.logits, dataset.y[self.world.validation])
            self.kept[key] = curvature.last_layer_laplace(
                layer.features,
                layer.logits,
                prior,
                structure,
                weight=layer.weight,
                bias=layer.bias,
                label=dataset.y[self.ensemble.membership[model]],
                validation=held_out,
            )
        return self.kept[key]

    def draws(
        self,
        model: int,
        n_samples: int,
        structure: str = "kron",
        prior: str = MARGINAL,
        method: str = "lln",
        queries: Any = slice(None),
    ) -> FloatArray:
        """Hinges of a reference on some queries under its posterior, (n_samples, queries)."""
        key = (model, n_samples, structure, prior, method)
        whole = isinstance(queries, slice)
        if whole and key in self.kept:
            return self.kept[key]
        posterior = self.posterior(model, structure, prior)
        features, y = self.layer(model, "queries").features[queries], self.y[queries]
        step = max(1, CHUNK // (n_samples * self.world.dataset.n_classes))
        seed, parts = 1_000_000 * self.world.settings.seed, []
        for first in range(0, len(y), step):
            rows = slice(first, first + step)
            # Draws of weights are shared by all queries; draws of logits are each query's own.
            own = seed if method == "mc" else seed + first
            logits = posterior.sample(features[rows], n_samples, own, method)
            parts.append(signals.hinge(logits, None, y[rows]))
        drawn = np.concatenate(parts, axis=1)
        if whole and structure != "full" and (prior, method) == (MARGINAL, "lln"):
            # Several exhibits start from these.
            self.kept[key] = drawn
        return drawn

    def difference_moments(self, model: int) -> tuple[FloatArray, FloatArray]:
        """Mean logits and, for the closed form, the variance of label less runner-up."""
        layer = self.layer(model, "queries")
        rival = runner_up(layer.logits, self.y)
        posterior = self.posterior(model)
        return layer.logits, posterior.difference_variance(layer.features, self.y, rival)

    def bmia(self, target: int, **choices: Any) -> FloatArray:
        """z of Algorithm 1 for every query; choices as for `draws`."""
        n_samples = choices.pop("n_samples", self.world.settings.n_samples)
        reference = self.references(target, 1)[0]
        drawn = self.draws(reference, n_samples, **choices)
        return bmia_sampled(self.signals.hinge[target], drawn)

    def each(self, score: Any) -> list[tuple[FloatArray, np.ndarray]]:
        """Scores and truth of the queries that count, target by target."""
        return [
            (score(t)[self.queried[t]], self.member[t][self.queried[t]])
            for t in range(self.n_targets)
        ]


def evidence(world: World) -> Evidence:
    """Train the models of a world and query them on its pool."""
    x, y = world.dataset.x[world.pool], world.dataset.y[world.pool]
    return Evidence(world, world.train(), x, y, world.member, np.ones_like(world.member))


def out_of_distribution(world: World, x: np.ndarray, y: np.ndarray) -> Evidence:
    """The models of a world, asked to tell their members from records of another source.

    Raises
    ------
    InputError
        The other records differ in shape or have classes that the models do not know.
    """
    if x.shape[1:] != world.dataset.x.shape[1:] or y.max() >= world.dataset.n_classes:
        raise InputError(
            f"ood_dataset has records of shape {x.shape[1:]} and labels up to {y.max()}; the "
            f"models take {world.dataset.x.shape[1:]} and know {world.dataset.n_classes} classes"
        )
    pool = world.dataset.x[world.pool]
    strangers = np.zeros((len(world.targets), len(y)), dtype=bool)
    member = np.concatenate([world.member, strangers], axis=1)
    queried = np.concatenate([world.member, ~strangers], axis=1)
    labels = np.concatenate([world.dataset.y[world.pool], y])
    return Evidence(world, world.train(), np.concatenate([pool, x]), labels, member, queried)


def attrs(some: list[World], more: tuple[str, ...] = (), **extra: Any) -> dict[str, Any]:
    """What a table made from these worlds says about its origin."""
    deviations = [*(text for world in some for text in world.deviations), *more]
    return {
        "data": {world.name: world.dataset.digest for world in some},
        "deviations": deviations,
        "comparable": not deviations,
        "device": some[0].device,
        **extra,
    }
