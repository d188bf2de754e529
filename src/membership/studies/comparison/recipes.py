"""What each kind of target is and how it is trained."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from membership import data, models, training

EPOCHS = {"tiny": 10, "quick": 30, "paper": 40}
# Members of a step; smaller sets get smaller ones.
BATCH, PRIVATE_BATCH = 64, 250


@dataclass(frozen=True)
class Recipe:
    """One kind of target.

    Attributes
    ----------
    display : str
        As tables call it.
    hidden : tuple of int
        Widths of the hidden layers; none is logistic regression.
    longer : float
        By how much its training is longer than the others'.
    weight_decay : float
    """

    display: str
    hidden: tuple[int, ...] = ()
    longer: float = 1
    weight_decay: float = 5e-4


RECIPES = {
    "logistic": Recipe("logistic regression"),
    "small": Recipe("small MLP", (16,)),
    "wide": Recipe("wide MLP", (256,)),
    "regularised": Recipe("strongly regularised MLP", (64,), weight_decay=2e-2),
    "overfitted": Recipe("overfitted MLP", (64,), longer=4, weight_decay=0.0),
    "private": Recipe("private softmax layer"),
    "cnn": Recipe("small CNN", longer=0.25),
}


@dataclass(frozen=True)
class Privacy:
    """Noisy clipped SGD: `noise` is the standard deviation on the batch's mean gradient."""

    clip: float = 1.0
    noise: float = 0.02
    learning_rate: float = 1.0

    def config(self, epochs: int, batch_size: int) -> training.PrivateConfig:
        """As the training room takes it."""
        return training.PrivateConfig(epochs, batch_size, self.learning_rate, self.clip, "sgd")


PRIVACY = Privacy()


def config(kind: str, profile: str, n_members: int) -> training.TrainingConfig:
    """The optimisation of a kind; the private one's length and batch are these too."""
    recipe, batch = RECIPES[kind], PRIVATE_BATCH if kind == "private" else BATCH
    return training.TrainingConfig(
        epochs=max(EPOCHS["tiny"], round(EPOCHS[profile] * recipe.longer)),
        batch_size=min(batch, max(2, n_members // 4)),
        learning_rate=0.05,
        momentum=0.9,
        weight_decay=recipe.weight_decay,
        schedule="cosine",
    )


def factory(kind: str, pool: data.Dataset) -> Callable[[], Any]:
    """What makes an untrained model of a kind for these records."""
    size, classes = pool.x[0].size, pool.n_classes
    if kind == "cnn":
        return partial(models.small_cnn, pool.x.shape[1:], classes)
    hidden = RECIPES[kind].hidden
    if not hidden:
        return partial(models.logistic_regression, size, classes)
    return partial(models.mlp, size, hidden, classes)
