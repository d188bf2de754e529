"""Theorems 2.2, 3.1 and 3.2, exact on a quadratic (iha-ctl-6), and beside SGD itself (iha-ctl-9).

In the second a record and the others are fixed; a linear regression is trained on the others or on
all, again and again, by SGD at a constant rate until it is stationary. Batches are drawn from the
records, so that every assumption on their noise holds as nearly as it does in practice.
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal, norm

from membership import metrics, plots
from membership.arrays import FloatArray
from membership.attacks.iha import iha_at
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha.settings import Settings
from membership.curvature.noise import (
    Sgd,
    simulated_covariance,
    stationary_covariance,
    theorem_covariance,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE, BATCH, N_TRAIN, MINIMUM = 6, 16, 50, 0.5
RATE, MOMENTUM = 0.1, 0.9
# Final parameters that are drawn.
DRAWS = {"tiny": 4000, "quick": 8000, "paper": 20_000}
# Records that scores are pooled over, and steps after which a simulated run is stationary.
RECORDS, STEPS = 100, 300
# Smaller errors are rounding, and are given as 0.
ROUNDING = 1e-10
WEIGHT_DECAYS = (0.0, 5e-4, 0.05)
COLUMNS = ["check", "momentum", "weight_decay", "case", "metric", "value"]


def control_6(settings: Settings) -> pd.DataFrame:
    """The paper's formulas against exact solutions (iha-ctl-6)."""
    rng = np.random.default_rng(settings.seed)
    draws = DRAWS[settings.profile]
    rows = [*covariance_rows(rng, draws), *score_rows(rng, draws), *regression_rows(rng, draws)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table.attrs["note"] = (
        f"Quadratics of {SIZE} parameters, learning rate {RATE}, batches of {BATCH}. An "
        "error of 0 means that the formula is exact there, up to rounding."
    )
    return table


def covariance_rows(rng: np.random.Generator, draws: int) -> list[tuple]:
    """Theorem 2.2 and simulated SGD against the discrete Lyapunov equation."""
    hessian = _spd(rng)
    noises = {
        "noise 2 L H / S (commutes with H)": 2.0 * MINIMUM / BATCH * hessian,
        "any noise (does not commute)": 2.0 * MINIMUM / BATCH * _spd(rng),
    }
    rows = []
    for momentum in (0.0, MOMENTUM):
        for weight_decay in (0.0, 0.05):
            sgd = Sgd(RATE, momentum, weight_decay)
            key = ("stationary covariance", momentum, weight_decay)
            for name, noise in noises.items():
                exact = stationary_covariance(sgd, hessian, noise)
                error = _distance(theorem_covariance(sgd, hessian, noise), exact)
                rows.append((*key, name, "relative error, Theorem 2.2", error))
                simulated = simulated_covariance(sgd, hessian, noise, draws // 4, STEPS, seed=0)
                error = _distance(simulated, exact)
                rows.append((*key, name, "relative error, simulated SGD", error))
    return rows


def score_rows(rng: np.random.Generator, draws: int) -> list[tuple]:
    """Theorem 3.2 against the true log-likelihood ratio, its assumptions made exact.

    A record's loss is linear, so that adding it leaves the Hessian alone; its constant makes the
    regularised loss at the two minima the same; and the noise is 2 L H / S in both worlds. The
    scores of many records are pooled, as an attack would.
    """
    hessian, centre = _spd(rng), rng.standard_normal(SIZE)
    factor = BATCH * (1.0 - MOMENTUM) / (2.0 * N_TRAIN * MINIMUM)
    rows = []
    for weight_decay in WEIGHT_DECAYS:
        sgd = Sgd(RATE, MOMENTUM, weight_decay)
        key = ("optimal score", MOMENTUM, weight_decay)
        played = [
            _linear_record(rng, sgd, hessian, centre, draws // RECORDS) for _ in range(RECORDS)
        ]
        pooled = {name: np.concatenate([part[name] for part in played]) for name in played[0]}
        member, ratio = pooled.pop("member").astype(bool), pooled["true ratio"]
        for name, score in pooled.items():
            if name not in ("true ratio", "LOSS"):
                error = _exact(np.abs(factor * score - ratio).max() / ratio.std())
                rows.append((*key, name, "largest error (sd of the true ratio)", error))
            rows.append((*key, name, "AUC(%)", 100 * metrics.auc(score, member)))
    return rows


def _linear_record(
    rng: np.random.Generator, sgd: Sgd, hessian: FloatArray, centre: FloatArray, draws: int
) -> dict[str, FloatArray]:
    """One record with a linear loss, played for: scores, the true ratio and the coins."""
    gradient, k = 2.0 * rng.standard_normal(SIZE), sgd.total(hessian)
    noise = 2.0 * MINIMUM / BATCH * hessian
    covariance = stationary_covariance(sgd, hessian, noise)
    minimum0 = np.linalg.solve(k, hessian @ centre)
    minimum1 = minimum0 - np.linalg.solve(k, gradient) / N_TRAIN
    w, member, ratio = _worlds(rng, minimum0, minimum1, covariance, covariance, draws)
    # Halfway between the minima of two equal quadratics both losses are the same.
    loss = (w - (minimum0 + minimum1) / 2.0) @ gradient
    own, others = np.broadcast_to(gradient, w.shape), (w - centre) @ hessian
    scores = iha_scores(w, loss, own, others, hessian, sgd, N_TRAIN)
    return {"member": member, "true ratio": ratio, **scores}


def regression_rows(rng: np.random.Generator, draws: int) -> list[tuple]:
    """Least squares, where each assumption holds only nearly: mean AUC over the records left out.

    Both worlds have their own Hessian, and the covariance of their own minibatch noise at the
    minimum; the adversary uses the Hessian and the gradient of the other records.
    """
    x = rng.standard_normal((N_TRAIN, SIZE)) * np.sqrt(np.geomspace(0.2, 2.0, SIZE))
    y = x @ rng.standard_normal(SIZE) + rng.standard_normal(N_TRAIN)
    rows = []
    for weight_decay in WEIGHT_DECAYS:
        sgd = Sgd(RATE, MOMENTUM, weight_decay)
        aucs: dict[str, list[float]] = {}
        for left_out in range(N_TRAIN // 2):
            base = np.arange(N_TRAIN) != left_out
            minimum0, covariance0, hessian = _regression(sgd, x[base], y[base])
            minimum1, covariance1, _ = _regression(sgd, x, y)
            w, member, ratio = _worlds(
                rng, minimum0, minimum1, covariance0, covariance1, draws // 10
            )
            error = w @ x[left_out] - y[left_out]
            own = error[:, None] * x[left_out]
            others = (w @ x[base].T - y[base]) @ x[base] / N_TRAIN
            scores = iha_scores(w, error**2 / 2.0, own, others, hessian, sgd, N_TRAIN)
            for name, score in {"true ratio": ratio, **scores}.items():
                aucs.setdefault(name, []).append(100 * metrics.auc(score, member))
        key = ("least squares", MOMENTUM, weight_decay)
        rows += [(*key, name, "AUC(%)", float(np.mean(values))) for name, values in aucs.items()]
    return rows


def iha_scores(
    w: FloatArray,
    loss: FloatArray,
    gradient: FloatArray,
    others: FloatArray,
    hessian: FloatArray,
    sgd: Sgd,
    n_train: int,
) -> dict[str, FloatArray]:
    """IHA and IHA* at many final parameters, and what becomes of IHA with another loss term.

    `gradient` is that of the record, `others` that of the mean loss over all others.
    """
    recipe = (sgd.learning_rate, sgd.momentum, sgd.weight_decay)
    seen = (w, loss, gradient, others, hessian, n_train, recipe)
    scores = {"IHA": iha_at(*seen), "IHA*": iha_at(*seen, "regularised")}
    term = loss / (1.0 + sgd.momentum)
    scores["IHA* without the loss"] = scores["IHA*"] - term
    scores["IHA* with minus the loss"] = scores["IHA*"] - 2.0 * term
    scores["LOSS"] = -loss
    return scores


def _worlds(rng, minimum0, minimum1, covariance0, covariance1, draws: int):
    """Final parameters from both worlds, the coin, and the log of the ratio of their densities."""
    worlds = [
        multivariate_normal(minimum0, covariance0),
        multivariate_normal(minimum1, covariance1),
    ]
    w = np.concatenate([world.rvs(draws, random_state=rng) for world in worlds])
    ratio = worlds[1].logpdf(w) - worlds[0].logpdf(w)
    return w, np.arange(2 * draws) >= draws, ratio


def _regression(sgd: Sgd, x: FloatArray, y: FloatArray):
    """Minimum, stationary covariance and Hessian of least squares, the loss summed over n."""
    hessian = x.T @ x / N_TRAIN
    minimum = np.linalg.solve(sgd.total(hessian), x.T @ y / N_TRAIN)
    gradients = (x @ minimum - y)[:, None] * x
    noise = np.cov(gradients.T, bias=True) / BATCH
    return minimum, stationary_covariance(sgd, hessian, noise), hessian


def _spd(rng: np.random.Generator) -> FloatArray:
    """A symmetric matrix of random orientation with eigenvalues from 0.2 to 2."""
    turn, _ = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))
    return turn @ np.diag(np.geomspace(0.2, 2.0, SIZE)) @ turn.T


def _distance(estimate: FloatArray, exact: FloatArray) -> float:
    return _exact(float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact)))


