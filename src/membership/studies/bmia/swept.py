"""One small network on more and more members, and what the posterior gains at each accuracy.

For Control 16. Statistics are kept and no scores: of so many queries they would not fit.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from membership import attacks, evidence, training
from membership.attacks.bmia import bmia_from_moments
from membership.signals import loss_of_log_odds
from membership.studies.bmia import names, retraining
from membership.studies.bmia.gather import about
from membership.studies.bmia.summaries import measured
from membership.studies.bmia.trained import Trained, train
from membership.studies.bmia.worlds import ON_A_CPU, Recipe, World, some_of, world

ASKED = 10_000
"""Queries of a target at most, about half of them members."""
ON_OTHERS, ON_MEMBERS = "accuracy on other records (%)", "accuracy on members (%)"
EPOCHS = {"tiny": 10, "quick": 60, "paper": 60}
BATCH, RATE, DECAY = 256, 0.02, 5e-4
PLAIN, BMIA, ATTACK_R, LIRA = "difference", "BMIA", "Attack-R", "LiRA, a variance a record"
"""With one reference each, but LiRA has all."""


@dataclass(frozen=True)
class Cosine(Recipe):
    """The recipe by which 25,000 Purchase-like members give 84% on other records."""

    @property
    def config(self) -> training.TrainingConfig:
        """The optimisation as the training room takes it."""
        return training.TrainingConfig(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=RATE,
            momentum=0.9,
            weight_decay=DECAY,
            schedule="cosine",
        )


def gather(name: str, network: str, settings: Any) -> xr.Dataset:
    """Rates, AUC and accuracies by target, and how the Laplace deviation is related."""
    trained = train(swept(name, network, settings))
    attacked = [_attacked(trained, t) for t in range(trained.n_targets)]
    reliability = retraining.identified(trained.answers.hinge[list(trained.references)])
    related = [_related(trained, t, reliability) for t in range(trained.n_targets)]
    value = [[list(one.values()) for one in each.values()] for each in attacked]
    return evidence.dataset(
        "measured",
        {
            "value": (("target", "attack", "metric"), np.array(value)),
            "related": (("target", "quantity"), np.array([list(r.values()) for r in related])),
        },
        {
            "attack": list(attacked[0]),
            "metric": list(attacked[0][BMIA]),
            "quantity": list(related[0]),
        },
        **about(trained),
    )


def swept(name: str, network: str, settings: Any) -> World:
    """A world of some data and network; Purchase-like ones are trained by one recipe."""
    own = {"architecture": network, "epochs": 0}
    found = world(name, settings.model_copy(update=own))
    if found.name not in ON_A_CPU:
        epochs = EPOCHS[settings.profile]
        found = replace(found, recipe=Cosine(network, epochs, BATCH, (0, 0)))
    asked = some_of(settings.seed, len(found.pool), ASKED)
    return replace(found, asked=asked, validation=found.validation[: ASKED // 2])


def _attacked(trained: Trained, target: int) -> dict[str, dict[str, float]]:
    """Rates and AUC of BMIA and of attacks without a posterior."""
    hinge, odds, first = trained.answers.hinge, trained.answers.log_odds, trained.first(target)
    loss, others = loss_of_log_odds(odds[[target, first]]), list(trained.references)
    scores = {
        PLAIN: attacks.difference(hinge[target], hinge[[first]]),
        BMIA: bmia_from_moments(hinge[target], *trained.sampled(first)),
        ATTACK_R: attacks.attack_r(loss[0], loss[1:]),
        LIRA: attacks.lira(odds[target], odds[others], mode="offline", sided="one"),
    }
    return {
        name: {metric: v for metric, [v] in measured([(score, trained.member[target])]).items()}
        for name, score in scores.items()
    }


def _related(trained: Trained, target: int, reliability: float) -> dict[str, float]:
    """The Laplace deviation beside the score and beside retraining; accuracies."""
    over = trained.answers.hinge[list(trained.references)]
    moments = trained.sampled(trained.first(target))
    others = trained.held.hinge[target] > 0
    members = trained.answers.hinge[target][trained.member[target]] > 0
    return {
        **retraining.related(over, *moments, reliability),
        ON_OTHERS: 100 * others.mean(),
        ON_MEMBERS: 100 * members.mean(),
    }


def sources(settings: Any) -> dict[str, tuple[str, str]]:
    """Data and network of each world, by the name of its evidence."""
    return dict(zip(names.of_sweep(settings), names.SWEPT[settings.profile], strict=True))
