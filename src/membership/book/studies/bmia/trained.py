"""Trained models of one world and the records they are asked: what gathering looks at."""

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from membership import attacks, curvature, signals, training
from membership.arrays import FloatArray
from membership.book.studies import hinge_laws
from membership.book.studies.bmia.experiment import World, some_of
from membership.book.studies.bmia.settings import sizes_up_to
from membership.training import Ensemble

# Logits drawn at once.
CHUNK = 2**21
SOME = 4000
"""Queries of what compares posteriors or architectures: enough for a rate at 1%."""
MARGINAL = "marginal-likelihood"
Moments = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Answers:
    """What some models answer for some records, each of shape (models, records)."""

    hinge: FloatArray
    log_odds: FloatArray


@dataclass(frozen=True)
class Trained:
    """Trained models of one world and the records that are queried.

    Attributes
    ----------
    world : World
    ensemble : Ensemble
        Targets first, then references.
    x, y : array
        The queries.
    records : int array of shape (queries,)
        Their rows in the data set; strangers are numbered on from its end.
    member : bool array of shape (targets, queries)
        The truth.
    queried : bool array of shape (targets, queries)
        Which queries count for which target: all of them, but in Table 2.
    kept : dict
        What several files need and takes long: last layers, posteriors, draws, regressions.
    """

    world: World
    ensemble: Ensemble
    x: np.ndarray
    y: np.ndarray
    records: np.ndarray
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

    @property
    def references(self) -> range:
        """The reference models' numbers."""
        return range(self.n_targets, len(self.ensemble))

    @cached_property
    def answers(self) -> Answers:
        """Of all models on the queries."""
        return self._answers(self.x, self.y)

    @cached_property
    def held_out(self) -> Answers:
        """Of all models on the records that nobody was trained on."""
        rows = self.world.validation
        return self._answers(self.world.dataset.x[rows], self.world.dataset.y[rows])

    def _answers(self, x: np.ndarray, y: np.ndarray) -> Answers:
        logits = self.ensemble.logits(x)
        return Answers(signals.hinge(logits, None, y), signals.scaled_logit(logits, None, y))

    def first(self, target: int) -> int:
        """The one reference model that the attacker of a target has.

        Every target is attacked with another one, so that the spread over the targets includes
        which reference was trained.
        """
        return self.n_targets + target % self.n_reference

    @property
    def firsts(self) -> list[int]:
        """Every target's first reference, each once."""
        return list(dict.fromkeys(self.first(t) for t in range(self.n_targets)))

    def layer(self, model: int, part: str) -> curvature.LastLayer:
        """The last layer of a model on "queries", "validation" or its own records ("fit")."""
        key = (model, part)
        if key not in self.kept:
            rows = {"fit": self.ensemble.membership[model], "validation": self.world.validation}
            x = self.x if part == "queries" else self.world.dataset.x[rows[part]]
            module = self.ensemble.module(model).to(self.ensemble.device)
            self.kept[key] = curvature.last_layer(module, x)
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
                layer_of_validation = self.layer(model, "validation")
                held_out = (
                    layer_of_validation.features,
                    layer_of_validation.logits,
                    dataset.y[self.world.validation],
                )
            with warnings.catch_warnings():
                # The page says where validation ends at the edge of the grid.
                warnings.filterwarnings("ignore", message="prior_precision = 'validation'")
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
        seed: int | None = None,
        at_once: int = CHUNK,
    ) -> FloatArray:
        """Hinges of a reference on some queries under its posterior, (n_samples, queries)."""
        posterior = self.posterior(model, structure, prior)
        features, y = self.layer(model, "queries").features[queries], self.y[queries]
        step = max(1, at_once // (n_samples * self.world.dataset.n_classes))
        seed, parts = 1_000_000 * self.world.settings.seed if seed is None else seed, []
        for start in range(0, len(y), step):
            rows = slice(start, start + step)
            # Draws of weights are shared by all queries; draws of logits are each query's own.
            own = seed if method == "mc" else seed + start
            logits = posterior.sample(features[rows], n_samples, own, method)
            parts.append(signals.hinge(logits, None, y[rows]))
        return np.concatenate(parts, axis=1)

    @cached_property
    def subset(self) -> np.ndarray:
        """The places of at most `SOME` queries, in order."""
        return some_of(self.world.settings.seed, len(self.y), SOME)

    def by_size(self, model: int) -> dict[int, Moments]:
        """Moments of a reference's first so many draws under its Kronecker-factored posterior."""
        key = (model, "by size")
        if key not in self.kept:
            drawn = self.draws(model, self.world.settings.n_samples)
            self.kept[key] = {n: moments(drawn[:n]) for n in sizes_up_to(len(drawn))}
        return self.kept[key]

    def by_structure(self, model: int, structure: str) -> Moments:
        """Of some queries, with a posterior of another structure."""
        n = self.world.settings.n_samples
        return moments(self.draws(model, n, structure, queries=self.subset))

    def sampled(self, model: int) -> Moments:
        """Of all draws."""
        return self.by_size(model)[self.world.settings.n_samples]

    def closed_form(self, model: int) -> Moments:
        """The same with the runner-up frozen, which makes the hinge Gaussian."""
        return hinge_laws.closed_form(self.posterior(model), self.layer(model, "queries"), self.y)

    def qmia_model(self, target: int) -> training.ConditionalNormal:
        """A Gaussian regression of the target's hinge on record and label, on validation records.

        Fitted once a target.
        """
        if ("qmia", target) not in self.kept:
            self.kept["qmia", target] = training.fit_qmia(
                self.held_with_label(),
                self.held_out.hinge[target],
                seed=self.world.settings.seed,
            )
        return self.kept["qmia", target]

    def qmia(self, target: int) -> Moments:
        """Mean and standard deviation that the regression predicts for every query."""
        return self.qmia_model(target).predict(self.with_label(self.x, self.y))

    def quantile_score(self, target: int) -> FloatArray:
        """QMIA's score of every query by regressed quantiles; see `attacks.qmia`."""
        return attacks.qmia(
            self.held_with_label(),
            self.held_out.hinge[target],
            self.with_label(self.x, self.y),
            self.answers.hinge[target],
            head="pinball",
            seed=self.world.settings.seed,
        )

    def held_with_label(self) -> FloatArray:
        """The same of the records that nobody was trained on."""
        rows, dataset = self.world.validation, self.world.dataset
        return self.with_label(dataset.x[rows], dataset.y[rows])

    def with_label(self, x: np.ndarray, y: np.ndarray) -> FloatArray:
        """What a regression of the target's hinge is given of records: features, and the class."""
        return hinge_laws.with_label(x, y, self.world.dataset.n_classes)


def moments(drawn: FloatArray) -> Moments:
    """Mean and standard deviation of draws, query by query."""
    return drawn.mean(axis=0), drawn.std(axis=0, ddof=1)


def train(world: World, architecture: str = "") -> Trained:
    """Train the models of a world and query them on what is asked of its pool.

    Of another architecture (Figure 4) there are no more references than targets, asked about
    `SOME` of the queries.
    """
    few = min(len(world.targets), len(world.references)) if architecture else 0
    places = some_of(world.settings.seed, len(world.pool), SOME) if architecture else world.queries
    records, member = world.pool[places], world.member[:, places]
    x, y = world.dataset.x[records], world.dataset.y[records]
    ensemble = world.train(architecture, few)
    return Trained(world, ensemble, x, y, records, member, np.ones_like(member))


def out_of_distribution(world: World, x: np.ndarray, y: np.ndarray) -> Trained:
    """The models of a world, asked to tell their members from records of another source."""
    pool = world.dataset.x[world.pool]
    strangers = np.zeros((len(world.targets), len(y)), dtype=bool)
    member = np.concatenate([world.member, strangers], axis=1)
    queried = np.concatenate([world.member, ~strangers], axis=1)
    labels = np.concatenate([world.dataset.y[world.pool], y])
    records = np.concatenate([world.pool, len(world.dataset) + np.arange(len(y))])
    queries = np.concatenate([pool, x])
    return Trained(world, world.train(), queries, labels, records, member, queried)
