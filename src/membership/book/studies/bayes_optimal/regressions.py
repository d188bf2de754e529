"""Table 1's experiment: two classes as feature vectors, and logistic regressions on random splits.

Of each split there is what MATT needs.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
import xarray as xr
from joblib import delayed
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from membership import data, evidence, limits, models, processes, training
from membership.arrays import deviation
from membership.book.studies.bayes_optimal.names import PAPER_SPLITS, SHIPS
from membership.book.studies.bayes_optimal.settings import Settings, feature_source, require_both
from membership.errors import InputError

# Trucks and ships in CIFAR-10, with its test records.
PAPER_RECORDS = 12_000
PRETRAINING = training.TrainingConfig(
    epochs=1,
    batch_size=128,
    learning_rate=0.1,
    momentum=0.9,
    weight_decay=5e-4,
    schedule="cosine",
    augmentation="flip-and-crop",
)
# Of a feature network: half the time on a CPU that has it.
PRECISION = "bfloat16"
# Records of the other data set that tell how good the feature network is, where it has no split.
HELD_OUT = 1000


@dataclass(frozen=True)
class Features:
    """Records of two classes.

    Attributes
    ----------
    x : numpy.ndarray of float64, shape (records, d)
        Standardised to mean 0 and variance 1 in every coordinate that varies.
    y : numpy.ndarray of int, shape (records,)
        0 or 1.
    digests : dict
        Digest of each data set that went in.
    deviations : tuple of str
        In what they differ from the paper's.
    setup : dict
        Data, architecture and recipe, as `membership.book.published.comparability` takes them.
    device : str
        Where the feature network was trained.
    """

    x: np.ndarray
    y: np.ndarray
    digests: dict[str, str]
    deviations: tuple[str, ...]
    setup: dict[str, Any]
    device: str = "cpu"


@lru_cache(maxsize=1)
def two_classes(settings: Settings) -> Features:
    """Load the data set, keep two classes, and compute their features, once for all sizes."""
    dataset, two = settings.pair()
    x = two.x
    digests = {dataset.name: dataset.digest}
    same = two.name == "cifar10-9-8"
    deviations = [] if same else [f"{two.name} instead of CIFAR-10's trucks and ships"]
    if same and len(two.y) < PAPER_RECORDS:
        deviations.append(f"{len(two.y):,} trucks and ships (CIFAR-10 has {PAPER_RECORDS:,})")
    setup: dict[str, Any] = {"data": SHIPS if same else two.name}
    if settings.feature_network == "raw":
        deviations.append("no feature network: the records as they are")
        values, device = x.reshape(len(x), -1).astype(float), "cpu"
        setup["architecture"] = "logistic regression on the records as they are"
    else:
        learnt = trained(settings.feature_network, settings.feature_epochs, x, settings)
        values, device = learnt.x, learnt.device
        digests |= learnt.digests
        deviations.append(
            f"features: {learnt.words} (the paper: a ResNet-18 pre-trained on "
            "CIFAR-100, details unstated)"
        )
        named = re.sub(r"^resnet(\d+).*", r"ResNet-\1", settings.feature_network)
        setup["architecture"] = f"logistic regression on {named} features"
        setup["recipe"] = {"pre-training": "CIFAR-100"}
    return Features(
        with_unit_variance(values), two.y, digests, tuple(deviations), setup, device=device
    )


@dataclass(frozen=True)
class Learnt:
    """Records as a network trained on other data sees them.

    Attributes
    ----------
    x : numpy.ndarray of float64, shape (records, d)
        What its last layer takes.
    words : str
        The network, its training, and how often it is right.
    digests : dict
        Digest of the data it was trained on.
    device : str
        Where.
    """

    x: np.ndarray
    words: str
    digests: dict[str, str]
    device: str


def trained(name: str, epochs: int, x: np.ndarray, settings) -> Learnt:
    """Train a network, named as `settings.feature_network` is, and show it records."""
    root = settings.data_root or None
    source = data.load(feature_source(root), root=root)
    shape = source.x.shape[1:]
    factory = {
        "resnet18": partial(models.resnet, 18, source.n_classes, stem="imagenet"),
        "resnet18-pooled": partial(models.resnet, 18, source.n_classes, stem="pooled"),
        "resnet18-cifar": partial(models.resnet, 18, source.n_classes, stem="cifar"),
        "small-cnn": partial(models.small_cnn, shape, source.n_classes),
    }[name]
    seen = _seen(source, settings.seed)
    ensemble = training.train(
        factory,
        source,
        seen[None],
        replace(PRETRAINING, epochs=epochs, precision=PRECISION),
        [settings.seed],
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    answers = ensemble.logits(source.x[~seen], batch_size=512)[0].argmax(1).numpy()
    accuracy = float((answers == source.y[~seen]).mean())
    words = (
        f"{name} trained {epochs} epochs on {source.name}, right on {100 * accuracy:.0f}% of those "
        "of its records that it has not seen"
    )
    values = _last_hidden(ensemble.module(0).get_submodule("features"), x)
    return Learnt(values, words, {source.name: source.digest}, str(ensemble.device))


def _seen(source: data.Dataset, seed: int) -> np.ndarray:
    """Which records of the other data set the feature network is trained on."""
    if source.official_train is not None:
        return source.official_train
    count = min(HELD_OUT, len(source.y) // 10)
    seen = np.ones(len(source.y), dtype=bool)
    seen[np.random.default_rng([seed, count]).permutation(len(source.y))[:count]] = False
    return seen


def _last_hidden(features: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    try:
        with torch.no_grad():
            parts = [features(part) for part in torch.tensor(x).split(512)]
    except RuntimeError as error:
        raise InputError(
            f"feature_network: it was trained on other shapes than {tuple(x.shape[1:])} records; "
            "use feature_network = raw"
        ) from error
    return torch.cat(parts).double().numpy()


def with_unit_variance(x: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1 in every coordinate that varies."""
    spread = deviation(x)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)


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
