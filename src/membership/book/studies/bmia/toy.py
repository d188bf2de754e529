"""Figure 1: a regression with few records in the middle, by quantiles and by a Bayesian network.

Control 11 repeats it on other records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from scipy.optimize import minimize
from scipy.stats import norm
from threadpoolctl import threadpool_limits
from torch import nn
from torch.func import functional_call, jacrev, vmap

from membership import evidence
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bmia.settings import Settings
from membership.training.ensemble import forward, stack

RECORDS = 200
HIDDEN = 50
STEPS = 2000
NOISE = 0.1
LEVELS = (0.05, 0.5, 0.95)
GRID = np.linspace(-6, 6, 241)
TEST = 20_000
BAYES = {"Laplace, all weights": "all", "Laplace, last layer": "last"}
MODELS = ("quantile regression", *BAYES)
READINGS = {"variance 0.8": 0.8, "standard deviation 0.8": 0.64}
"""The two readings of the paper's 0.8, as variances."""
SEEDS = {"tiny": 2, "quick": 3, "paper": 20}
STEPS_BY_PROFILE = {"tiny": 100, "quick": STEPS, "paper": STEPS}

RATIO = "width in the middle / near the records"
EXCESS = f"{RATIO}, less the quantile regression's"


# Fits of two threads end elsewhere, and the posterior of all weights is nearly singular.
one_thread = threadpool_limits.wrap(limits=1)


@one_thread
def figure_1(settings: Settings) -> pd.DataFrame:
    r"""Medians and 90% bands of three models of :math:`y = \sin(1.2 x) + \epsilon` (Figure 1).

    The noise has variance 0.01; x comes from two normal laws around -3 and 3 of *variance* 0.8.
    All models are networks with one hidden layer of 50 tanh units. Prior and noise of the Bayesian
    ones are those of the largest marginal likelihood.
    """
    rng = np.random.default_rng([settings.seed, 23])
    x, y = drawn(rng, RECORDS)
    parts = [pd.DataFrame({"series": "data", "x": x, "value": y, "low": y, "high": y})]
    (bands,) = _bands(x[None], y[None], [settings.seed], STEPS)
    for name, band in bands.items():
        low, middle, high = band(GRID)
        columns = {"x": GRID, "value": middle, "low": low, "high": high}
        parts.append(pd.DataFrame({"series": name, **columns}))
    inside = _coverage(bands, rng)
    note = f"New records inside the 90% band, in the middle and elsewhere: {inside}."
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {
        "data": {},
        "deviations": [f"{RECORDS} records, networks and training chosen here"],
        "device": "cpu",
        "note": note,
    }
    return table


def figure_1_said(table: pd.DataFrame) -> str:
    """Each band's width in the middle, over that where the records are."""
    texts = []
    for name, part in table[table["series"] != "data"].groupby("series", sort=False):
        width, x = part["high"] - part["low"], part["x"].abs()
        middle, near = (width[place].mean() for place in (x < 1, (x - 3).abs() < 1))
        texts.append(f"{name} {middle / near:.1f}")
    return f"In the middle bands are wider by these factors: {'; '.join(texts)}."


def _bands(
    x: FloatArray, y: FloatArray, seeds: list[int], steps: int
) -> list[dict[str, Callable[[FloatArray], Any]]]:
    """Of each row of records every model's band, a function of the places asked."""
    fitted = [_fit(x, y, *answers, seeds, steps) for answers in ANSWERS]
    return [
        {
            "quantile regression": _quantiles(quantiles),
            **{name: _laplace(regression, *records, part) for name, part in BAYES.items()},
        }
        for regression, quantiles, *records in zip(*fitted, x, y, strict=True)
    ]


def drawn(rng: np.random.Generator, n: int, variance: float = 0.8) -> tuple[FloatArray, FloatArray]:
    """Records, x of two normal laws around -3 and 3, and y with its noise."""
    x = rng.choice([-3.0, 3.0], n) + np.sqrt(variance) * rng.standard_normal(n)
    return x, np.sin(1.2 * x) + NOISE * rng.standard_normal(n)


