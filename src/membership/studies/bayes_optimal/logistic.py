"""Table 1: two classes, logistic regression, and the controls that belong to it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import spearmanr

from membership import attacks, evidence, metrics, published, signals
from membership.studies.bayes_optimal.names import ACCURACY, OTHER

MATT = "MATT"
TWIN = "loss difference"
SECOND_ORDER = "MATT + second order"
CORRECTED = "MATT + second order, leverage"
GAIN = "best threshold less that of others"
PAPER_SPLITS = 100
# The trials of one size by the digest of its evidence. Exhibits and claims read the same ones, and
# each claim asks for those of the paper-size run and of the reader's in turn.
_KEPT: dict[str, pd.DataFrame] = {}
_MOST_KEPT = 24


def trials(sizes: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, one row a number."""
    table = pd.concat([_measured(one) for one in sizes], ignore_index=True)
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
    """The trials of one size, made once."""
    key = evidence.digest(one)
    if key not in _KEPT:
        while len(_KEPT) >= _MOST_KEPT:
            del _KEPT[next(iter(_KEPT))]
        splits = range(one.sizes["target"])
        _KEPT[key] = pd.DataFrame([row for split in splits for row in _trial(one, split)])
    return _KEPT[key]


def table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the model and of 0-1, MALT and MATT, and both average precisions, by n."""
    shown = {
        "(model)": ["train_accuracy(%)", "validation_accuracy(%)"],
        "0-1": ["attack_accuracy(%)"],
        "MALT": ["attack_accuracy(%)", "mAP_test(%)", "mAP_train(%)"],
        MATT: ["attack_accuracy(%)", "mAP_test(%)", "mAP_train(%)"],
    }
    return _summary(table, shown)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 beside the published numbers, each with its verdict."""
    return published.compare(table, published_table_1(), on=["n", "attack", "metric"], by="n")


