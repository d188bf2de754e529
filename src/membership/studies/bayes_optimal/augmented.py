"""Table 3's question on smaller networks: what augmenting the training images does to MALT.

A stand-in for ImageNet: Table 2's network, and at paper size a residual one, each trained on
random halves without augmentation, with flips and shifts, and with flips and crops.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr

from membership import data, evidence, models, signals, training
from membership.studies.bayes_optimal import gather, names
from membership.studies.bayes_optimal.features import PRETRAINING

AUGMENTATIONS = {"none": "none", "flip, shift": "flip-and-shift", "flip, crop": "flip-and-crop"}
"""By what tables call them, from none to the strongest."""
TARGETS = 3
# Of a network's records, as many as the size of the evidence carries.
ASKED = 10_000
# Of the residual network.
RECORDS, EPOCHS = 5_000, 20


@dataclass(frozen=True)
class Network:
    """A network, its records, of which half are members, and how it is trained."""

    words: str
    factory: functools.partial
    dataset: data.Dataset
    config: training.TrainingConfig


def outputs(file: str, settings: Any) -> xr.Dataset:
    """Log-odds under three targets an augmentation, those of one row having the same members."""
    network = _residual(settings) if file == names.RESIDUAL else _small(settings)
    dataset = network.dataset
    member = data.random_halves(TARGETS, len(dataset.y), settings.seed)
    tried = list(AUGMENTATIONS) if dataset.x.ndim == 4 else ["none"]
    found = []
    for name in tried:
        ensemble = training.train(
            network.factory,
            dataset,
            member,
            replace(network.config, augmentation=AUGMENTATIONS[name]),
            [settings.seed * 10_000 + model for model in range(TARGETS)],
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        found.append(ensemble.logits(dataset.x[:ASKED]))
    logits, label = torch.cat(found), dataset.y[:ASKED]
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, label),
            "correct": signals.correct(logits, None, label) > 0,
            "member": np.tile(member[:, :ASKED], (len(tried), 1)),
        },
        targets=list(range(len(logits))),
        complements=[None] * len(logits),
        augmentations=tried,
        seed=settings.seed,
        device=str(ensemble.device),
        **_about(network, dataset),
    )


def _records(settings: Any) -> data.Dataset:
    whole = data.load(settings.dataset, root=settings.data_root or None)
    return gather.subset(whole, 2 * settings.cnn_records, settings.seed)


def _small(settings: Any) -> Network:
    """Table 2's network, its records and its training."""
    dataset = _records(settings)
    words = "Table 2's CNN" if dataset.x.ndim == 4 else f"MLP with {gather.HIDDEN} hidden units"
    return Network(words, gather.network(dataset), dataset, gather.network_config(settings))


def _residual(settings: Any) -> Network:
    """A ResNet-18 on fewer records, with the stem for ImageNet, which is the faster one."""
    dataset = _records(settings)
    dataset = gather.subset(dataset, min(RECORDS, len(dataset.y)), settings.seed)
    channels, config = dataset.x.shape[1], replace(PRETRAINING, epochs=EPOCHS)
    factory = functools.partial(models.resnet, 18, dataset.n_classes, "imagenet", channels)
    return Network("ResNet-18", factory, dataset, config)


def _about(network: Network, dataset: data.Dataset) -> dict[str, Any]:
    config, members = network.config, len(dataset.y) // 2
    name = "CIFAR-10" if dataset.name.startswith("cifar10") else dataset.name
    recipe = {"epochs": config.epochs, "learning_rate": config.learning_rate}
    return {
        "set": name,
        "data": {dataset.name: dataset.digest},
        "recipe": {**recipe, "batch_size": config.batch_size, "optimiser": config.optimiser},
        "setup": {
            "data": name,
            "architecture": network.words,
            "members": members,
            "reference_models": TARGETS - 1,
            "recipe": recipe,
        },
        "deviations": [
            f"{network.words} on {name} for the paper's networks on ImageNet, "
            f"{members:,} members, {config.epochs} epochs"
        ],
        "sizes": {
            f"{network.words}: target models an augmentation": str(TARGETS),
            f"{network.words}: members of each": f"{members:,}",
            f"{network.words}: epochs": str(config.epochs),
            f"{network.words}: records asked about": f"{min(ASKED, len(dataset.y)):,}",
        },
    }
