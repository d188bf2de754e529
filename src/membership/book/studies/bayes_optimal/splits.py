"""What each random split of Table 1 measures: the attacks' scores, and where a threshold is learnt.

Thresholds are learnt on half of the records asked, or on models of one's own. 0-1 needs none of
either. For two classes it is MALT with the threshold log 2, since a record is right where its label
has a probability above one half.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import spearmanr

from membership import attacks, metrics, signals
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import origin
from membership.book.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    MODELS,
    OTHER,
    PAPER_SPLITS,
    TRAIN,
    VALIDATION,
    rows_of,
)

MATT = "MATT"
TWIN = "loss difference"
SECOND_ORDER = "MATT + second order"
CORRECTED = "MATT + second order, leverage"
MODEL, AGREEMENT, TERMS = "(model)", f"{MATT} and {TWIN}", "second order / first order"
MAP_TEST, MAP_TRAIN = "mAP_test(%)", "mAP_train(%)"
RIGHT = float(np.log(2))
GAIN = "best threshold less that of"
# How many models of one's own teach a threshold; each run adds all that it has.
COUNTS = (1, 3, 10, 30)


def trials(sizes: Sequence["Size"]) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, one row a number."""
    table = pd.DataFrame(
        [
            row
            for size in sizes
            for repeat, numbers in size.numbers()
            for row in rows_of(numbers, n=size.n, repeat=repeat)
        ]
    )
    # Splits without leverages have no second-order term.
    table = table.dropna(subset="value", ignore_index=True)
    about = [size.observed.attrs for size in sizes]
    splits = ", ".join(str(n) for n in dict.fromkeys(attrs["splits"] for attrs in about))
    chosen = ", ".join(f"{attrs['recipe']['inverse_penalty']:.3g}" for attrs in about)
    table.attrs = origin(
        [size.observed for size in sizes],
        setup={str(size.n): size.observed.attrs["setup"] for size in sizes},
        sizes={
            "Random splits a size": f"{splits} (paper: {PAPER_SPLITS})",
            "C, chosen for each n": chosen,
        },
    )
    return table


@dataclass(frozen=True)
class Split:
    """What one split's numbers are made from; the halves that choose thresholds are by attack."""

    member: np.ndarray
    correct: np.ndarray
    scores: dict[str, np.ndarray]
    ratio: float
    half: dict[str, np.ndarray]


class Size:
    """The splits of one size of Table 1, from its evidence, and every number of each."""

    def __init__(self, observed: xr.Dataset) -> None:
        self.observed, self.n = observed, observed.sizes["query"]
        self._at_others: dict[tuple[str, int], np.ndarray] = {}

    @functools.cached_property
    def splits(self) -> list[Split]:
        """One a target."""
        return [self._split(place) for place in range(self.observed.sizes["target"])]

    def _split(self, place: int) -> Split:
        seen = self.observed.isel(target=place)
        names = ("log_odds", "reference_log_odds", "leverage")
        scores, ratio = attack_scores(*(seen[name].values.astype(float) for name in names))
        rng = np.random.default_rng([self.observed.attrs["seed"], self.n, int(seen["target"]), 1])
        half = {attack: random_half(rng, self.n) for attack in scores}
        return Split(seen["member"].values, seen["log_odds"].values > 0, scores, ratio, half)

    def numbers(self) -> Iterator[tuple[int, dict[tuple[str, str], float]]]:
        """Of each target, by attack and metric."""
        others = {attack: self.at_others(attack, len(self.splits) - 1) for attack in ("MALT", MATT)}
        for place, split in enumerate(self.splits):
            at_models = {(attack, MODELS): float(cut[place]) for attack, cut in others.items()}
            yield int(self.observed["target"][place]), _of_split(split) | at_models

    def at_others(self, attack: str, count: int) -> np.ndarray:
        """Accuracy of every split at the best threshold of ``count`` other splits' models.

        In percent. An attacker can have it: models trained on as many records of one's own, whose
        members one knows. Records may be in several splits.
        """
        if (attack, count) not in self._at_others:
            score, member = (
                np.stack(values)
                for values in zip(*((s.scores[attack], s.member) for s in self.splits), strict=True)
            )
            cuts = of_others(score, member, count)
            self._at_others[attack, count] = self._at(attack, cuts)
        return self._at_others[attack, count]

    def at_threshold(self, attack: str, threshold: float) -> np.ndarray:
        """Accuracy of every split at a threshold fixed beforehand, in percent."""
        return self._at(attack, np.full(len(self.splits), threshold))

    def _at(self, attack: str, cuts: np.ndarray) -> np.ndarray:
        pairs = zip(self.splits, cuts, strict=True)
        return np.array(
            [100 * metrics.balanced_accuracy(s.scores[attack], s.member, cut) for s, cut in pairs]
        )


def _of_split(split: Split) -> dict[tuple[str, str], float]:
    member, correct, scores = split.member, split.correct, split.scores
    return {
        (MODEL, TRAIN): 100 * float(correct[member].mean()),
        (MODEL, VALIDATION): 100 * float(correct[~member].mean()),
        (AGREEMENT, "rank_correlation"): float(spearmanr(scores[MATT], scores[TWIN])[0]),
        (TERMS, "std_ratio"): split.ratio,
        **{
            (attack, metric): measure(score, member, split.half[attack])
            for attack, score in scores.items()
            for metric, measure in MEASURES.items()
        },
    }


def attack_scores(
    odds: FloatArray, start: FloatArray, leverage: FloatArray | None = None
) -> tuple[dict[str, FloatArray], float]:
    """Every attack's scores on one split, and the spread of MATT's second term over its first.

    From the log-odds at the target and at the reference. Without leverages, or where they are NaN,
    there is no second term, and the spread is NaN.
    """
    loss, reference_loss = signals.loss_of_log_odds(odds), signals.loss_of_log_odds(start)
    first = attacks.matt_from_log_odds(odds, start)
    scores = {
        "0-1": attacks.zero_one(odds > 0),
        "MALT": attacks.malt(loss),
        MATT: first,
        TWIN: reference_loss - loss,
    }
    if leverage is None or np.isnan(leverage).any():
        return scores, np.nan
    second = attacks.matt_from_log_odds(odds, start, leverage, newton=False)
    scores[SECOND_ORDER] = second
    scores[CORRECTED] = attacks.matt_from_log_odds(odds, start, leverage)
    return scores, float(np.std(second - first) / np.std(first))


def random_half(rng: np.random.Generator, n: int) -> np.ndarray:
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


# The paper's metrics, in percent, and accuracy at another half's threshold.
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    ACCURACY: lambda score, member, _: 100 * metrics.balanced_accuracy(score, member),
    OTHER: crossed,
    AUC: lambda score, member, _: 100 * metrics.auc(score, member),
    MAP_TEST: lambda score, member, _: (
        100 * metrics.average_precision(score, member, positive="non-member")
    ),
    MAP_TRAIN: lambda score, member, _: (
        100 * metrics.average_precision(score, member, positive="member")
    ),
}