def published_table_1() -> pd.DataFrame:
    """The published Table 1 with n as a column of its own."""
    printed = published.reference("bayes_optimal_table1")
    return printed.assign(n=printed["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int))


def peak_and_crossed(table: pd.DataFrame) -> pd.DataFrame:
    """Peak accuracy beside its null and beside a threshold chosen on other records.

    Parameters and columns as :func:`table_1`; the null (attack "random score") is what scores
    without information reach with their best threshold. The last rows are paired differences: of
    two attacks, and of an attack's two thresholds.
    """
    shown = {"0-1": [ACCURACY], "MALT": [ACCURACY, OTHER], MATT: [ACCURACY, OTHER]}
    summary = _summary(table, shown)
    null = [
        {"n": n, "attack": "random score", "metric": ACCURACY} | metrics.exactly(level)
        for n in sorted(table["n"].unique())
        for level in [100 * metrics.peak_accuracy_null(int(n) // 2, int(n) // 2, seed=0)]
    ]
    pairs = {
        (f"{MATT} less MALT", ACCURACY): ((MATT, ACCURACY), ("MALT", ACCURACY)),
        (f"{MATT} less MALT", OTHER): ((MATT, OTHER), ("MALT", OTHER)),
        ("MALT less 0-1", OTHER): (("MALT", OTHER), ("0-1", ACCURACY)),
        **{(f"{a}, {GAIN}", ACCURACY): ((a, ACCURACY), (a, OTHER)) for a in ("MALT", MATT)},
    }
    less = [
        {"n": int(n), "attack": attack, "metric": metric}
        | metrics.summary(paired(table, int(n), *cells))
        for n in sorted(table["n"].unique())
        for (attack, metric), cells in pairs.items()
    ]
    result = pd.concat([summary, pd.DataFrame([*null, *less])], ignore_index=True)
    result.attrs = table.attrs
    return result


def twin(table: pd.DataFrame) -> pd.DataFrame:
    """MATT beside its black-box twin: AUC of each, and the rank correlation of the two scores.

    The twin is l(theta_0, z) - l(theta, z), which needs the two losses only; MATT is its
    linearisation at theta_0. The last rows are the paired differences of the AUCs. Parameters and
    columns as :func:`table_1`.
    """
    shown = {MATT: ["auc(%)"], TWIN: ["auc(%)"], f"{MATT} and {TWIN}": ["rank_correlation"]}
    return _with_differences(table, shown, [(MATT, TWIN)])


def second_order(table: pd.DataFrame) -> pd.DataFrame:
    """MATT with the second-order term of Equation 39, without and with the leverage correction.

    Further rows give the spread of the second-order term relative to the first-order one, and the
    paired differences of the AUCs.
    Parameters and columns as :func:`table_1`.
    """
    shown = {
        MATT: ["auc(%)"],
        SECOND_ORDER: ["auc(%)"],
        CORRECTED: ["auc(%)"],
        "second order / first order": ["std_ratio"],
    }
    return _with_differences(table, shown, [(SECOND_ORDER, MATT), (CORRECTED, MATT)])


def _trial(one: xr.Dataset, split: int) -> list[dict]:
    """All measurements of one split."""
    seen = one.isel(target=split)
    n, repeat, seed = one.sizes["query"], int(one["target"][split]), one.attrs["seed"]
    member, correct = seen["member"].values, seen["log_odds"].values > 0
    scores, ratio = attack_scores(seen)
    rows = [
        ("(model)", "train_accuracy(%)", 100 * correct[member].mean()),
        ("(model)", "validation_accuracy(%)", 100 * correct[~member].mean()),
        (f"{MATT} and {TWIN}", "rank_correlation", spearmanr(scores[MATT], scores[TWIN])[0]),
        ("second order / first order", "std_ratio", ratio),
    ]
    rng = np.random.default_rng([seed, n, repeat, 1])
    for attack, score in scores.items():
        rows += [(attack, metric, value) for metric, value in _measure(score, member, rng).items()]
    return [
        {"n": n, "repeat": repeat, "attack": attack, "metric": metric, "value": float(value)}
        for attack, metric, value in rows
    ]


def attack_scores(seen: xr.Dataset) -> tuple[dict[str, np.ndarray], float]:
    """Every attack's scores on one split, and the spread of MATT's second term over its first."""
    odds, start, leverage = (
        seen[name].values.astype(float) for name in ("log_odds", "reference_log_odds", "leverage")
    )
    loss, reference_loss = signals.loss_of_log_odds(odds), signals.loss_of_log_odds(start)
    first = attacks.matt_from_log_odds(odds, start)
    second = attacks.matt_from_log_odds(odds, start, leverage, newton=False)
    scores = {
        "0-1": attacks.zero_one(odds > 0),
        "MALT": attacks.malt(loss),
        MATT: first,
        TWIN: reference_loss - loss,
        SECOND_ORDER: second,
        CORRECTED: attacks.matt_from_log_odds(odds, start, leverage),
    }
    return scores, float(np.std(second - first) / np.std(first))


def _measure(score: np.ndarray, member: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """The paper's metrics for one attack, in percent, and accuracy at another half's threshold."""
    half = rng.permutation(len(score)) % 2 == 0
    crossed = [
        metrics.balanced_accuracy(
            score[use], member[use], threshold=metrics.best_threshold(score[~use], member[~use])
        )
        for use in (half, ~half)
    ]
    return {
        "attack_accuracy(%)": 100 * metrics.balanced_accuracy(score, member),
        "attack_accuracy_other_threshold(%)": 100 * float(np.mean(crossed)),
        "auc(%)": 100 * metrics.auc(score, member),
        "mAP_test(%)": 100 * metrics.average_precision(score, member, positive="non-member"),
        "mAP_train(%)": 100 * metrics.average_precision(score, member, positive="member"),
    }


def _with_differences(
    table: pd.DataFrame, shown: dict[str, list[str]], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    summary = _summary(table, shown)
    rows = pd.DataFrame(_differences(table, pairs, "auc(%)"))
    result = pd.concat([summary, rows], ignore_index=True)
    result.attrs = table.attrs
    return result


def _differences(table: pd.DataFrame, pairs: Sequence[tuple[str, str]], metric: str) -> list[dict]:
    """Rows of paired differences of two attacks, over the splits that both were tried on."""
    rows = []
    for n in sorted(table["n"].unique()):
        for first, second in pairs:
            values = paired(table, int(n), (first, metric), (second, metric))
            key = {"n": int(n), "attack": f"{first} less {second}", "metric": metric}
            rows.append(key | metrics.summary(values))
    return rows


def paired(
    table: pd.DataFrame, n: int, first: tuple[str, str], second: tuple[str, str]
) -> np.ndarray:
    """One number less another, (attack, metric) each, split by split; shape (splits,)."""
    wide = table[table["n"] == n].pivot_table(
        index="repeat", columns=["attack", "metric"], values="value"
    )
    return (wide[first] - wide[second]).to_numpy()


def _summary(table: pd.DataFrame, shown: dict[str, list[str]]) -> pd.DataFrame:
    """Means over the repeats with t intervals, in the order of `shown`."""
    rows = []
    groups = dict(iter(table.groupby(["n", "attack", "metric"])["value"]))
    for n in sorted(table["n"].unique()):
        for attack, names in shown.items():
            for metric in names:
                values = groups[n, attack, metric].to_numpy()
                key = {"n": int(n), "attack": attack, "metric": metric}
                rows.append(key | metrics.summary(values))
    summary = pd.DataFrame(rows)
    summary.attrs = table.attrs
    return summary
