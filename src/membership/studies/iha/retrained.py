"""Linear regression retrained by SGD, where the paper's theorems meet other laws (iha-ctl-9).

A record and the others are fixed; a model is trained on the others or on all, again and again, by
SGD at a constant rate until it is stationary. Batches are drawn from the records, so that every
assumption on their noise holds as nearly as it does in practice.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal, norm

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.iha.theory import iha_scores
from membership.training.stationary import Sgd, theorem_covariance

N_TRAIN, BATCH, STEPS, RECORDS = 50, 16, 150, 20
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


def control_9(settings: Any) -> pd.DataFrame:
    """Equation 7's score and Theorem 3.1 on weights that SGD found (iha-ctl-9)."""
    rng = np.random.default_rng([settings.seed, 37])
    count = settings.theory_draws // 20
    found = []
    for case, sgd in RECIPES.items():
        played = pd.DataFrame([_one_record(rng, sgd, count) for _ in range(RECORDS)])
        for metric in played:
            numbers = metrics.summary(played[metric])
            found.append({"case": case, "metric": metric, **numbers, "retrainings": 2 * count})
    note = (
        f"{RECORDS} records, each with {N_TRAIN - 1} others of its own; "
        f"{len(EIGENVALUES)} parameters, batches of {BATCH}, {STEPS} steps from the minimum."
    )
    return tidy(found, {"note": note})


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
    for _ in range(STEPS):
        drawn = rng.integers(len(x), size=(count, BATCH), dtype=np.uint8)
        some = x[drawn]
        error = np.einsum("csp,cp->cs", some, w) - y[drawn]
        gradient = np.einsum("cs,csp->cp", error, some) / BATCH + sgd.weight_decay * w
        velocity = sgd.momentum * velocity + gradient
        w = w - sgd.learning_rate * velocity
    return w


def _one_record(rng: np.random.Generator, sgd: Sgd, count: int) -> dict[str, float]:
    """One record played for; what is fitted is fitted to one half and judged on the other."""
    x, y = problem(rng)
    worlds = [(x[:-1], y[:-1]), (x, y)]
    weights = [trained(rng, sgd, *world, count) for world in worlds]
    halves = [np.arange(count) % 2 == side for side in (0, 1)]
    found = pd.DataFrame(
        [
            _aucs(sgd, x, y, *([w[half] for w in weights] for half in order))
            | _densities(sgd, worlds, *([w[half] for w in weights] for half in order))
            for order in (halves, halves[::-1])
        ]
    )
    return found.mean().to_dict()


def _aucs(sgd: Sgd, x: FloatArray, y: FloatArray, fitted: list, judged: list) -> dict[str, float]:
    errors = [w @ x[-1] - y[-1] for w in fitted]
    w, n = np.concatenate(judged), len(x)
    member = np.repeat([False, True], [len(part) for part in judged])
    error, others = w @ x[-1] - y[-1], x[:-1]
    forms = {
        "L0": (w @ others.T - y[:-1]) @ others / n,
        "gradient": error[:, None] * x[-1],
        "hessian": others.T @ others / n,
        "w": w,
    }
    iha = metrics.auc(iha_scores(forms, error**2 / 2, sgd, n)["IHA"], member)
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


def _densities(sgd: Sgd, worlds: list, fitted: list, judged: list) -> dict[str, float]:
    """Mean log-densities of weights, of both worlds, under two laws around the same minimum."""
    found = {name: 0.0 for name in LAWS.values()}
    for world, fit, judge in zip(worlds, fitted, judged, strict=True):
        centre, hessian, least = minimum(sgd, *world)
        total = sgd.total(hessian)
        # Each coordinate along the loss has variance T: the likeliest temperature.
        temperature = np.mean(np.sum((fit - centre) @ total * (fit - centre), axis=1)) / len(total)
        covariances = {
            "theorem": theorem_covariance(sgd, hessian, 2 * least / BATCH * hessian),
            "boltzmann": temperature * np.linalg.inv(total),
        }
        for law, covariance in covariances.items():
            density = multivariate_normal(centre, covariance).logpdf(judge)
            found[LAWS[law]] += float(np.mean(density)) / len(worlds)
    return found | {GAIN: found[LAWS["theorem"]] - found[LAWS["boltzmann"]]}
