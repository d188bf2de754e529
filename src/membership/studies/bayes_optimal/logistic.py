"""Table 1: two classes, logistic regression, and the controls that belong to it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import spearmanr

from membership import attacks, evidence, metrics, published, signals
from membership.arrays import FloatArray
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import tidy
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
ATTACKS = ("0-1", "MALT", MATT, TWIN, SECOND_ORDER, CORRECTED)


def trials(sizes: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, one row a number."""
    table = pd.concat([_measured(one) for one in sizes], ignore_index=True)
    # Splits without leverages have no second-order term.
    table = table.dropna(subset="value", ignore_index=True)
    said = [one.attrs for one in sizes]
    splits = ", ".join(str(n) for n in dict.fromkeys(one["splits"] for one in said))
    table.attrs = {
        "data": {key: value for one in said for key, value in one["data"].items()},
        "deviations": list(dict.fromkeys(line for one in said for line in one["deviations"])),
        "setup": {str(one.sizes["query"]): one.attrs["setup"] for one in sizes},
        "device": said[0]["device"],
        "sizes": {
            "Random splits a size": f"{splits} (paper: {PAPER_SPLITS})",
            "C, chosen for each n": ", ".join(
                f"{one.attrs['recipe']['inverse_penalty']:.3g}" for one in sizes
            ),
        },
    }
    return table


def _measured(one: xr.Dataset) -> pd.DataFrame:
    """The trials of one size."""
    names = [
        (MODEL, TRAIN),
        (MODEL, VALIDATION),
        (AGREEMENT, "rank_correlation"),
        (TERMS, "std_ratio"),
        *((attack, metric) for attack in ATTACKS for metric in MEASURES),
        *((attack, MODELS) for attack in ("MALT", MATT)),
    ]
    parts = [
        {"attack": attack, "metric": metric, "value": number(one, attack, metric)}
        for attack, metric in names
    ]
    own = {"n": one.sizes["query"], "repeat": one["target"].values}
    return pd.concat([pd.DataFrame({**own, **part}) for part in parts], ignore_index=True)


def number(one: xr.Dataset, attack: str, metric: str) -> np.ndarray:
    """One number of every split of one size, shape (splits,); NaN for a term that it has not."""
    return _number(_Known(evidence.digest(one), one), attack, metric)


def at_others(one: xr.Dataset, attack: str, count: int) -> np.ndarray:
    """Accuracy of every split at the threshold of ``count`` other splits' models, in percent."""
    return _of_models(_Known(evidence.digest(one), one), attack, count)


def at_threshold(one: xr.Dataset, attack: str, threshold: float) -> np.ndarray:
    """Accuracy of every split at a threshold fixed beforehand, in percent."""
    splits = _splits(_Known(evidence.digest(one), one))
    return np.array(
        [100 * metrics.balanced_accuracy(s.scores[attack], s.member, threshold) for s in splits]
    )


def table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the model and of 0-1, MALT and MATT, and both average precisions, by n."""
    shown = {
        MODEL: [TRAIN, VALIDATION],
        "0-1": [ACCURACY],
        "MALT": [ACCURACY, "mAP_test(%)", "mAP_train(%)"],
        MATT: [ACCURACY, "mAP_test(%)", "mAP_train(%)"],
    }
    return tidy(_summary(table, shown), table.attrs)


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
    told = ", ".join(str(count) for count in kept.map(len).unique())
    attrs = table.attrs | {"sizes": table.attrs["sizes"] | {"Splits with leverages kept": told}}
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


def by_models(sizes: Sequence[xr.Dataset], attrs: dict) -> pd.DataFrame:
    """Paired differences of accuracy by n and by how many models taught the thresholds.

    Parameters
    ----------
    sizes : sequence of xarray.Dataset
        Evidence of Table 1, one a size.
    attrs : dict
        Origin of the numbers, as `trials` states it.

    Returns
    -------
    pandas.DataFrame
        Columns n, models, attack, metric and those of `membership.metrics.summary`. With 0 models:
        accuracy of MALT with its threshold at log 2, and AUC of MALT, each less that of 0-1.
    """
    rows = []
    for one in sizes:
        right = number(one, "0-1", ACCURACY)
        own = {"n": one.sizes["query"]}
        for count in thresholds.counts(one.sizes["target"]):
            malt, matt = (at_others(one, a, count) for a in ("MALT", MATT))
            key = own | {"models": count, "metric": MODELS}
            rows.append(key | {"attack": LEAD} | metrics.summary(malt - right))
            rows.append(key | {"attack": BEHIND} | metrics.summary(matt - malt))
        key = own | {"models": 0}
        fixed = at_threshold(one, "MALT", -thresholds.RIGHT) - right
        rows.append(key | {"attack": FIXED, "metric": ACCURACY} | metrics.summary(fixed))
        # 0-1 says one of two things: its AUC is its accuracy.
        auc = number(one, "MALT", AUC) - number(one, "0-1", AUC)
        rows.append(key | {"attack": LEAD, "metric": AUC} | metrics.summary(auc))
    order = ["n", "models", "attack", "metric"]
    table = pd.DataFrame(rows)
    return tidy([table[[*order, *(name for name in table if name not in order)]]], attrs)


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the picture shows, a series an n."""
    shown = table[table["metric"] == MODELS]
    panel = shown["attack"] + ", accuracy (points)"
    return shown.assign(panel=panel, size="n = " + shown["n"].astype(str))


