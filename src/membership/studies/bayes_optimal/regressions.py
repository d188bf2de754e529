"""Table 1's experiment: logistic regressions on random splits, with what MATT needs of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from joblib import delayed
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from membership import evidence, limits, processes
from membership.studies.bayes_optimal.features import two_classes
from membership.studies.bayes_optimal.names import PAPER_SPLITS
from membership.studies.bayes_optimal.settings import Settings, require_both

INVERSE_PENALTIES = np.logspace(-5, 2, 15)
SPLITS_FOR_PENALTY = 3
# The first splits, for the second-order term; the others' leverages are left out for their size.
SPLITS_WITH_LEVERAGE = 50
# Of Table 1's records: to 1.2e-4 of each number, so that 100 splits take the place of 50.
MANTISSA_BITS = 12


class Records(NamedTuple):
    """Records of two classes: features, (records, d), and labels 0 and 1, (records,)."""

    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class LogisticModel:
    r"""A fitted two-class logistic regression.

    Attributes
    ----------
    theta : numpy.ndarray, shape (d + 1,)
        Weights, then the intercept.
    inverse_penalty : float
        scikit-learn's C: the fit minimises
        :math:`\sum_i \ell(\theta, z_i) + \lVert w \rVert^2 / (2C)`, intercept unpenalised.
    """

    theta: np.ndarray
    inverse_penalty: float

    def logit(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of class 1, shape (records,)."""
        return x @ self.theta[:-1] + self.theta[-1]

    def log_odds(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log-odds of the label, shape (records,)."""
        return (2 * y - 1) * self.logit(x)

    def loss(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Cross-entropy a record, in nats, shape (records,)."""
        return np.logaddexp(0.0, -self.log_odds(x, y))

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """Second derivative of each record's loss in its logit, shape (records,)."""
        p = expit(self.logit(x))
        return p * (1 - p)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Hessian of the summed, penalised loss over `x`, shape (d + 1, d + 1)."""
        design = with_one(x)
        penalty = np.full(design.shape[1], 1 / self.inverse_penalty)
        penalty[-1] = 0.0
        return design.T @ (self.curvature(x)[:, None] * design) + np.diag(penalty)


def fit(x: np.ndarray, y: np.ndarray, inverse_penalty: float) -> LogisticModel:
    """Logistic regression by scikit-learn's L-BFGS."""
    model = LogisticRegression(C=inverse_penalty, tol=1e-6, max_iter=20_000).fit(x, y)
    return LogisticModel(np.append(model.coef_[0], model.intercept_), inverse_penalty)


def with_one(x: np.ndarray) -> np.ndarray:
    """The features with a column of ones for the intercept, shape (records, d + 1)."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def white_box(n: int, settings: Settings) -> xr.Dataset:
    """Log-odds at target and reference, and leverages, on random splits of n records.

    Of each split, n/2 records train the target model, n/2 are the non-members and n/2 are held in
    reserve to train theta_0 (Sablayrolles et al. 2019, Section 6.2). C is chosen once for a size,
    by the loss on records outside all three.
    """
    features = two_classes(settings)
    require_both(len(features.y), settings.n_records)
    records = Records(features.x, features.y)
    repeats, seed = range(settings.n_repeats), settings.seed
    workers = processes.workers(limits.cores(settings.n_jobs))
    with threadpool_limits(limits=1, user_api="blas"):
        losses = workers(
            delayed(loss_outside)(records, n, repeat, seed, inverse_penalty)
            for inverse_penalty in INVERSE_PENALTIES
            for repeat in range(SPLITS_FOR_PENALTY)
        )
        total = np.reshape(losses, (len(INVERSE_PENALTIES), SPLITS_FOR_PENALTY)).sum(axis=1)
        chosen = float(INVERSE_PENALTIES[total.argmin()])
        splits = workers(delayed(_one_split)(records, n, r, chosen, seed) for r in repeats)
    few = () if settings.n_repeats >= PAPER_SPLITS else (f"{settings.n_repeats} random splits",)
    return evidence.dataset(
        "white_box",
        {name: _kept([split[name] for split in splits]) for name in splits[0]},
        {"target": list(repeats), "query": list(range(n))},
        set=features.setup["data"],
        data=features.digests,
        recipe={"inverse_penalty": chosen, **features.setup.get("recipe", {})},
        inverses=[],
        setup={**features.setup, **_queried(n)},
        deviations=[*features.deviations, *(f"{text} (the paper: 100)" for text in few)],
        splits=settings.n_repeats,
        seed=seed,
        device=features.device,
    )


def _kept(arrays: list[np.ndarray]) -> np.ndarray:
    values = np.stack(arrays)
    return values if values.dtype == bool else evidence.rounded(values, MANTISSA_BITS)


def _queried(n: int) -> dict[str, int]:
    sides = dict.fromkeys(("members", "queried_members", "queried_non_members"), n // 2)
    return {**sides, "reference_models": 1}


def split(n_available: int, n: int, repeat: int, seed: int) -> list[np.ndarray]:
    """Row numbers of members, non-members, the reserve and all others."""
    rng = np.random.default_rng([seed, n, repeat])
    return np.split(rng.permutation(n_available), [n // 2, n, 3 * n // 2])


def loss_outside(records: Records, n: int, repeat: int, seed: int, inverse_penalty: float) -> float:
    """Mean loss, on the records outside a split, of the model of its reserve."""
    _, _, reserve, outside = split(len(records.y), n, repeat, seed)
    model = fit(records.x[reserve], records.y[reserve], inverse_penalty)
    return float(model.loss(records.x[outside], records.y[outside]).mean())


def _one_split(
    records: Records, n: int, repeat: int, inverse_penalty: float, seed: int
) -> dict[str, np.ndarray]:
    """What the target of one split and its reference answer.

    Members come first, and of both kinds the record of the least log-odds: an order that says
    nothing, since records are not named, and that packs well.
    """
    members, outside, reserve, _ = split(len(records.y), n, repeat, seed)
    x, y = records
    target = fit(x[members], y[members], inverse_penalty)
    theta0 = fit(x[reserve], y[reserve], inverse_penalty)
    queried = np.concatenate([_sorted(target, x, y, rows) for rows in (members, outside)])
    leverage = np.full(n, np.nan)
    if repeat < SPLITS_WITH_LEVERAGE:
        leverage = leverages(theta0, x[queried], x[reserve])
    return {
        "log_odds": target.log_odds(x[queried], y[queried]),
        "reference_log_odds": theta0.log_odds(x[queried], y[queried]),
        "leverage": leverage,
        "member": np.arange(n) < n // 2,
    }


def _sorted(target: LogisticModel, x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return rows[np.argsort(target.log_odds(x[rows], y[rows]), kind="stable")]


def leverages(model: LogisticModel, x: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Each record's curvature times x' H^-1 x, H of the training records; shape (records,)."""
    design = with_one(x)
    solved = np.linalg.solve(model.hessian(training), design.T)
    return model.curvature(x) * np.einsum("ij,ji->i", design, solved)
