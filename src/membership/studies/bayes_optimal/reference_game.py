"""Section 6.3's game: networks trained on random halves of the same records, all queried."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from membership import attacks, data, models, signals, training

PAPER_RECORDS = 15_000
PAPER_REFERENCES = 30
PAPER_EPOCHS = 50
BATCH_SIZE = 64
HIDDEN = 128


@dataclass(frozen=True)
class Target:
    """One target model and what its adversary has.

    Attributes
    ----------
    loss, correct, member : numpy.ndarray, shape (records,)
        Of the target: cross-entropy, whether it is right, and the truth to be inferred.
    reference_loss, reference_member : numpy.ndarray, shape (models, records)
        Of the reference models.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    reference_loss: np.ndarray
    reference_member: np.ndarray

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
        Cross-entropy in nats, and 1.0 where the decision is right.
    member : numpy.ndarray of bool, shape (models, records)
        Which records each network was trained on: exactly half.
    attrs : dict
        Origin of the numbers, as a table carries it.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    attrs: dict

    def targets(self):
        """Each network in turn as the target model, all others as its reference models.

        Only records that some reference model saw and another did not are queried: which they are
        says nothing about the target, whose half was drawn independently.

        Yields
        ------
        Target
            One game; the target is never among its own reference models.
        """
        for row in range(len(self.loss)):
            others = np.delete(np.arange(len(self.loss)), row)
            seen = self.member[others]
            queried = seen.any(0) & ~seen.all(0)
            yield Target(
                self.loss[row, queried],
                self.correct[row, queried],
                self.member[row, queried],
                self.loss[np.ix_(others, queried)],
                seen[:, queried],
            )


def play(settings) -> ReferenceGame:
    """Train the networks of Section 6.3 on random halves, and query every record.

    Parameters
    ----------
    settings : Settings
        Uses ``dataset``, ``data_root``, ``cnn_records``, ``cnn_epochs``, ``n_reference``, ``seed``
        and ``device``.

    Returns
    -------
    ReferenceGame
        Of ``n_reference + 1`` networks.

    Raises
    ------
    InputError
        There are fewer records than needed.
    """
    whole = data.load(settings.dataset, root=settings.data_root or None)
    dataset = _subset(whole, 2 * settings.cnn_records, settings.seed)
    n_models = settings.n_reference + 1
    member = data.random_halves(n_models, len(dataset.y), settings.seed)
    config = training.TrainingConfig(
        epochs=settings.cnn_epochs,
        batch_size=BATCH_SIZE,
        learning_rate=0.001,
        optimiser="adam",
    )
    factory = _network(dataset)
    seeds = [settings.seed * 10_000 + model for model in range(n_models)]
    ensemble = training.train(
        factory, dataset, member, config, seeds, device=settings.device, n_jobs=settings.n_jobs
    )
    logits = ensemble.logits(dataset.x)
    attrs = _origin(settings, whole, str(ensemble.device))
    return ReferenceGame(
        signals.loss(logits, None, dataset.y),
        signals.correct(logits, None, dataset.y),
        member,
        attrs,
    )


def _network(dataset: data.Dataset) -> partial:
    """The paper's network for images; for tabular records one with the same hidden layer."""
    if dataset.x.ndim == 2:
        return partial(models.mlp, dataset.x.shape[1], (HIDDEN,), dataset.n_classes, "tanh")
    return partial(models.small_cnn, dataset.x.shape[1:], dataset.n_classes)


def _subset(dataset: data.Dataset, n_records: int, seed: int) -> data.Dataset:
    """A random part of a data set."""
    data.require(dataset, n_records=n_records)
    rows = np.random.default_rng([seed, n_records]).permutation(len(dataset.y))[:n_records]
    return dataset.select(np.sort(rows))


def _origin(settings, dataset: data.Dataset, device: str) -> dict:
    """Where the numbers come from and how the set-up differs from the paper's."""
    deviations = [f"Adam, batches of {BATCH_SIZE} (the paper names neither)"]
    if settings.n_reference < PAPER_REFERENCES:
        deviations.append(
            f"{settings.n_reference} reference models (the paper: {PAPER_REFERENCES})"
        )
    if settings.cnn_epochs != PAPER_EPOCHS:
        deviations.append(f"{settings.cnn_epochs} epochs (the paper: {PAPER_EPOCHS})")
    comparable = dataset.name == "cifar10" and settings.cnn_records == PAPER_RECORDS
    comparable = comparable and settings.cnn_epochs == PAPER_EPOCHS
    if dataset.name != "cifar10":
        deviations.append(f"{dataset.name} instead of CIFAR-10")
    if dataset.x.ndim == 2:
        deviations.append(f"one hidden layer of {HIDDEN}: tabular records take no convolution")
    if settings.cnn_records != PAPER_RECORDS:
        deviations.append(f"{settings.cnn_records} members a network (the paper: {PAPER_RECORDS})")
    return {
        "data": {dataset.name: dataset.digest},
        "deviations": deviations,
        "comparable": comparable,
        "device": device,
    }
