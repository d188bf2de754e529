"""Table 2's experiment: networks trained on random halves of the same records, all queried."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr

from membership import attacks, data, evidence, models, signals, training
from membership.book.studies.bayes_optimal.settings import Settings

BATCH_SIZE = 64
LEARNING_RATE = 0.001
HIDDEN = 128
# The first so many networks are attacked, all others being references of each.
TARGETS = 10
# Table 2 of the paper.
PAPER = {"reference models": 30, "epochs": 50, "members": 15_000}
# Of its members, from where on a network is said to fit them.
FITTED = 0.99


def outputs(settings: Settings) -> xr.Dataset:
    """Log-odds under networks trained on random halves of the same records (Section 6.3)."""
    whole = data.load(settings.dataset, root=settings.data_root or None)
    dataset = subset(whole, 2 * settings.cnn_records, settings.seed)
    n_models = settings.n_reference + 1
    member = data.random_halves(n_models, len(dataset.y), settings.seed)
    seeds = [settings.seed * 10_000 + model for model in range(n_models)]
    ensemble = training.train(
        network(dataset),
        dataset,
        member,
        config(settings),
        seeds,
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    logits = ensemble.logits(dataset.x)
    targets = range(min(TARGETS, n_models))
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, dataset.y),
            "correct": signals.correct(logits, None, dataset.y) > 0,
            "member": member,
            "label": dataset.y,
            "shokri": shadow_scores(
                torch.log_softmax(logits, -1).numpy(), dataset.y, member, settings.seed, targets
            ),
        },
        targets=list(targets),
        complements=[None] * n_models,
        seed=settings.seed,
        device=str(ensemble.device),
        **origin(settings, whole),
    )


def config(settings: Settings) -> training.TrainingConfig:
    """How the networks of Table 2 are trained."""
    return training.TrainingConfig(
        epochs=settings.cnn_epochs,
        batch_size=BATCH_SIZE,
        learning_rate=LEARNING_RATE,
        optimiser="adam",
    )


def shadow_scores(
    output: np.ndarray, label: np.ndarray, member: np.ndarray, seed: int, targets: Sequence[int]
) -> np.ndarray:
    """The shadow attack on each target, (models, records), all others being its shadow models.

    NaN for a network that is no target.
    """
    everyone = np.arange(len(member))
    scores = np.full(member.shape, np.nan)
    for row in targets:
        references = everyone[everyone != row]
        scores[row] = attacks.shadow(
            output[row], label, output[references], member[references], seed
        )
    return scores


def network(dataset: data.Dataset) -> functools.partial:
    """The paper's network for images; for tabular records one with the same hidden layer."""
    if dataset.x.ndim == 2:
        return functools.partial(
            models.mlp, dataset.x.shape[1], (HIDDEN,), dataset.n_classes, "tanh"
        )
    return functools.partial(models.small_cnn, dataset.x.shape[1:], dataset.n_classes)


def subset(dataset: data.Dataset, n_records: int, seed: int) -> data.Dataset:
    """A random part of a data set."""
    data.require(dataset, n_records=n_records)
    rows = np.random.default_rng([seed, n_records]).permutation(len(dataset.y))[:n_records]
    return dataset.select(np.sort(rows))


def origin(settings: Settings, dataset: data.Dataset) -> dict[str, Any]:
    """What the networks' file says of its data, recipe, sizes, and how they differ."""
    tabular, same = dataset.x.ndim == 2, dataset.name == "cifar10"
    stated = [
        (False, f"Adam, batches of {BATCH_SIZE} (the paper names neither)"),
        (
            settings.n_reference >= PAPER["reference models"],
            f"{settings.n_reference} reference models (the paper: {PAPER['reference models']})",
        ),
        (
            settings.cnn_epochs == PAPER["epochs"],
            f"{settings.cnn_epochs} epochs (the paper: {PAPER['epochs']})",
        ),
        (same, f"{dataset.name} instead of CIFAR-10"),
        (not tabular, f"one hidden layer of {HIDDEN}: tabular records take no convolution"),
        (
            settings.cnn_records == PAPER["members"],
            f"{settings.cnn_records} members a network (the paper: {PAPER['members']})",
        ),
    ]
    recipe = {"epochs": settings.cnn_epochs, "learning_rate": LEARNING_RATE}
    setup = {
        "data": "CIFAR-10" if same else dataset.name,
        "members": settings.cnn_records,
        "architecture": f"MLP with one hidden layer of {HIDDEN}"
        if tabular
        else "CNN 2conv+2fc tanh",
        "reference_models": settings.n_reference,
        "recipe": recipe,
    }
    return {
        "set": setup["data"],
        "data": {dataset.name: dataset.digest},
        "recipe": {
            **recipe,
            "batch_size": BATCH_SIZE,
            "optimiser": "Adam",
            "loss": "cross-entropy",
        },
        "setup": setup,
        "deviations": [text for holds, text in stated if not holds],
        "sizes": {
            "Networks": str(settings.n_reference + 1),
            "Target models, each of them": str(min(TARGETS, settings.n_reference + 1)),
            "Reference models": f"{settings.n_reference} (paper: {PAPER['reference models']})",
            "Members a network": f"{settings.cnn_records:,} (paper: {PAPER['members']:,})",
            "Epochs": f"{settings.cnn_epochs} (paper: {PAPER['epochs']})",
        },
    }


