"""Table 1: two classes, logistic regression, and the controls that belong to it."""

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import spearmanr

from membership import attacks, metrics, published, signals
from membership.arrays import FloatArray
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import origin, tidy
from membership.studies.bayes_optimal import thresholds
from membership.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    MODELS,
    OTHER,
    PAPER_SPLITS,
    TRAIN,
    VALIDATION,
)

MATT = "MATT"
TWIN = "loss difference"
SECOND_ORDER = "MATT + second order"
CORRECTED = "MATT + second order, leverage"
MODEL, AGREEMENT, TERMS = "(model)", f"{MATT} and {TWIN}", "second order / first order"
LEAD, BEHIND = "MALT less 0-1", f"{MATT} less MALT"
FIXED = "MALT at log 2 less 0-1"
MAP_TEST, MAP_TRAIN = "mAP_test(%)", "mAP_train(%)"
GAINS, SIDES = "mAP_train less mAP_test(%)", "mAP_test less mAP_train(%)"


def trials(sizes: Sequence["Size"]) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, one row a number."""
    table = pd.DataFrame(
        [
            {"n": size.n, "repeat": repeat, "attack": attack, "metric": metric, "value": value}
            for size in sizes
            for repeat, numbers in size.numbers()
            for (attack, metric), value in numbers.items()
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
        half = {attack: thresholds.half(rng, self.n) for attack in scores}
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
            cuts = thresholds.of_others(score, member, count)
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


def table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the model and of 0-1, MALT and MATT, and both average precisions, by n.

    The last rows are paired differences: of the two attacks, and of the two precisions.
    """
    columns = [ACCURACY, MAP_TEST, MAP_TRAIN]
    shown = {MODEL: [TRAIN, VALIDATION], "0-1": [ACCURACY], "MALT": columns, MATT: columns}
    pairs = {(BEHIND, m): ((MATT, m), ("MALT", m)) for m in (AUC, MAP_TEST, MAP_TRAIN)}
    # Of the gains: MATT less MALT, twice.
    gains = ((MATT, MAP_TRAIN), ("MALT", MAP_TRAIN), ("MALT", MAP_TEST), (MATT, MAP_TEST))
    pairs |= {(BEHIND, GAINS): gains, ("MALT", SIDES): (("MALT", MAP_TEST), ("MALT", MAP_TRAIN))}
    return tidy([*_summary(table, shown), *_differences(table, pairs)], table.attrs)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 beside the published numbers, each with its verdict."""
    return published.compare(table, published_table_1(), on=["n", "attack", "metric"], by="n")


def published_table_1() -> pd.DataFrame:
    """The published Table 1 with n as a column of its own."""
    printed = published.reference("bayes_optimal_table1")
    return printed.assign(n=printed["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int))


def peak_and_crossed(table: pd.DataFrame) -> pd.DataFrame:
    """Peak accuracy beside its null and beside thresholds learnt elsewhere.

    Parameters and columns as :func:`table_1`; the null (attack "random score") is what scores
    without information reach with their best threshold. Elsewhere is the other half of the records,
    or all other splits' models. The last rows are paired differences: of two attacks, and of an
    attack's two thresholds.
    """
    cuts = [ACCURACY, OTHER, MODELS]
    shown = {"0-1": [ACCURACY], "MALT": cuts, MATT: cuts}
    summary = _summary(table, shown)
    null = [
        {"n": n, "attack": "random score", "metric": ACCURACY} | metrics.exactly(level)
        for n in sorted(table["n"].unique())
        for level in [100 * metrics.peak_accuracy_null(int(n) // 2, int(n) // 2, seed=0)]
    ]
    pairs = {
        **{(f"{MATT} less MALT", m): ((MATT, m), ("MALT", m)) for m in cuts},
        **{("MALT less 0-1", m): (("MALT", m), ("0-1", ACCURACY)) for m in (OTHER, MODELS)},
        **{
            (f"{a}, {thresholds.GAIN} {whose}", ACCURACY): ((a, ACCURACY), (a, metric))
            for a in ("MALT", MATT)
            for whose, metric in (("others", OTHER), ("other models", MODELS))
        },
    }
    return tidy([*summary, *null, *_differences(table, pairs)], table.attrs)


def twin(table: pd.DataFrame) -> pd.DataFrame:
    """MATT beside its black-box twin: AUC of each, and the rank correlation of the two scores.

    The twin is l(theta_0, z) - l(theta, z), which needs the two losses only; MATT is its
    linearisation at theta_0. The last rows are the paired differences of the AUCs. Parameters and
    columns as :func:`table_1`.
    """
    shown = {MATT: [AUC], TWIN: [AUC], AGREEMENT: ["rank_correlation"]}
    return _with_differences(table, shown, [(MATT, TWIN)])


def second_order(table: pd.DataFrame) -> pd.DataFrame:
    """MATT with the second-order term of Equation 39, without and with the leverage correction.

    Further rows give the spread of the second-order term relative to the first-order one, and the
    paired differences of the AUCs, over the splits whose leverages are kept.
    Parameters and columns as :func:`table_1`.
    """
    kept = table[table["attack"] == TERMS].groupby("n")["repeat"].unique()
    counts = ", ".join(str(count) for count in kept.map(len).unique())
    attrs = table.attrs | {"sizes": table.attrs["sizes"] | {"Splits with leverages kept": counts}}
    table = pd.concat(
        [part[part["repeat"].isin(kept[n])] for n, part in table.groupby("n")], ignore_index=True
    )
    table.attrs = attrs
    shown = {
        MATT: [AUC],
        SECOND_ORDER: [AUC],
        CORRECTED: [AUC],
        TERMS: ["std_ratio"],
    }
    return _with_differences(table, shown, [(SECOND_ORDER, MATT), (CORRECTED, MATT)])


def by_models(sizes: Sequence[Size], measured: pd.DataFrame) -> pd.DataFrame:
    """Paired differences of accuracy by n and by how many models taught the thresholds.

    Parameters
    ----------
    sizes : sequence of Size
    measured : pandas.DataFrame
        Their `trials`, which state the origin of the numbers.

    Returns
    -------
    pandas.DataFrame
        Columns n, models, attack, metric and those of `membership.metrics.summary`. With 0 models:
        accuracy of MALT with its threshold at log 2, and AUC of MALT, each less that of 0-1.
    """
    rows, by_split = [], dict(_by_split(measured))
    for size in sizes:
        wide = by_split[size.n]
        right = wide["0-1", ACCURACY].to_numpy()
        for count in thresholds.counts(len(size.splits)):
            malt, matt = (size.at_others(attack, count) for attack in ("MALT", MATT))
            leads = {(LEAD, MODELS): malt - right, (BEHIND, MODELS): matt - malt}
            rows += of_each({"n": size.n, "models": count}, ("attack", "metric"), leads)
        fixed = {
            (FIXED, ACCURACY): size.at_threshold("MALT", -thresholds.RIGHT) - right,
            # 0-1 says one of two things: its AUC is its accuracy.
            (LEAD, AUC): _less(wide, ("MALT", AUC), ("0-1", AUC)),
        }
        rows += of_each({"n": size.n, "models": 0}, ("attack", "metric"), fixed)
    return tidy(rows, measured.attrs)


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


# The paper's metrics, in percent, and accuracy at another half's threshold.
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    ACCURACY: lambda score, member, _: 100 * metrics.balanced_accuracy(score, member),
    OTHER: thresholds.crossed,
    AUC: lambda score, member, _: 100 * metrics.auc(score, member),
    MAP_TEST: lambda score, member, _: (
        100 * metrics.average_precision(score, member, positive="non-member")
    ),
    MAP_TRAIN: lambda score, member, _: (
        100 * metrics.average_precision(score, member, positive="member")
    ),
}


def _with_differences(
    table: pd.DataFrame, shown: dict[str, list[str]], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Means, and paired differences of the AUCs of two attacks."""
    cells = {(f"{a} less {b}", AUC): ((a, AUC), (b, AUC)) for a, b in pairs}
    return tidy([*_summary(table, shown), *_differences(table, cells)], table.attrs)


