"""What noise that two classes share hides in one published step (gmip-ctl-23).

Of a softmax with two classes the mean gradient is G for the one and -G for the other. Noise that
both share cancels in their difference, if steps are linear in the gradient. A first step of Adam
is not: it keeps a gradient's sign, and of its size what epsilon leaves, some 1e-8 of the step. An
adversary who is told the weights before and after may undo it, to the digits that weights have.
"""

import itertools

import numpy as np
import pandas as pd

from membership import metrics
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import tidy

FEATURES, RECORDS = 200, 200
SIZE = 0.01  # of a record's gradient, each entry
RATE, EPSILON = 1e-3, 1e-8
STRENGTH = 10.0  # of the noise, in standard deviations of the mean gradient
BLOCKS, STEPS, ASKED = 20, 100, 5
NOISES = NONE, SHARED, OWN = "none", "shared", "own"
OPTIMISERS, PRECISIONS = ("sgd", "adam"), {"float32": np.float32, "float64": np.float64}
LINEAR, UNDONE = "difference of the classes' steps", "Adam undone, then the difference"
CONTRASTS = {"none less shared": (NONE, SHARED), "shared less own": (SHARED, OWN)}


def control_23() -> pd.DataFrame:
    """AUC of two attacks on one published step, by noise, optimiser and the digits of weights.

    An adversary scores a record by its gradient's product with what a step shows of G.
    """
    rows, found = [], [_block(np.random.default_rng([23, block])) for block in range(BLOCKS)]
    for key in dict.fromkeys(key[:3] for key in found[0]):
        names = dict(zip(("optimiser", "attack", "numbers"), key, strict=True))
        auc = {noise: np.array([block[*key, noise] for block in found]) for noise in NOISES}
        less = {name: auc[one] - auc[other] for name, (one, other) in CONTRASTS.items()}
        for noise, values in {**auc, **less}.items():
            rows.append({**names, "noise": noise, "metric": "AUC", **metrics.summary(values)})
    times = f"noise {STRENGTH:g} times the mean gradient's"
    return tidy(rows, {"note": f"Simulated: one step of {RECORDS} records, {times}."})


def control_23_said(table: pd.DataFrame) -> str:
    """The better attack on Adam's step, by noise and digits."""
    adam = table[(table["optimiser"] == "adam") & table["noise"].isin(NOISES)]
    best = adam.groupby(["numbers", "noise"])["value"].max()
    parts = [
        f"in {numbers} {best[numbers, NONE]:.2f} without noise, {best[numbers, SHARED]:.2f} with "
        f"shared noise and {best[numbers, OWN]:.2f} with each class's own"
        for numbers in PRECISIONS
    ]
    return f"With Adam the better attack has an AUC of, {parts[0]}. It has, {parts[1]}."


def step(gradient: FloatArray, before: FloatArray, optimiser: str, dtype: type) -> FloatArray:
    """What weights of so many digits show of a first step, from the gradient in float64."""
    size = gradient if optimiser == "sgd" else gradient / (np.abs(gradient) + EPSILON)
    start = before.astype(dtype)
    after = start - (RATE * size).astype(dtype)
    return start.astype(float) - after.astype(float)


def undone(shown: FloatArray) -> FloatArray:
    """The gradient behind a first step of Adam; where its size is lost, as large as can be told."""
    left = np.maximum(RATE - np.abs(shown), RATE * 1e-12)
    return np.clip(EPSILON * shown / left, -1.0, 1.0)


def _block(rng: np.random.Generator) -> dict[tuple[str, str, str, str], float]:
    """The AUC of each attack over the steps of one block, by optimiser, attack, digits, noise."""
    scores: dict[tuple[str, str, str, str], list[FloatArray]] = {}
    for _ in range(STEPS):
        records = SIZE * rng.standard_normal((RECORDS + ASKED, FEATURES))
        asked = np.concatenate([records[:ASKED], records[RECORDS:]])
        mean = records[:RECORDS].mean(axis=0)
        before = 0.1 * rng.standard_normal((2, FEATURES))
        for key, shown in _shown(mean, before, rng):
            scores.setdefault(key, []).append(asked @ (shown[0] - shown[1]) / 2)
    member = np.tile(np.repeat([True, False], ASKED), STEPS)
    return {key: metrics.auc(np.concatenate(values), member) for key, values in scores.items()}


def _shown(mean: FloatArray, before: FloatArray, rng: np.random.Generator):
    """What each attack makes of the two classes' steps; all share the gradients and the noise."""
    own = STRENGTH * mean.std() * rng.standard_normal((2, FEATURES))
    noises = {NONE: 0.0 * own, SHARED: own[[0, 0]], OWN: own}
    gradient = np.stack([mean, -mean])
    for (numbers, dtype), noise, optimiser in itertools.product(
        PRECISIONS.items(), NOISES, OPTIMISERS
    ):
        shown = step(gradient + noises[noise], before, optimiser, dtype)
        yield (optimiser, LINEAR, numbers, noise), shown
        if optimiser == "adam":
            yield (optimiser, UNDONE, numbers, noise), undone(shown)
