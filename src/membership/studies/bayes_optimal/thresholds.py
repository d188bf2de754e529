"""Where an attack's threshold is learnt: on half of the records asked, or on models of one's own.

0-1 needs none of either. For two classes it is MALT with the threshold log 2, since a record is
right where its label has a probability above one half.
"""

import numpy as np

from membership import metrics
from membership.arrays import FloatArray

RIGHT = float(np.log(2))
GAIN = "best threshold less that of"
# How many models of one's own teach a threshold; each run adds all that it has.
COUNTS = (1, 3, 10, 30)


def half(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random half of n records."""
    return rng.permutation(n) % 2 == 0


def crossed(score: np.ndarray, member: np.ndarray, half: np.ndarray) -> float:
    """Accuracy, in percent, of either half at the other half's threshold."""
    accuracies = [
        metrics.balanced_accuracy(
            score[use], member[use], threshold=metrics.best_threshold(score[~use], member[~use])
        )
        for use in (half, ~half)
    ]
    return 100 * float(np.mean(accuracies))


def counts(models: int) -> list[int]:
    """The numbers of other models that a threshold is learnt from, of so many models in all."""
    return [*(count for count in COUNTS if count < models - 1), models - 1]


def of_others(score: np.ndarray, member: np.ndarray, count: int) -> FloatArray:
    """The threshold that is best for the next ``count`` models pooled, for each model in turn.

    As `metrics.best_threshold` of their scores (models, records), sorted once for all models.
    """
    models, records = score.shape
    order = np.argsort(-score, axis=None, kind="stable")
    level, owner = score.ravel()[order], order // records
    # In whole records: a member gains what another record loses.
    step = np.where(member.ravel()[order], 1, -1).astype(np.int8)
    # Equal scores are accepted together or not at all.
    ends = np.flatnonzero(np.append(level[1:] != level[:-1], True))
    cuts = np.empty(models)
    for model in range(models):
        used = np.isin(np.arange(models), (model + 1 + np.arange(count)) % models)[owner]
        gain = np.cumsum(step * used, dtype=np.int32)[ends]
        best = int(np.argmax(gain))
        cuts[model] = _between(level, used, ends[best]) if gain[best] > 0 else np.inf
    return cuts


def _between(level: np.ndarray, used: np.ndarray, lowest_accepted: int) -> float:
    """Halfway from a score to the next lower one that is used."""
    after = lowest_accepted + 1
    if not used[after:].any():
        return float(level[lowest_accepted])
    refused = level[after + int(np.argmax(used[after:]))]
    middle = level[lowest_accepted] / 2 + refused / 2
    return float(middle if refused < middle <= level[lowest_accepted] else level[lowest_accepted])