def _exact(error: float) -> float:
    return 0.0 if error < ROUNDING else float(error)


# Steps that an SGD run takes from the minimum, and records that are played for.
RETRAINING_STEPS, RETRAINED_RECORDS = 150, 20
# Models that are trained with a record, and as many without it.
RETRAININGS = {"tiny": 200, "quick": 1000, "paper": 1000}
# Of the Hessian over all records: its condition number is 20.
EIGENVALUES = np.geomspace(0.1, 2.0, 6)
# Both forget at the same speed; weight decay as in the paper.
RECIPES = {
    "SGD, rate 0.2": Sgd(0.2, 0.0, 5e-4),
    "SGD with momentum 0.9, rate 0.02": Sgd(0.02, 0.9, 5e-4),
}
SCORES = {"IHA": "AUC of IHA", "loss": "AUC of the loss's likelihood ratio"}
LAWS = {"theorem": "log-density, Theorem 3.1", "boltzmann": "log-density, Boltzmann's law"}
LEAD, GAIN = "AUC, IHA less the loss", "log-density, Theorem 3.1 less Boltzmann's law"


def control_9(settings: Settings) -> pd.DataFrame:
    """Equation 7's score and Theorem 3.1 on weights that SGD found (iha-ctl-9)."""
    rng = np.random.default_rng([settings.seed, 37])
    count = RETRAININGS[settings.profile]
    rows = []
    for case, sgd in RECIPES.items():
        played = pd.DataFrame([_one_record(rng, sgd, count) for _ in range(RETRAINED_RECORDS)])
        for metric in played:
            numbers = metrics.summary(played[metric])
            rows.append({"case": case, "metric": metric, **numbers, "retrainings": 2 * count})
    note = (
        f"{RETRAINED_RECORDS} records, each with {N_TRAIN - 1} others of its own; "
        f"{len(EIGENVALUES)} parameters, batches of {BATCH}, {RETRAINING_STEPS} steps from the "
        "minimum."
    )
    return tidy(rows, {"note": note})


