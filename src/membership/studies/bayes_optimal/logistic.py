"""Table 1: two classes, logistic regression, and the controls that belong to it."""

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from membership import attacks, metrics, published
from membership.errors import InputError
from membership.studies.bayes_optimal.features import Features
from membership.studies.bayes_optimal.logistic_model import LogisticModel, fit, with_one

INVERSE_PENALTIES = np.logspace(-5, 2, 15)
SPLITS_FOR_PENALTY = 3
RECORDS_FOR_PENALTY = 20
MATT = "MATT"
TWIN = "loss difference"
SECOND_ORDER = "MATT + second order"
CORRECTED = "MATT + second order, leverage"


def trials(features: Features, settings) -> pd.DataFrame:
    """Every measurement behind Table 1 and Controls 1 to 3, one row a number.

    For each n and repeat, n/2 records train the target model, n/2 are the non-members and n/2 are
    held in reserve to train theta_0 (Sablayrolles et al. 2019, Section 6.2). C is chosen for each
    n by the loss on records outside all three.

    Parameters
    ----------
    features : Features
        Two classes.
    settings : Settings
        Uses ``n_records``, ``n_repeats``, ``seed`` and ``n_jobs``.

    Returns
    -------
    pandas.DataFrame
        Columns n, repeat, attack, metric, value; percentages where the metric's name says so.

    Raises
    ------
    InputError
        A size needs more records than there are.
    """
    sizes = settings.n_records
    require(features.y, sizes)
    jobs = [(n, repeat) for n in sizes for repeat in range(settings.n_repeats)]
    workers = Parallel(n_jobs=settings.n_jobs or -1)
    with threadpool_limits(limits=1, user_api="blas"):
        chosen = workers(delayed(_choose_penalty)(features, n, settings.seed) for n in sizes)
        penalty = dict(zip(sizes, chosen, strict=True))
        rows = workers(
            delayed(_trial)(features, n, repeat, penalty[n], settings.seed) for n, repeat in jobs
        )
    table = pd.DataFrame([row for part in rows for row in part])
    table.attrs = features.attrs(repeats=settings.n_repeats)
    return table


def require(y: np.ndarray, sizes: list[int]) -> None:
    """Refuse sizes that need more records of the two classes than there are.

    Parameters
    ----------
    y : numpy.ndarray, shape (records,)
        Labels of the two classes.
    sizes : list of int
        Values of n: each takes 3n/2 records, and 20 more to choose C on.

    Raises
    ------
    InputError
        Too few records; the message says how many would do.
    """
    largest = (len(y) - RECORDS_FOR_PENALTY) * 2 // 3 // 2 * 2
    if max(sizes) > largest:
        raise InputError(
            f"n_records: {max(sizes)} needs {3 * max(sizes) // 2 + RECORDS_FOR_PENALTY} records "
            f"of the two classes but there are {len(y)}; the largest possible size is {largest}"
        )


def table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the model and of 0-1, MALT and MATT, and both average precisions, by n.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`trials` returned.

    Returns
    -------
    pandas.DataFrame
        Columns n, attack, metric, value, low, high, n_repeats: means over the repeats, with 95%
        t intervals. Accuracies are peak accuracies, as in the paper.
    """
    shown = {
        "(model)": ["train_accuracy(%)", "validation_accuracy(%)"],
        "0-1": ["attack_accuracy(%)"],
        "MALT": ["attack_accuracy(%)", "mAP_test(%)", "mAP_train(%)"],
        MATT: ["attack_accuracy(%)", "mAP_test(%)", "mAP_train(%)"],
    }
    return _summary(table, shown)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 beside the published numbers, each with its verdict.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`table_1` returned.

    Returns
    -------
    pandas.DataFrame
        What :func:`membership.published.compare` returns, matched by n, attack and metric.
    """
    return published.compare(table, published_table_1(), on=["n", "attack", "metric"])