@dataclass(frozen=True)
class _Known:
    """Evidence that is told from other evidence by its digest."""

    digest: str
    one: xr.Dataset = field(compare=False)


@dataclass(frozen=True)
class _Split:
    """What one split's numbers are made from; the halves that choose thresholds are by attack."""

    member: np.ndarray
    correct: np.ndarray
    scores: dict[str, np.ndarray]
    ratio: float
    half: dict[str, np.ndarray]


# Exhibits and claims read the same numbers, and each claim asks for those of the paper-size run and
# of the reader's in turn.
@functools.lru_cache(maxsize=10)
def _splits(known: _Known) -> list[_Split]:
    one, found = known.one, []
    n, seed = one.sizes["query"], one.attrs["seed"]
    for place, repeat in enumerate(one["target"].values):
        seen = one.isel(target=place)
        names = ("log_odds", "reference_log_odds", "leverage")
        scores, ratio = attack_scores(*(seen[name].values.astype(float) for name in names))
        rng = np.random.default_rng([seed, n, int(repeat), 1])
        half = {attack: thresholds.half(rng, n) for attack in scores}
        correct = seen["log_odds"].values > 0
        found.append(_Split(seen["member"].values, correct, scores, ratio, half))
    return found


@functools.lru_cache(maxsize=2048)
def _number(known: _Known, attack: str, metric: str) -> np.ndarray:
    if metric == MODELS:
        return _of_models(known, attack, len(_splits(known)) - 1)
    special: dict[tuple[str, str], Callable[[_Split], float]] = {
        (MODEL, TRAIN): lambda s: 100 * s.correct[s.member].mean(),
        (MODEL, VALIDATION): lambda s: 100 * s.correct[~s.member].mean(),
        (AGREEMENT, "rank_correlation"): lambda s: spearmanr(s.scores[MATT], s.scores[TWIN])[0],
        (TERMS, "std_ratio"): lambda s: s.ratio,
    }

    def of_scores(s: _Split) -> float:
        if attack not in s.scores:
            return np.nan
        return MEASURES[metric](s.scores[attack], s.member, s.half[attack])

    measure = special.get((attack, metric)) or of_scores
    return np.array([float(measure(split)) for split in _splits(known)])


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


@functools.lru_cache(maxsize=256)
def _of_models(known: _Known, attack: str, count: int) -> np.ndarray:
    """Accuracy on each split at the threshold that is best for other splits' models.

    An attacker can have it: models trained on as many records of one's own, whose members one
    knows. Records may be in several splits.
    """
    splits = _splits(known)
    score, member = (
        np.stack(each) for each in ([s.scores[attack] for s in splits], [s.member for s in splits])
    )
    cuts = thresholds.of_others(score, member, count)
    return np.array(
        [100 * metrics.balanced_accuracy(*one) for one in zip(score, member, cuts, strict=True)]
    )


# The paper's metrics, in percent, and accuracy at another half's threshold.
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    ACCURACY: lambda score, member, _: 100 * metrics.balanced_accuracy(score, member),
    OTHER: thresholds.crossed,
    AUC: lambda score, member, _: 100 * metrics.auc(score, member),
    "mAP_test(%)": lambda score, member, _: (
        100 * metrics.average_precision(score, member, positive="non-member")
    ),
    "mAP_train(%)": lambda score, member, _: (
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
        for n in sorted(table["n"].unique())
        for row in of_each(
            {"n": int(n)},
            ("attack", "metric"),
            {name: paired(table, int(n), *pair) for name, pair in cells.items()},
        )
    ]


def paired(
    table: pd.DataFrame, n: int, first: tuple[str, str], second: tuple[str, str]
) -> np.ndarray:
    """One number less another, (attack, metric) each, on every split that has both."""
    wide = table[table["n"] == n].pivot_table(
        index="repeat", columns=["attack", "metric"], values="value"
    )
    return (wide[first] - wide[second]).dropna().to_numpy()


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
