"""Gradients of single records beside torch's vmap, and inverse forms beside the machine's rate.

Seconds of one core. Every measurement runs in a process of its own, so that its peak memory is its
own; what a first call loads is loaded before. The limit of an inverse form is what ten products of
its matrix with every queried gradient would take where nothing but float64 products of large
matrices is computed: forward and back, 8 n p multiplications and additions a gradient.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from benchmarks.iha import _apart, _cross_entropy, _peak
from membership import attacks, curvature, models

N_FEATURES, N_CLASSES = 784, 10
N_GRADIENTS, N_TRAIN, N_QUERIES, PRODUCTS = 2000, 1000, 64, 10
WIDTHS = (128, 1250)
SOLVERS = ("cg", "kfac", "ekfac")
RATE, MOMENTUM, DECAY, DAMPING, TOLERANCE = 0.02, 0.9, 5e-4, 0.2, 1e-3


def run() -> pd.DataFrame:
    """Measure everything; what, size, ours (s), reference (s), ratio, memory, and the reference."""
    rate, rows = _apart(_rate), []
    for dtype in ("float64", "float32"):
        ours, other = _apart(_gradients, dtype), _apart(_vmap, dtype)
        what = f"torch.func.vmap, {other[1]:.1f} GB"
        rows.append(
            _row(f"per-record gradients, {dtype}", WIDTHS[0], N_GRADIENTS, ours, other, what)
        )
    for width in WIDTHS:
        size = _size(width)
        least = PRODUCTS * 8 * N_TRAIN * size * N_QUERIES / rate
        what = f"{PRODUCTS} products a record at {rate / 1e9:.0f} GFLOP/s"
        for solver in SOLVERS:
            ours = _apart(_scored, width, solver)
            rows.append(
                _row(f"IHA, Gauss-Newton, {solver}", width, N_QUERIES, ours, (least, 0), what)
            )
    return pd.DataFrame(rows)


def _row(what: str, width: int, n: int, ours: tuple, other: tuple, how: str) -> dict[str, object]:
    return {
        "what": what,
        "size": f"{_size(width):,} parameters, {n:,} records",
        "ours (s)": ours[0],
        "reference (s)": other[0],
        "ratio": other[0] / ours[0],
        "peak memory (GB)": ours[1],
        "reference": how,
    }


def _size(width: int) -> int:
    return (N_FEATURES + 1) * width + (width + 1) * N_CLASSES


def _problem(width: int, n: int) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = models.mlp(N_FEATURES, (width,), N_CLASSES)
    return model, torch.randn(n, N_FEATURES), torch.randint(0, N_CLASSES, (n,))


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _rate() -> float:
    """Multiplications and additions a second, of large matrices in float64."""
    torch.set_num_threads(1)
    square = torch.randn(2048, 2048, dtype=torch.float64)
    return 2 * 2048**3 / min(_seconds(lambda: square @ square) for _ in range(3))


def _gradients(dtype: str) -> tuple[float, float]:
    model, x, y = _problem(WIDTHS[0], N_GRADIENTS)
    curvature.per_record_gradients(model, _cross_entropy, x[:2], y[:2], dtype=dtype)
    seconds = _seconds(
        lambda: curvature.per_record_gradients(model, _cross_entropy, x, y, dtype=dtype)
    )
    return seconds, _peak()


def _vmap(dtype: str) -> tuple[float, float]:
    model, x, y = _problem(WIDTHS[0], N_GRADIENTS)
    model, x = (part.to(getattr(torch, dtype)) for part in (model, x))

    def loss(parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return _cross_entropy(functional_call(model, parameters, x[None]), y[None])[0]

    each = vmap(grad(loss), in_dims=(None, 0, 0))
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    each(parameters, x[:2], y[:2])
    seconds = _seconds(lambda: each(parameters, x, y))
    return seconds, _peak()


def _scored(width: int, solver: str) -> tuple[float, float]:
    model, x, y = _problem(width, N_TRAIN)
    member = np.ones(N_QUERIES, bool)
    how = {"damping": DAMPING, "matrix": "ggn", "solver": solver, "tolerance": TOLERANCE}

    def score(model: nn.Module, n: int) -> object:
        data = (x[:n], y[:n]), (x[:N_QUERIES], y[:N_QUERIES])
        recipe = (RATE, MOMENTUM, DECAY)
        return attacks.iha(model, _cross_entropy, *data, member, *recipe, **how)

    score(models.mlp(N_FEATURES, (2,), N_CLASSES), N_QUERIES)
    return _seconds(lambda: score(model, N_TRAIN)), _peak()