def start(outputs: int, seed: int) -> nn.Sequential:
    """An untrained network, in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, outputs))
    return network.double()


@dataclass(frozen=True)
class Evidence:
    """The marginal likelihood of a linear-Gaussian model of residuals, up to nothing.

    Attributes
    ----------
    eigenvalues : ndarray of shape (parameters,)
        Of J'J, the Jacobians of all records.
    squared_error, squared_norm : float
        Summed over the records; of the parameters that have a posterior.
    n_records : int
    """

    eigenvalues: FloatArray
    squared_error: float
    squared_norm: float
    n_records: int

    def negative_log(self, logs: FloatArray) -> float:
        """Of log noise variance and log prior precision, in nats."""
        noise, precision = np.exp(logs)
        fit = self.n_records * np.log(2 * np.pi * noise) + self.squared_error / noise
        ratio = np.log1p(self.eigenvalues / (noise * precision)).sum()
        return float((fit + ratio + precision * self.squared_norm) / 2)

    def best(self) -> tuple[float, float]:
        """Noise variance and prior precision of the largest marginal likelihood."""
        start = [np.log(self.squared_error / self.n_records), 0.0]
        return tuple(np.exp(minimize(self.negative_log, start, method="Nelder-Mead").x))


def _laplace(network: nn.Module, x: FloatArray, y: FloatArray, part: str):
    """The band of a Laplace posterior of all weights, or of the last layer's."""
    jacobian = _jacobian(network, x, part)
    mean = _answer(network, x)[:, 0]
    weights = torch.cat([p.detach().flatten() for p in _parameters(network, part).values()])
    gram = jacobian.T @ jacobian
    evidence = Evidence(
        np.linalg.eigvalsh(gram).clip(min=0),
        float(((y - mean) ** 2).sum()),
        float((weights**2).sum()),
        len(y),
    )
    noise, precision = evidence.best()
    covariance = np.linalg.inv(gram / noise + precision * np.eye(len(gram)))

    def band(query: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows = _jacobian(network, query, part)
        sd = np.sqrt(((rows @ covariance) * rows).sum(axis=1) + noise)
        middle, width = _answer(network, query)[:, 0], norm.ppf(LEVELS[2]) * sd
        return middle - width, middle, middle + width

    return band


def _quantiles(network: nn.Module):
    """The band of a network that answers three quantiles, fitted by the pinball loss."""

    def band(query: FloatArray) -> FloatArray:
        return np.sort(_answer(network, query), axis=1).T

    return band


def _fit(
    x: FloatArray, y: FloatArray, outputs: int, loss: Any, seeds: list[int], steps: int
) -> list[nn.Module]:
    """Full-batch Adam with a falling learning rate, in float64: a network a row of records.

    One batched program; Adam acts entry by entry.
    """
    networks = [start(outputs, seed) for seed in seeds]
    parameters, _ = stack(networks, torch.device("cpu"))
    optimiser = torch.optim.Adam(parameters.values(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    inputs, truth = torch.tensor(x)[..., None], torch.tensor(y)[..., None]
    for _ in range(steps):
        optimiser.zero_grad()
        # The mean over all networks, times their number: each has its own loss's gradient.
        (len(seeds) * loss(forward(networks[0], parameters, {}, inputs), truth)).backward()
        optimiser.step()
        schedule.step()
    for place, network in enumerate(networks):
        network.load_state_dict(
            {name: values[place].detach() for name, values in parameters.items()}
        )
    return networks


def _squared_error(answer: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    return ((answer - truth) ** 2).mean()


def _pinball(answer: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    above, levels = truth - answer, torch.tensor(LEVELS, dtype=answer.dtype)
    return torch.maximum(levels * above, (levels - 1) * above).mean()


ANSWERS = ((1, _squared_error), (len(LEVELS), _pinball))
"""How many numbers each network answers, and the loss that it is fitted by."""


def _parameters(network: nn.Module, part: str) -> dict[str, torch.Tensor]:
    names = [n for n, _ in network.named_parameters() if part == "all" or n.startswith("2.")]
    return {name: network.get_parameter(name).detach() for name in names}


def _jacobian(network: nn.Module, x: FloatArray, part: str) -> FloatArray:
    """Of the answer by the parameters, (records, parameters)."""

    def answer(parameters: dict[str, torch.Tensor], record: torch.Tensor) -> torch.Tensor:
        return functional_call(network, parameters, (record[None],))[0, 0]

    blocks = vmap(jacrev(answer), (None, 0))(_parameters(network, part), torch.tensor(x)[:, None])
    return torch.cat([block.flatten(1) for block in blocks.values()], dim=1).detach().numpy()


def _answer(network: nn.Module, x: FloatArray) -> FloatArray:
    with torch.no_grad():
        return network(torch.tensor(x)[:, None]).numpy()


def _coverage(bands: dict[str, Any], rng: np.random.Generator) -> str:
    x, y = drawn(rng, TEST)
    middle, words = np.abs(x) < 1, []
    for name, band in bands.items():
        low, _, high = band(x)
        inside = (low <= y) & (y <= high)
        words.append(f"{name} {inside[middle].mean():.0%} and {inside[~middle].mean():.0%}")
    return "; ".join(words)


@one_thread
def gather(settings: Settings) -> xr.Dataset:
    """Mean widths of the 90% bands in the middle and near the records, by reading and seed."""
    n, steps = SEEDS[settings.profile], STEPS_BY_PROFILE[settings.profile]
    records = [
        drawn(np.random.default_rng([settings.seed, 25, place, seed]), RECORDS, variance)
        for place, variance in enumerate(READINGS.values())
        for seed in range(n)
    ]
    x, y = np.moveaxis(np.array(records), 1, 0)
    seeds = [1000 * settings.seed + seed for seed in range(n)] * len(READINGS)
    widths = [_widths(bands) for bands in _bands(x, y, seeds, steps)]
    shape = (len(READINGS), n, len(MODELS), 2)
    return evidence.dataset(
        "measured",
        {"width": (("reading", "seed", "model", "place"), np.reshape(widths, shape))},
        {"reading": list(READINGS), "model": list(MODELS), "place": ["middle", "near"]},
        set="toy regression",
        data={},
        recipe={"records": RECORDS, "steps": steps},
        device="cpu",
    )


def _widths(bands: dict[str, Any]) -> list[list[float]]:
    """Each model's two widths."""
    middle, near = np.abs(GRID) < 1, np.abs(np.abs(GRID) - 3) < 1
    widths = []
    for name in MODELS:
        low, _, high = bands[name](GRID)
        widths.append([float((high - low)[place].mean()) for place in (middle, near)])
    return widths


def control_11(gathered: xr.Dataset) -> pd.DataFrame:
    """Widths in the middle over those near the records, over seeds (Control 11)."""
    listed, width = [], gathered["width"]
    ratio = width.sel(place="middle") / width.sel(place="near")
    for reading in ratio["reading"].values:
        part = {str(name): ratio.sel(reading=reading, model=name).values for name in MODELS}
        for name, values in part.items():
            ratios = {RATIO: values}
            if name in BAYES:
                ratios[EXCESS] = values - part["quantile regression"]
            listed += of_each({"reading": str(reading), "model": name}, "metric", ratios)
    recipe = gathered.attrs["recipe"]
    attrs = {
        "data": {},
        "deviations": [f"{recipe['records']} records, networks and training chosen here"],
        "device": gathered.attrs["device"],
        "sizes": {"Data seeds": str(ratio.sizes["seed"])},
    }
    return tidy(listed, attrs)
