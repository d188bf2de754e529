"""Large models one by one: trained, asked, and what they answered kept, which is small.

A machine that is at hand for minutes then goes on with the next model, also where the trained
ones are gone.
"""

from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import torch

from membership import signals, training
from membership.arrays import FloatArray
from membership.book.studies.bmia.experiment import World
from membership.book.studies.bmia.trained import Answers, Moments, Trained, train
from membership.evidence.gathering import Arrays, Parts
from membership.training.config import moved

REACH = 2
VIEWS = [
    (down, across, mirrored)
    for mirrored in (0, 1)
    for down, across in ((2, 2), (0, 2), (4, 2), (2, 0), (2, 4))
]
"""The image and its four shifts by two pixels, and their mirror images."""
STRUCTURES = ("kron", "diag", "full")
Item = list[Any]


def items(world: World) -> list[Item]:
    """The models: targets, then references, each with whether it is a target's first."""
    n_targets, n_reference = len(world.targets), len(world.references)
    return [
        *(["target", number] for number in range(n_targets)),
        *(["reference", number, number < n_targets] for number in range(n_reference)),
    ]


def look(world: World, item: Item) -> Arrays:
    """What is asked of one model, of the queries and of records that no model has seen."""
    kind, number, *first = item
    trained = train(world.alone(kind, number))
    found = {"queries": _both(trained.answers), "held": _both(trained.held_out)}
    rows, dataset = world.validation, world.dataset
    views = {"queries": (trained.x, trained.y), "held": (dataset.x[rows], dataset.y[rows])}
    for asked, pair in views.items():
        found[f"{asked}, views"] = _both(on_average(trained.ensemble, *pair))
    if kind == "target":
        return found | {"qmia": np.array(trained.qmia(0))}
    found["closed form"] = np.array(trained.closed_form(0))
    if first == [True]:
        found["kron"] = np.array(trained.sampled(0))
        by_structure = [trained.by_structure(0, structure) for structure in STRUCTURES]
        found["structures"] = np.array(by_structure)
    return found


def _both(answers: Answers) -> FloatArray:
    return np.array([answers.hinge[0], answers.log_odds[0]])


def on_average(ensemble: training.Ensemble, x: np.ndarray, y: np.ndarray) -> Answers:
    """What models answer on average over an image's views."""
    images, by_view = torch.tensor(x), []
    for view in VIEWS:
        moves = torch.tensor([view]).expand(len(images), 3)
        logits = ensemble.logits(moved(images, moves, REACH))
        by_view.append([signals.hinge(logits, None, y), signals.scaled_logit(logits, None, y)])
    return Answers(*np.mean(by_view, axis=0))


def parts(world: World) -> Parts:
    """The models of a world, each to be looked at by itself."""
    config, settings = asdict(world.config), world.settings
    own = [world.architecture, config, settings.seed, settings.n_samples, world.device]
    determined = [world.dataset.digest, len(world.validation), *own]
    return Parts(partial(look, world), items(world), determined)


@dataclass(frozen=True)
class ByModel(Trained):
    """The models of a world by what was asked of each; those are not at hand."""

    looks: list[Arrays] = field(default_factory=list)

    @cached_property
    def answers(self) -> Answers:
        """Of all models on the queries."""
        return self.asked("queries")

    @cached_property
    def held_out(self) -> Answers:
        """Of all models on the records that nobody was trained on."""
        return self.asked("held")

    def asked(self, what: str) -> Answers:
        """What all models answer, on average over views or to the image alone."""
        return Answers(*np.array([one[what] for one in self.looks]).swapaxes(0, 1))

    def sampled(self, model: int) -> Moments:
        """Of all draws of a target's first reference."""
        return self._moments(model, "kron")

    def closed_form(self, model: int) -> Moments:
        """Of a reference."""
        return self._moments(model, "closed form")

    def qmia(self, target: int) -> Moments:
        """Of a target's regression."""
        return self._moments(target, "qmia")

    def by_structure(self, model: int, structure: str) -> Moments:
        """Of some queries, with each structure of a first reference's posterior."""
        mean, sd = self.looks[model]["structures"][STRUCTURES.index(structure)]
        return mean, sd

    def _moments(self, model: int, what: str) -> Moments:
        mean, sd = self.looks[model][what]
        return mean, sd


def assembled(world: World) -> ByModel:
    """All models of a world, each looked at by itself."""
    each, records = parts(world), world.pool[world.queries]
    if world.device == "cpu" and not all(each.are_there()):
        world.train()  # by several processes, where they may
    looks, member = each.found(), world.member[:, world.queries]
    x, y = world.dataset.x[records], world.dataset.y[records]
    ensemble = cast(training.Ensemble, looks)  # for their number alone
    return ByModel(world, ensemble, x, y, records, member, np.ones_like(member), looks=looks)
