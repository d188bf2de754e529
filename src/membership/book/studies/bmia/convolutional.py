"""A convolutional network on the paper's own images and split, with augmented queries (Control 18).

As many CIFAR-10 images train a model as in the paper, with flips and crops. A GPU takes minutes
for it, two cores days: the smaller profiles take digits and a small network.
"""

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, evidence, metrics
from membership.attacks.bmia import bmia_from_moments
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia import answers, scores
from membership.book.studies.bmia.by_model import STRUCTURES, VIEWS, ByModel, assembled
from membership.book.studies.bmia.equal_budgets import FPR, LESS_DIAGONAL, RATE, mixture
from membership.book.studies.bmia.experiment import World, world
from membership.book.studies.bmia.posteriors import POSTERIORS, asked_less, scored
from membership.book.studies.bmia.scores import (
    GLOBAL,
    LESS_BMIA,
    LIRA,
    PLAIN,
    Pairs,
    Seen,
    less,
    rows,
    tpr,
)
from membership.book.studies.bmia.settings import Settings
from membership.signals import loss_of_log_odds


class Setup(NamedTuple):
    """Data, network and training of one run, and how many models where not as the settings say."""

    dataset: str
    network: str
    epochs: int
    augmentation: str = "none"
    models: tuple[int, int] | None = None
    """Targets and references."""


SETUPS = {
    "tiny": Setup("digits", "small-cnn", 4),
    "quick": Setup("digits", "small-cnn", 20),
    "paper": Setup("cifar10", "resnet18", 60, "flip-and-crop"),
}
HELD = 5000
"""Records that no model has seen, for QMIA and RMIA."""
CLEARLY, MOST, LESS_ONE = 1.25, scores.SIZES[-1], "less one query's"
LEAD = f"{RATE}, BMIA's less {CLEARLY} times it"


def convolutional(settings: Settings, setup: Setup | None = None) -> World:
    """The split of the paper, and queries of all that targets may have been trained on."""
    name, network, epochs, augmentation, models = setup or SETUPS[settings.profile]
    own: dict[str, Any] = {"architecture": network, "epochs": settings.epochs or epochs}
    if models:
        own |= dict(zip(("n_targets", "n_reference"), models, strict=True))
    common = world(name, settings.model_copy(update=own))
    # The paper's training is that of He et al. (2016), who flip and crop; it does not say whether.
    precision = "bfloat16" if name == "cifar10" else common.config.precision
    config = replace(common.config, augmentation=augmentation, precision=precision)
    queries, validation = np.arange(len(common.pool)), common.validation[:HELD]
    return replace(common, config=config, queries=queries, validation=validation)


def outputs(settings: Settings, setup: Setup | None = None) -> xr.Dataset:
    """What every model answers for all queries and for records that no model has seen."""
    trained = _trained(settings, setup)
    return _named(trained, answers.answered(trained, answers.about(trained)))


def posterior(settings: Settings, setup: Setup | None = None) -> xr.Dataset:
    """What each reference predicts by draws and in closed form, and QMIA of each target."""
    trained = _trained(settings, setup)
    return _named(trained, answers.predicted(trained, answers.VARIANTS, answers.about(trained)))


def structures(settings: Settings, setup: Setup | None = None) -> xr.Dataset:
    """What first references predict of some queries with each structure of the posterior."""
    trained = _trained(settings, setup)
    predictions = np.array(
        [[trained.by_structure(model, one) for one in STRUCTURES] for model in trained.firsts]
    )
    predicted = evidence.dataset(
        "posterior",
        {"mean": predictions[:, :, 0], "sd": predictions[:, :, 1]},
        {
            "reference": trained.firsts,
            "variant": list(STRUCTURES),
            "record": trained.records[trained.subset],
        },
        **answers.about(trained),
    )
    return _named(trained, predicted)


def views(settings: Settings, setup: Setup | None = None) -> xr.Dataset:
    """What every model answers on average over an image's shifts and mirror images."""
    trained = _trained(settings, setup)
    queries = trained.asked("queries, views")
    member = np.zeros(queries.hinge.shape, dtype=bool)
    member[: trained.n_targets] = trained.member
    averaged = evidence.dataset(
        "outputs",
        {
            "log_odds": queries.log_odds,
            "hinge": queries.hinge,
            "member": member,
            "held_log_odds": trained.asked("held, views").log_odds,
        },
        {"model": np.arange(len(member)), "record": trained.records},
        **answers.about(trained),
    )
    return _named(trained, averaged)