def game(networks: xr.Dataset) -> "ReferenceGame":
    """The game that evidence of kind "outputs" holds."""
    about = networks.attrs
    attrs = {key: about[key] for key in ("data", "deviations", "sizes", "device")}
    return ReferenceGame(
        signals.loss_of_log_odds(networks["log_odds"].values),
        networks["correct"].values.astype(float),
        networks["member"].values,
        attrs | {"setup": {"networks": about["setup"]}},
        tuple(about["targets"]),
        networks["shokri"].values if "shokri" in networks else None,
    )


@dataclass(frozen=True)
class Target:
    """One target model and what its adversary has.

    Attributes
    ----------
    loss, correct, member : numpy.ndarray, shape (records,)
        Of the target: cross-entropy, whether it is right, and the truth to be inferred.
    reference_loss, reference_member : numpy.ndarray, shape (models, records)
        Of the reference models.
    shadow : numpy.ndarray, shape (records,), optional
        What attack models learnt from the same reference models say; higher for members.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    reference_loss: np.ndarray
    reference_member: np.ndarray
    shadow: np.ndarray | None = None

    def mast(self, tau: str, temperature: float = 1.0) -> np.ndarray:
        """MAST with all reference models, shape (records,)."""
        return attacks.mast(
            self.loss,
            self.reference_loss,
            tau=tau,
            reference_member=self.reference_member,
            temperature=temperature,
        )


@dataclass(frozen=True)
class ReferenceGame:
    """The signals of networks trained on random halves of the same records.

    Attributes
    ----------
    loss, correct : numpy.ndarray, shape (models, records)
        Cross-entropy in nats, and whether the decision is right.
    member : numpy.ndarray of bool, shape (models, records)
        Which records each network was trained on: exactly half.
    attrs : dict
        Origin of the numbers, as a table carries it.
    attacked : tuple of int
        The networks that are targets.
    shadow : numpy.ndarray, shape (models, records), optional
        Score of the shadow attack on each target, others being its shadow models.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    attrs: dict
    attacked: tuple[int, ...]
    shadow: np.ndarray | None = None

    @property
    def fits(self) -> np.ndarray:
        """Which networks fit their members, shape (models,)."""
        return (self.correct * self.member).sum(1) >= FITTED * self.member.sum(1)

    def fitted(self) -> "ReferenceGame":
        """The game of the networks that fit their members alone."""
        rows = np.flatnonzero(self.fits)
        return replace(
            self,
            loss=self.loss[rows],
            correct=self.correct[rows],
            member=self.member[rows],
            attacked=tuple(place for place, row in enumerate(rows) if row in self.attacked),
            shadow=None if self.shadow is None else self.shadow[rows],
        )

    def targets(self) -> Iterator[Target]:
        """Each target model, all other networks being its reference models.

        Only records that some reference model saw and another did not are queried: which they are
        says nothing about the target, whose half was drawn independently.
        """
        for row in self.attacked:
            references = np.delete(np.arange(len(self.loss)), row)
            seen = self.member[references]
            queried = seen.any(0) & ~seen.all(0)
            yield Target(
                self.loss[row, queried],
                self.correct[row, queried],
                self.member[row, queried],
                self.loss[np.ix_(references, queried)],
                seen[:, queried],
                None if self.shadow is None else self.shadow[row, queried],
            )