def control_9_said(table: pd.DataFrame) -> str:
    """In how many settings each contrast is clear."""
    rows = table[table["metric"].str.contains(" less ")]
    ahead = (rows["low"] > 0).groupby(rows["metric"], sort=False).sum()
    score, law = ahead
    return (
        f"With {score} of {table['case'].nunique()} recipes the score on parameters is clearly "
        f"ahead of the loss. With {law} the paper's law is clearly ahead of Boltzmann's."
    )


# Each paired difference in words: what stands in front, and what is taken away.
LEADS = {
    LEAD: "AUC: IHA minus the best use of the loss",
    GAIN: "log-density: Theorem 3.1 minus Boltzmann's law",
}


def control_9_drawn(table: pd.DataFrame) -> "Figure":
    """Control 9: how far parameters are ahead of the loss where SGD ran, and the paper's law."""
    shown = table[table["metric"].isin(LEADS)]
    return plots.dots_by_row(
        shown.assign(metric=shown["metric"].map(LEADS), series="ahead by"),
        "case",
        by="series",
        panel="metric",
        baseline=0.0,
        label="paired difference",
        stems=True,
        told="+.2f",
    )


def problem(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Records of a linear regression whose Hessian has `EIGENVALUES`; the last is played for."""
    size = len(EIGENVALUES)
    # Orthonormal columns, so that the sample's Hessian is exact; turned at random.
    x, _ = np.linalg.qr(rng.standard_normal((N_TRAIN, size)))
    turn, _ = np.linalg.qr(rng.standard_normal((size, size)))
    x = x * np.sqrt(N_TRAIN * EIGENVALUES) @ turn.T
    return x, x @ rng.standard_normal(size) + rng.standard_normal(N_TRAIN)


def minimum(sgd: Sgd, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Where SGD converges to, the Hessian without the weight decay, and the loss there."""
    hessian = x.T @ x / len(x)
    w = np.linalg.solve(sgd.total(hessian), x.T @ y / len(x))
    return w, hessian, float(np.mean((x @ w - y) ** 2) / 2)


def trained(
    rng: np.random.Generator, sgd: Sgd, x: FloatArray, y: FloatArray, count: int
) -> FloatArray:
    """Final parameters (count, p) of independent runs of SGD from the minimum."""
    w = np.tile(minimum(sgd, x, y)[0], (count, 1))
    velocity = np.zeros_like(w)
    for _ in range(RETRAINING_STEPS):
        drawn = rng.integers(len(x), size=(count, BATCH), dtype=np.uint8)
        batch = x.take(drawn, axis=0)
        error = np.einsum("csp,cp->cs", batch, w) - y.take(drawn)
        gradient = np.einsum("cs,csp->cp", error, batch) / BATCH + sgd.weight_decay * w
        velocity = sgd.momentum * velocity + gradient
        w = w - sgd.learning_rate * velocity
    return w


def _one_record(rng: np.random.Generator, sgd: Sgd, count: int) -> dict[str, float]:
    """One record played for; what is fitted is fitted to one half and judged on the other."""
    x, y = problem(rng)
    worlds = [(x[:-1], y[:-1]), (x, y)]
    weights = [trained(rng, sgd, *world, count) for world in worlds]
    return crossed(sgd, x, y, weights, BATCH)


def crossed(
    sgd: Sgd, x: FloatArray, y: FloatArray, weights: list[FloatArray], batch: int
) -> dict[str, float]:
    """AUCs and log-densities of weights (count, p) without the last record and with it."""
    count, worlds = len(weights[0]), [(x[:-1], y[:-1]), (x, y)]
    halves = [np.arange(count) % 2 == side for side in (0, 1)]
    folds = pd.DataFrame(
        [
            _aucs(sgd, x, y, *([w[half] for w in weights] for half in order))
            | _densities(sgd, worlds, *([w[half] for w in weights] for half in order), batch)
            for order in (halves, halves[::-1])
        ]
    )
    return folds.mean().to_dict()


def _aucs(sgd: Sgd, x: FloatArray, y: FloatArray, fitted: list, judged: list) -> dict[str, float]:
    errors = [w @ x[-1] - y[-1] for w in fitted]
    w, n = np.concatenate(judged), len(x)
    member = np.repeat([False, True], [len(part) for part in judged])
    error, base = w @ x[-1] - y[-1], x[:-1]
    own, others = error[:, None] * x[-1], (w @ base.T - y[:-1]) @ base / n
    scores = iha_scores(w, error**2 / 2, own, others, base.T @ base / n, sgd, n)
    iha = metrics.auc(scores["IHA"], member)
    loss = metrics.auc(loss_ratio(error**2 / 2, *errors), member)
    return {SCORES["IHA"]: iha, SCORES["loss"]: loss, LEAD: iha - loss}


def loss_ratio(loss: FloatArray, outside: FloatArray, inside: FloatArray) -> FloatArray:
    """Log of the likelihood ratio of a squared error's size, its sign unseen.

    The errors of models trained without the record and with it are taken for normal, as they are
    where the parameters are.
    """
    root = np.sqrt(2 * loss)

    def density(errors: FloatArray) -> FloatArray:
        law = norm(errors.mean(), errors.std(ddof=1))
        return np.logaddexp(law.logpdf(root), law.logpdf(-root))

    return density(inside) - density(outside)


def _densities(sgd: Sgd, worlds: list, fitted: list, judged: list, batch: int) -> dict[str, float]:
    """Mean log-densities of weights, of both worlds, under two laws around the same minimum."""
    densities = {name: 0.0 for name in LAWS.values()}
    for world, fit, judge in zip(worlds, fitted, judged, strict=True):
        centre, hessian, least = minimum(sgd, *world)
        total = sgd.total(hessian)
        # Each coordinate along the loss has variance T: the likeliest temperature.
        temperature = np.mean(np.sum((fit - centre) @ total * (fit - centre), axis=1)) / len(total)
        covariances = {
            "theorem": theorem_covariance(sgd, hessian, 2 * least / batch * hessian),
            "boltzmann": temperature * np.linalg.inv(total),
        }
        for law, covariance in covariances.items():
            density = multivariate_normal(centre, covariance).logpdf(judge)
            densities[LAWS[law]] += float(np.mean(density)) / len(worlds)
    return densities | {GAIN: densities[LAWS["theorem"]] - densities[LAWS["boltzmann"]]}