def published_table_1() -> pd.DataFrame:
    """The published Table 1 with n as a column of its own."""
    printed = published.table("bayes_optimal_table1")
    return printed.assign(n=printed["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int))


def control_1(table: pd.DataFrame) -> pd.DataFrame:
    """Peak accuracy beside its null and beside a threshold chosen on other records.

    Parameters and columns as :func:`table_1`; the null (attack "random score") is what scores
    without information reach with their best threshold.
    """
    metrics_shown = ["attack_accuracy(%)", "attack_accuracy_other_threshold(%)"]
    summary = _summary(table, {"MALT": metrics_shown, MATT: metrics_shown})
    null = [
        {"n": n, "attack": "random score", "metric": "attack_accuracy(%)", "value": level}
        | {"low": level, "high": level, "n_repeats": 0}
        for n in sorted(table["n"].unique())
        for level in [100 * metrics.peak_accuracy_null(int(n) // 2, int(n) // 2, seed=0)]
    ]
    result = pd.concat([summary, pd.DataFrame(null)], ignore_index=True)
    result.attrs = table.attrs
    return result


def control_2(table: pd.DataFrame) -> pd.DataFrame:
    """MATT beside its black-box twin: AUC of each, and the rank correlation of the two scores.

    The twin is l(theta_0, z) - l(theta, z), which needs the two losses only; MATT is its
    linearisation at theta_0. Parameters and columns as :func:`table_1`.
    """
    return _summary(
        table,
        {MATT: ["auc(%)"], TWIN: ["auc(%)"], f"{MATT} and {TWIN}": ["rank_correlation"]},
    )


def control_3(table: pd.DataFrame) -> pd.DataFrame:
    """MATT with the second-order term of Equation 39, without and with the leverage correction.

    The last rows give the spread of the second-order term relative to the first-order one.
    Parameters and columns as :func:`table_1`.
    """
    return _summary(
        table,
        {
            MATT: ["auc(%)"],
            SECOND_ORDER: ["auc(%)"],
            CORRECTED: ["auc(%)"],
            "second order / first order": ["std_ratio"],
        },
    )


def _split(features: Features, n: int, repeat: int, seed: int) -> list[np.ndarray]:
    """Row numbers of members, non-members, the reserve and all others."""
    rng = np.random.default_rng([seed, n, repeat])
    return np.split(rng.permutation(len(features.y)), [n // 2, n, 3 * n // 2])


def _choose_penalty(features: Features, n: int, seed: int) -> float:
    """The C whose models, trained on n/2 records, have the least loss on the others."""
    total = np.zeros(len(INVERSE_PENALTIES))
    for repeat in range(SPLITS_FOR_PENALTY):
        _, _, reserve, others = _split(features, n, repeat, seed)
        for position, inverse_penalty in enumerate(INVERSE_PENALTIES):
            model = fit(features.x[reserve], features.y[reserve], inverse_penalty)
            total[position] += model.loss(features.x[others], features.y[others]).mean()
    return float(INVERSE_PENALTIES[total.argmin()])


def _trial(
    features: Features, n: int, repeat: int, inverse_penalty: float, seed: int
) -> list[dict]:
    """All measurements of one split."""
    members, outside, reserve, _ = _split(features, n, repeat, seed)
    x, y = features.x, features.y
    target = fit(x[members], y[members], inverse_penalty)
    theta0 = fit(x[reserve], y[reserve], inverse_penalty)
    queried = np.concatenate([members, outside])
    member = np.arange(n) < n // 2
    scores, ratio = _scores(target, theta0, x[queried], y[queried], x[reserve])
    rows = [
        ("(model)", "train_accuracy(%)", 100 * target.correct(x[members], y[members]).mean()),
        ("(model)", "validation_accuracy(%)", 100 * target.correct(x[outside], y[outside]).mean()),
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


def _scores(
    target: LogisticModel, theta0: LogisticModel, x: np.ndarray, y: np.ndarray, reserve: np.ndarray
) -> tuple[dict[str, np.ndarray], float]:
    """Every attack's scores, and the spread of MATT's second-order term over its first."""
    gradient, hessian = theta0.gradient(x, y), theta0.hessian(reserve)
    design = with_one(x)
    leverage = theta0.curvature(x) * np.einsum(
        "ij,ji->i", design, np.linalg.solve(hessian, design.T)
    )
    first = attacks.matt(target.theta, theta0.theta, gradient)
    second = attacks.matt(target.theta, theta0.theta, gradient, hessian=hessian)
    scores = {
        "0-1": attacks.zero_one(target.correct(x, y)),
        "MALT": attacks.malt(target.loss(x, y)),
        MATT: first,
        TWIN: theta0.loss(x, y) - target.loss(x, y),
        SECOND_ORDER: second,
        CORRECTED: attacks.matt(
            target.theta, theta0.theta, gradient, hessian=hessian, leverage=leverage
        ),
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


def _summary(table: pd.DataFrame, shown: dict[str, list[str]]) -> pd.DataFrame:
    """Means over the repeats with t intervals, in the order of `shown`."""
    rows = []
    groups = dict(iter(table.groupby(["n", "attack", "metric"])["value"]))
    for n in sorted(table["n"].unique()):
        for attack, names in shown.items():
            for metric in names:
                values = groups[n, attack, metric].to_numpy()
                low, high = metrics.mean_interval(values)
                rows.append(
                    {"n": int(n), "attack": attack, "metric": metric, "value": values.mean()}
                    | {"low": low, "high": high, "n_repeats": len(values)}
                )
    summary = pd.DataFrame(rows)
    summary.attrs = table.attrs
    return summary
