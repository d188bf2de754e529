"""Every fast path in one table: how it grows, what memory it takes, and what it is worth."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from tqdm import tqdm

from benchmarks._growth import SetUp, Step, measured, shown
from benchmarks.lood import fitted_twice
from benchmarks.training import CONFIG, FACTORY, train_one_by_one
from membership import attacks, curvature, data, lood, metrics, models, nngp, training
from membership.metrics.intervals import RESAMPLES

RECORDS, FEATURES, CLASSES = 500, 100, 20
RECIPE = {"learning_rate": 0.02, "momentum": 0.9, "weight_decay": 5e-4, "damping": 1.0}
NOISE = 0.05


def run() -> pd.DataFrame:
    """Measure every step; a few minutes.

    Returns
    -------
    pandas.DataFrame
        step, size (the largest), s (median seconds), GB (peak of the process), grows (power of the
        size over three of them, with the half-width of its 95% interval), times (as fast as what).
    """
    return shown([measured(step) for step in tqdm(STEPS, desc="benchmark", leave=False)])


def _trained(parameters: int):
    """A network of about so many parameters, its loss, and records; its fit does not matter."""
    torch.manual_seed(0)
    width = max(1, (parameters - CLASSES) // (FEATURES + 1 + CLASSES))
    model = models.mlp(FEATURES, (width,), CLASSES)
    x, y = torch.randn(2 * RECORDS, FEATURES), torch.randint(0, CLASSES, (2 * RECORDS,))
    return model, torch.nn.CrossEntropyLoss(reduction="none"), x, y


def _hessian(parameters: int):
    model, loss, x, y = _trained(parameters)
    return lambda: curvature.hessian(model, loss, x[:RECORDS], y[:RECORDS]), 1.0


def _hessian_by_rows(parameters: int, timed: int = 20):
    model, loss, x, y = _trained(parameters)
    model, weights = model.double(), list(model.parameters())
    value = loss(model(x[:RECORDS].double()), y[:RECORDS]).mean()
    parts = torch.autograd.grad(value, weights, create_graph=True)
    gradient = torch.cat([part.flatten() for part in parts])
    rows = gradient[torch.linspace(0, len(gradient) - 1, timed).long()]
    work = lambda: [torch.autograd.grad(one, weights, retain_graph=True) for one in rows]  # noqa: E731
    return work, len(gradient) / timed


def _iha(parameters: int, solver: str, many: bool = False):
    model, loss, x, y = _trained(parameters)
    train, member = (x[:RECORDS], y[:RECORDS]), np.arange(2 * RECORDS) < RECORDS
    ask = partial(attacks.iha, model, loss, train, (x, y), member, **RECIPE, solver=solver)
    if many:
        return lambda: ask(spectrum=curvature.spectrum(model, loss, *train)), 1.0
    return ask, 1.0


def _posterior(records: int, engine: str, timed: int = 100):
    rng = np.random.default_rng(0)
    features, weight = rng.random((records, 64)), rng.standard_normal((CLASSES, 64))
    logits, bias = features @ weight.T, np.zeros(CLASSES)
    fit = partial(curvature.last_layer_laplace, features, logits, 1.0, structure="kron")
    posterior = fit(engine=engine, weight=weight, bias=bias, label=logits.argmax(1))
    if engine == "laplace-torch":
        return lambda: posterior.covariance(features[:timed]), records / timed
    return lambda: posterior.covariance(features), 1.0


def _left_out(records: int):
    x, y = _images(records)
    kernel = nngp.fully_connected(5, "relu")
    return lambda: lood.leave_one_out(kernel(x), y, NOISE), 1.0


def _left_out_one_by_one(records: int, timed: int = 3):
    x, y = _images(records)
    kernel = nngp.fully_connected(5, "relu")
    return lambda: [fitted_twice(kernel, x, y, i) for i in range(timed)], records / timed


def _images(records: int):
    rng = np.random.default_rng(0)
    return rng.random((records, 784)), np.eye(2)[rng.integers(0, 2, records)] - 0.5


def _training(count: int):
    dataset, membership = _purchases(count)

    def work() -> None:
        with TemporaryDirectory() as folder:
            training.train(
                FACTORY,
                dataset,
                membership,
                CONFIG,
                range(count),
                device="cpu",
                cache_folder=Path(folder),
                progress=False,
            )

    return work, 1.0


def _training_one_by_one(count: int):
    dataset, membership = _purchases(count)
    members = np.flatnonzero(membership[0])
    return lambda: train_one_by_one(dataset, members, CONFIG, 0), float(count)


def _purchases(count: int):
    return data.simulate_purchase(2000, seed=0), data.random_halves(count, 2000, seed=0)


def _lira(records: int):
    signal, member = _signals(records)
    return lambda: attacks.lira(signal[0], signal[1:], member[1:]), 1.0


def _lira_one_by_one(records: int, timed: int = 200):
    signal, member = _signals(records)

    def one(i: int) -> float:
        reference, held = signal[1:, i], member[1:, i]
        inside, outside = reference[held], reference[~held]
        ratio = [
            -0.5 * ((signal[0, i] - s.mean()) / s.std()) ** 2 - np.log(s.std())
            for s in (inside, outside)
        ]
        return ratio[0] - ratio[1]

    return lambda: [one(i) for i in range(timed)], records / timed


def _signals(records: int):
    rng = np.random.default_rng(0)
    return rng.standard_normal((65, records)), rng.random((65, records)) < 0.5


def _glir(queries: int):
    background, query, step = _gradients(queries)

    def work():
        moments = curvature.gradient_moments(background)
        return attacks.glir(step, query, moments.mean, moments.covariance, 500)

    return work, 1.0


def _glir_one_by_one(queries: int, timed: int = 20):
    background, query, step = _gradients(queries)
    mean, covariance = background.mean(0), np.cov(background.T)

    def one(gradient: np.ndarray) -> float:
        away = step - (499 * mean + gradient) / 500
        return float(away @ np.linalg.solve(covariance, away))

    return lambda: [one(gradient) for gradient in query[:timed]], queries / timed


def _gradients(queries: int):
    rng = np.random.default_rng(0)
    background, query = rng.standard_normal((5000, 650)), rng.standard_normal((queries, 650))
    return background, query, query[:500].mean(0)


def _interval(records: int):
    score, member = _scores(records)
    return lambda: metrics.interval(metrics.auc, score, member, method="bootstrap"), 1.0


def _interval_by_resamples(records: int, timed: int = 20):
    score, member = _scores(records)
    rng = np.random.default_rng(0)

    def one() -> float:
        rows = rng.integers(0, records, records)
        return roc_auc_score(member[rows], score[rows])

    return lambda: [one() for _ in range(timed)], RESAMPLES / timed


def _scores(records: int):
    rng = np.random.default_rng(0)
    member = rng.random(records) < 0.5
    return rng.standard_normal(records) + member, member


PARAMETERS, SIZES = (600, 1200, 2400), (2000, 4000, 8000)
exact: SetUp = partial(_iha, solver="exact")
STEPS = (
    Step("Hessian", "weights", PARAMETERS, _hessian, _hessian_by_rows, "by rows"),
    Step("IHA, exact", "weights", PARAMETERS, exact, partial(exact, many=True), "eigenvectors"),
    Step("IHA, CG", "weights", PARAMETERS, partial(_iha, solver="cg"), exact, "exact"),
    Step(
        "BMIA moments",
        "records",
        SIZES,
        partial(_posterior, engine="structured"),
        partial(_posterior, engine="laplace-torch"),
        "laplace-torch",
    ),
    Step("LOOD", "records", (500, 1000, 2000), _left_out, _left_out_one_by_one, "by refits"),
    Step("training", "models", (4, 8, 16), _training, _training_one_by_one, "singly"),
    Step("LiRA", "records", SIZES, _lira, _lira_one_by_one, "singly"),
    Step("GLiR", "records", SIZES, _glir, _glir_one_by_one, "singly"),
    Step("AUC interval", "records", SIZES, _interval, _interval_by_resamples, "scikit-learn"),
)