def _named(trained: ByModel, gathered: xr.Dataset) -> xr.Dataset:
    """The set is told from others of the same images by the network."""
    world = trained.world
    attributes: dict[str, Any] = {"set": f"{gathered.attrs['set']}, {world.architecture}"}
    if world.config.augmentation != "none":
        how = f"{gathered.attrs['set']}: trained with flips and crops"
        attributes["deviations"] = [*gathered.attrs["deviations"], how]
    return gathered.assign_attrs(attributes)


@functools.lru_cache(maxsize=1)
def _trained(settings: Settings, setup: Setup | None) -> ByModel:
    return assembled(convolutional(settings, setup))


GATHERERS = (outputs, posterior, structures, views)


def control_18(
    single: xr.Dataset, law: xr.Dataset, by_structure: xr.Dataset, more: xr.Dataset
) -> pd.DataFrame:
    """Rates and AUC of every attack, less BMIA's, and of attacks with augmented queries.

    Other posteriors are compared on the queries that they were asked about. Accuracies are of the
    targets.
    """
    seen, several = Seen(single, law), Seen(more, law)
    attacked = _alone(seen) | _with_references(seen)
    bmia = attacked["BMIA", 1]
    listed = of_each(_key_of(seen, "none: the targets", 0), "metric", scores.accuracies(seen))
    for (name, n), pairs in attacked.items():
        key = _key_of(seen, name, n)
        listed += rows(key, pairs)
        if name != "BMIA":
            listed += less(key, pairs, bmia, LESS_BMIA)
        if (name, n) == (LIRA, MOST):
            lead = np.subtract(tpr(bmia, FPR), CLEARLY * np.array(tpr(pairs, FPR)))
            listed.append({**key, "metric": LEAD, **metrics.summary(lead)})
    for (name, n), pairs in _with_references(several).items():
        key = _key_of(seen, f"{name}, {len(VIEWS)} queries", n)
        listed += rows(key, pairs)
        listed += less(key, pairs, bmia, LESS_BMIA)
        listed += less(key, pairs, attacked[name, n], LESS_ONE)
    queried = seen.on(by_structure["record"].values)
    by = {structure: scored(queried, by_structure, structure) for structure in STRUCTURES}
    for structure in ("full", "diag"):
        key = _key_of(seen, POSTERIORS[structure], 1)
        listed += rows(key, by[structure])
        listed += less(key, by[structure], by["kron"], LESS_BMIA)
        if structure == "full":
            listed += less(key, by[structure], by["diag"], LESS_DIAGONAL)
    return tidy(listed, origin([seen], *asked_less([(seen, queried)])))


def _key_of(seen: Seen, name: str, n: int) -> dict[str, Any]:
    return {"dataset": seen.label, "attack": name, "n_reference": n}


def _alone(seen: Seen) -> dict[tuple[str, int], Pairs]:
    """Attacks with one query an image only, as Control 12 calls them."""
    held_loss = loss_of_log_odds(seen.held_log_odds)
    return {
        ("BMIA", 1): scored(seen, seen.posterior, "kron"),
        (scores.MIXTURE, seen.n_reference): mixture(seen, seen.n_reference),
        ("Attack-P", 0): seen.each(lambda t: attacks.attack_p(seen.loss[t], held_loss[t])),
        ("QMIA, normal", 0): seen.each(
            lambda t: bmia_from_moments(seen.hinge[t], *seen.moments(t, "qmia"))
        ),
    }


def _with_references(seen: Seen) -> dict[tuple[str, int], Pairs]:
    """Attacks that ask references, by name and their number."""
    return {
        (name, n): scores.with_references(seen, name, n)
        for n in (1, *scores.SIZES)
        for name in (PLAIN, "Attack-R", "RMIA", LIRA, GLOBAL)
        if n <= seen.n_reference and (n > 1 or name not in scores.TAKES_TWO)
    }