def _differences(
    table: pd.DataFrame, cells: Mapping[tuple[str, str], Sequence[tuple[str, str]]]
) -> list[dict]:
    """Rows of one number less another at every n, on the splits that both were tried on."""
    return [
        row
        for n, wide in _by_split(table)
        for row in of_each(
            {"n": n},
            ("attack", "metric"),
            {name: _less(wide, *terms) for name, terms in cells.items()},
        )
    ]


def paired(table: pd.DataFrame, n: int, *cells: tuple[str, str]) -> np.ndarray:
    """One number less another, (attack, metric) each, on every split that has both."""
    return _less(dict(_by_split(table[table["n"] == n]))[n], *cells)


def _by_split(table: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    keys = ["n", "repeat"]
    wide = table.pivot_table(index=keys, columns=["attack", "metric"], values="value")
    return [(int(n), part) for n, part in wide.groupby("n")]


def _less(wide: pd.DataFrame, *cells: tuple[str, str]) -> np.ndarray:
    """The first number less the second, and so on in turn."""
    signed = [wide[cell] * sign for cell, sign in zip(cells, itertools.cycle((1, -1)))]
    return sum(signed[1:], signed[0]).dropna().to_numpy()


def _summary(table: pd.DataFrame, shown: dict[str, list[str]]) -> list[dict]:
    """Means over the repeats with t intervals, in the order of `shown`."""
    groups = dict(iter(table.groupby(["n", "attack", "metric"])["value"]))
    names = [(attack, metric) for attack, metrics_of in shown.items() for metric in metrics_of]
    return [
        row
        for n in sorted(table["n"].unique())
        for row in of_each(
            {"n": int(n)},
            ("attack", "metric"),
            {name: groups[n, *name].to_numpy() for name in names},
        )
    ]
