"""A service that answers a class and nothing else, asked again about records that were perturbed.

Models keep the label of a record that they were trained on under larger perturbations than that of
another (Choquette-Choo et al. 2021). The share of queries that keep it stands in the place of a
probability.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage
from torch import nn

from membership import signals
from membership.arrays import FloatArray, as_real, whole
from membership.audit.tasks import Arrays, Classification, called
from membership.errors import InputError

TIED = 0.1
"""Share of the records with the highest count from which a note says that they tie."""


@dataclass(frozen=True)
class Noise:
    """Queries with normal noise: for vectors, and whatever else noise leaves what it is.

    The draws are the same for all records and models, so that none of what sets two of them apart
    is another draw.

    Parameters
    ----------
    scale : float or array_like of the shape of a record
        Standard deviation, in the features' units; one a feature where these differ. Choose it by
        models of your own: chosen by what it finds of the audited model, it is tuned on the truth.
    draws : int
        Queries beside the record as it is, 1 or more.
    seed : int

    Raises
    ------
    InputError
        The scale is not above 0 and finite, or there are no draws.

    Examples
    --------
    >>> from membership import audit
    >>> audit.Noise(0.5, draws=3).queries
    4
    """

    scale: Any
    draws: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        scale = as_real("scale", self.scale).astype(np.float64)
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            raise InputError(f"scale = {self.scale}: give standard deviations above 0, and finite")
        whole("draws", self.draws)
        whole("seed", self.seed, 0)

    @property
    def queries(self) -> int:
        """How often each record is asked about."""
        return 1 + self.draws

    def of(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """The records as they are, then perturbed."""
        if x.dtype.kind != "f":
            raise InputError(f"x holds {x.dtype}, of which noise makes other numbers; give floats")
        scale = np.asarray(self.scale, dtype=np.float64)
        if scale.ndim and scale.shape != x.shape[1:]:
            raise InputError(f"scale has shape {scale.shape}; records have {x.shape[1:]}")
        rng = np.random.default_rng(self.seed)
        yield x.copy()
        for _ in range(self.draws):
            yield x + (scale * rng.normal(size=x.shape[1:])).astype(x.dtype)

    def __str__(self) -> str:
        scales = np.unique(self.scale)
        of = f"{scales[0]:g}" + f" to {scales[-1]:g}" * (scales.size > 1)
        return f"with normal noise of a standard deviation of {of} added (seed {self.seed})"


@dataclass(frozen=True)
class Moves:
    """Queries with pictures turned to both sides, and moved by so many pixels in all directions.

    Parameters
    ----------
    rotation : float
        Degrees; 0 for none. What comes from outside the picture is its nearest pixel.
    shift : int
        Pixels, along rows and columns together, as Choquette-Choo et al. have it; 0 for none.

    Raises
    ------
    InputError
        Pictures are neither turned nor moved, or by no number that does.

    Examples
    --------
    >>> from membership import audit
    >>> audit.Moves(rotation=10, shift=1).queries
    7
    """

    rotation: float = 10.0
    shift: int = 1

    def __post_init__(self) -> None:
        whole("shift", self.shift, 0)
        if not 0 <= self.rotation < 180:
            raise InputError(f"rotation = {self.rotation}: give degrees from 0, below 180")
        if not self.rotation and not self.shift:
            raise InputError("rotation = 0 and shift = 0: no query is perturbed; give one of them")

    @property
    def queries(self) -> int:
        """How often each record is asked about."""
        return 1 + 2 * bool(self.rotation) + 4 * self.shift

    def of(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """The records as they are, then perturbed."""
        if x.ndim not in (3, 4) or min(x.shape[-2:]) <= self.shift:
            raise InputError(
                f"x: records of shape {x.shape[1:]} are no pictures that can be moved by "
                f"{self.shift} pixels; give (rows, columns) or (channels, rows, columns), or "
                "perturb=Noise(...)"
            )
        yield x.copy()
        for angle in (self.rotation, -self.rotation) if self.rotation else ():
            yield ndimage.rotate(x, angle, (-1, -2), reshape=False, order=1, mode="nearest")
        rows, columns = (np.arange(size) for size in x.shape[-2:])
        for down in range(-self.shift, self.shift + 1):
            right = self.shift - abs(down)
            for across in {right, -right} if self.shift else ():
                at = np.clip(rows - down, 0, rows[-1]), np.clip(columns - across, 0, columns[-1])
                yield x[..., at[0][:, None], at[1]]

    def __str__(self) -> str:
        turned = f"turned by {self.rotation:g} degrees to both sides" * bool(self.rotation)
        moved = f"moved by {self.shift} pixels in {4 * self.shift} directions" * bool(self.shift)
        return " and ".join(part for part in (turned, moved) if part)


Perturbation = Noise | Moves


def kept_label(predict: Any, x: Any, y: Any, perturb: Perturbation) -> FloatArray:
    """Score a record by how often a service keeps its label when it is perturbed.

    The attack of Choquette-Choo et al. (2021) without reference models: their count of right
    answers to augmented queries. `gather` takes the same queries to reference models.

    Parameters
    ----------
    predict : callable, torch.nn.Module or estimator with ``predict``
        From records to classes, (records,), whole numbers from 0; of a module's logits the largest.
    x : array_like of shape (records, ...)
    y : array_like of int, shape (records,)
        The labels whose keeping is counted.
    perturb : Noise or Moves
        ``perturb.queries`` times the records are the answers that this takes.

    Returns
    -------
    ndarray of shape (records,)
        In [0, 1], the share of queries, the record as it is among them.

    Raises
    ------
    InputError
        Classes are no whole numbers or not one a record, or the records cannot be perturbed so.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import audit
    >>> x, y = np.array([[-3.0], [0.1], [-0.1], [3.0]]), [0, 1, 0, 1]
    >>> score = audit.kept_label(lambda x: (x[:, 0] > 0).astype(int), x, y, audit.Noise(1.0))
    >>> bool(score[1] < score[3] == 1.0)
    True
    """
    task = Labels(perturb=perturb)
    x, y = as_real("x", x), task.labels("y", y)
    if x.ndim < 2 or y.shape != x.shape[:1]:
        raise InputError(f"x, y have shapes {x.shape} and {y.shape}; give (records, ...) and one y")
    return (task.answers(predict, x, 0) == y[:, None]).mean(axis=1)


@dataclass(frozen=True)
class Labels(Classification):
    """Models that answer a class, asked about each record as it is and perturbed."""

    perturb: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.perturb, Perturbation):
            raise InputError(
                f"perturb is of type {type(self.perturb).__name__}; give audit.Noise(...) or "
                "audit.Moves(...)"
            )

    def answers(self, model: Any, x: np.ndarray, width: int) -> FloatArray:
        """The class of each record under each query, (records, queries)."""
        return np.stack([classes(model, one) for one in self.perturb.of(x)], axis=1)

    def as_logits(self, model: Any, answers: FloatArray) -> FloatArray:
        """Classes are what they are."""
        return answers

    def settled(self, answers: FloatArray) -> "Labels":
        return self

    def signals(self, answers: FloatArray, y: np.ndarray) -> Arrays:
        """Log-odds of the share of queries that keep the label; half a query keeps it finite."""
        kept = answers == y[:, None]
        count = kept.sum(axis=1)
        odds = np.log((count + 0.5) / (kept.shape[1] - count + 0.5))
        return {"log_odds": odds, "correct": kept[:, 0]}


def notes_of_ties(odds: FloatArray) -> list[str]:
    """What is said where so many records keep their label throughout that they hide each other."""
    tied = int((odds == odds.max(axis=1, keepdims=True)).sum(axis=1).max())
    if tied <= TIED * odds.shape[1]:
        return []
    return [
        f"{tied} of {odds.shape[1]} records keep their label as often as any does, and tie: "
        "without reference models none of them is told from another. A larger perturbation, or "
        "more queries, may tell them apart."
    ]


def classes(model: Any, x: np.ndarray) -> FloatArray:
    """The class that a model answers for each record."""
    if isinstance(model, nn.Module):
        logits = signals.answers(model, x).numpy()
        alone = logits.ndim == 1 or logits.shape[1] == 1
        return (logits.reshape(len(x)) > 0 if alone else logits.argmax(axis=1)).astype(np.float64)
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise InputError(
            f"model is of type {type(model).__name__}; give a function from records to classes"
        )
    answered = np.asarray(called(predict, x))
    is_class = answered.dtype.kind in "biuf" and answered.shape == (len(x),)
    if not is_class or not ((answered >= 0) & (answered == np.floor(answered))).all():
        raise InputError(
            f"model answers {answered.dtype} of shape {answered.shape} for {len(x)} records; where "
            "perturb is given, a class each is asked: whole numbers from 0"
        )
    return answered.astype(np.float64)
