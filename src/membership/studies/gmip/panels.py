"""GLiR on simulated gradients beside the curves it should meet: Figures 2a and 4.

GLiR does not change when all gradients are multiplied by one invertible matrix, so gradients with
covariance I stand for any other where the covariance is known.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import evidence, metrics, privacy
from membership.arrays import FloatArray
from membership.attacks.glir import glir_from_distance
from membership.exhibits.tidy import tidy
from membership.studies.gmip import curves
from membership.studies.gmip.origin import computed

SIZES = {"CIFAR-10": (650, 500), "Purchase": (2580, 1970), "Adult": (1026, 790)}
QUANTILES_OF_K = 100
"""They stand for the law of K."""
NAME = "simulated-panels"
"""The evidence file."""

Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Gradients of mean 0 and covariance I, as are those of the other three laws."""
    return rng.standard_normal(shape)


def _uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)


def _exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.exponential(size=shape) - 1


def _heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.standard_t(5, shape) / np.sqrt(5 / 3)


ABLATIONS: dict[str, tuple[int, int, Draw]] = {
    "d = 5, n = 500": (5, 500, normal),
    "d = 10, n = 20": (10, 20, normal),
    "d = 20, n = 10": (20, 10, normal),
    "d = 10, n = 5": (10, 5, normal),
    "uniform": (650, 500, _uniform),
    "exponential": (650, 500, _exponential),
    "Student's t, 5 d.f.": (650, 500, _heavy),
}


def _panels() -> Iterator[tuple[str, int, int, Draw, list[int]]]:
    """Name, d, n, law and random stream of every panel of both figures."""
    for stream, (name, (d, n)) in enumerate(SIZES.items()):
        yield f"{name}: d = {d}, n = {n}", d, n, normal, [3, stream]
    for stream, (name, (d, n, draw)) in enumerate(ABLATIONS.items()):
        yield name, d, n, draw, [4, stream]


def gather(settings: Any) -> xr.Dataset:
    """GLiR's ROC curve in every repeat, and quantiles of K, by panel."""
    found, k = [], []
    at = (np.arange(QUANTILES_OF_K) + 0.5) / QUANTILES_OF_K
    for _, d, n, draw, stream in _panels():
        rng = np.random.default_rng([settings.seed, *stream])
        repeats = (_played(rng, d, n, settings, draw) for _ in range(settings.panel_repeats))
        found.append([metrics.tpr_on(score, member, curves.GRID) for score, member in repeats])
        k.append(np.quantile(np.square(draw(rng, (20_000, d))).sum(axis=1), at))
    return evidence.dataset(
        "measured",
        {"tpr": (("panel", "repeat", "rate"), np.array(found)), "k": (("panel", "quantile"), k)},
        {"panel": [name for name, *_ in _panels()]},
        set="simulated gradients",
        data={},
        recipe={name: [d, n] for name, d, n, *_ in _panels()},
        sizes={
            "Simulated repeats": str(settings.panel_repeats),
            "Simulated non-members a repeat": f"{settings.simulated_records:,}",
        },
        device="cpu",
        seed=settings.seed,
    )


def figure_2a(played: xr.Dataset) -> pd.DataFrame:
    """GLiR on simulated gradients with the analytic curve, at the paper's three (d, n)."""
    parts = []
    for name, (d, n) in SIZES.items():
        key = {"panel": f"{name}: d = {d}, n = {n}", "dataset": name}
        mu = privacy.mip_mu_step(d, n, d)
        parts += [
            _measured(key, played),
            curves.gaussian({**key, "series": "level at K = d"}, mu),
        ]
    note = (
        "The level is mu = 1.14 in all three simulations. The authors' notebook has "
        "(1026, 970), for which mu is 1.03, and 2560 in the place of 2580."
    )
    return tidy(parts, computed(sizes=played.attrs["sizes"], note=note))


def figure_4(played: xr.Dataset) -> pd.DataFrame:
    """GLiR for small d, small n and gradients that are not normal (Figure 4)."""
    parts = []
    for name, (d, n, _) in ABLATIONS.items():
        k = played["k"].sel(panel=name).values
        drawn = np.mean([privacy.mip_tpr(curves.GRID, d, n, value) for value in k], axis=0)
        parts += [
            _measured({"panel": name}, played),
            curves.analytic(
                {"panel": name, "series": "Theorem 5.1, K = d"},
                privacy.mip_tpr(curves.GRID, d, n, d),
            ),
            curves.analytic({"panel": name, "series": "Theorem 5.1, K as drawn"}, drawn),
        ]
    note = "The settings are chosen here."
    return tidy(parts, computed(sizes=played.attrs["sizes"], note=note))


def _measured(key: dict[str, Any], played: xr.Dataset) -> pd.DataFrame:
    tpr = played["tpr"].sel(panel=key["panel"]).values
    return pd.DataFrame({**key, "series": "GLiR", **metrics.curve_band(tpr, curves.GRID)})


def one_round(
    rng: np.random.Generator, d: int, n: int, draw: Draw
) -> tuple[FloatArray, FloatArray]:
    """One published mean, and n members followed by n others."""
    x = draw(rng, (2 * n, d))
    return x[:n].mean(axis=0), x


def _played(
    rng: np.random.Generator, d: int, n: int, settings: Any, draw: Draw
) -> tuple[FloatArray, FloatArray]:
    """Scores and truth of one repeat."""
    rounds = -(-settings.simulated_records // n)
    each = (one_round(rng, d, n, draw) for _ in range(rounds))
    parts = [(np.square(x - m).sum(axis=1), np.square(x).sum(axis=1)) for m, x in each]
    distance, susceptibility = (np.concatenate(part) for part in zip(*parts, strict=True))
    member = np.tile(np.arange(2 * n) < n, rounds)
    return glir_from_distance(distance, susceptibility, n, d), member
