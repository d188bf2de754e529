"""Hessians, exact scores and conjugate gradients, each against the loop one would write first.

Every measurement runs in a process of its own, so that its peak memory is its own. Loops that
would take minutes are timed on their first rows or records and scaled up; the row says so.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import nn

from membership import attacks, curvature, data, models

N_TRAIN, N_FEATURES, N_CLASSES = 2000, 600, 100
RATE, MOMENTUM, DECAY, DAMPING, TOLERANCE = 0.02, 0.9, 5e-4, 0.2, 1e-6
N_CG = 1024


def run() -> pd.DataFrame:
    """Measure everything.

    Returns
    -------
    pandas.DataFrame
        What, size, ours (s), reference (s), ratio, peak memory of ours (GB), and the reference.
    """
    rows = []
    for width, timed in ((4, 60), (32, 60)):
        size = _size(width)
        rows.append(
            _row(
                "Hessian",
                f"{size:,} parameters, {N_TRAIN:,} records",
                _apart(_hessian, width),
                _apart(_hessian_loop, width, timed),
                f"a row at a time by automatic differentiation, from {timed} of {size:,} rows",
            )
        )
    decomposed, scored = _apart(_exact, 8, 10_000)
    inverted, looped = _apart(_exact_loop, 8, 100, 10_000)
    size = f"{_size(8):,} parameters"
    rows.append(_row("eigendecomposition", size, decomposed, inverted, "numpy.linalg.inv"))
    what = "three products a record with the inverse, from 100 records"
    rows.append(_row("IHA, exact", f"{size}, 10,000 records", scored, looped, what))
    solved, scored = _apart(_conjugate, 32)
    solved_alone, scored_alone = _apart(_conjugate_loop, 32, 2)
    size = f"{_size(32):,} parameters, a record"
    what = f"one system at a time, residual {TOLERANCE:g}, from 2 records"
    rows.append(_row("conjugate gradients", size, solved, solved_alone, what))
    rows.append(_row("IHA, conjugate gradients", size, scored, scored_alone, f"3 systems, {what}"))
    return pd.DataFrame(rows)


def _row(what: str, size: str, ours: tuple, reference: tuple, how: str) -> dict[str, object]:
    return {
        "what": what,
        "size": size,
        "ours (s)": ours[0],
        "reference (s)": reference[0],
        "ratio": reference[0] / ours[0],
        "peak memory (GB)": ours[1],
        "reference": how,
    }


def _apart(measure: Callable, *arguments):
    """Run a measurement in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, arguments)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _timed(work: Callable) -> tuple[float, object]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _size(width: int) -> int:
    return (N_FEATURES + 1) * width + (width + 1) * N_CLASSES


def _cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def _problem(width: int, epochs: int = 120) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """A network trained by the paper's recipe on simulated purchases, and further records."""
    torch.manual_seed(0)
    dataset = data.simulate_purchase(12_000, seed=0)
    x, y = torch.tensor(dataset.x), torch.tensor(dataset.y)
    model = models.mlp(N_FEATURES, (width,), N_CLASSES)
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for _ in range(epochs):
        for rows in torch.randperm(N_TRAIN).split(256):
            optimiser.zero_grad()
            _cross_entropy(model(x[rows]), y[rows]).mean().backward()
            optimiser.step()
    return model, x, y


def _hessian(width: int) -> tuple[float, float]:
    model, x, y = _problem(width)
    # Loads what is loaded on first use.
    curvature.hessian(models.mlp(N_FEATURES, (1,), 2), _cross_entropy, x[:2], y[:2] % 2)
    seconds, _ = _timed(lambda: curvature.hessian(model, _cross_entropy, x[:N_TRAIN], y[:N_TRAIN]))
    return seconds, _peak()


def _flat_gradient(model: nn.Module, x: torch.Tensor, y: torch.Tensor, **options):
    value = _cross_entropy(model(x), y).mean()
    parts = torch.autograd.grad(value, list(model.parameters()), **options)
    return torch.cat([part.flatten() for part in parts])


def _hessian_loop(width: int, timed: int) -> tuple[float, float]:
    model, x, y = _problem(width)
    model = model.double()
    gradient = _flat_gradient(model, x[:N_TRAIN].double(), y[:N_TRAIN], create_graph=True)
    parameters = list(model.parameters())

    def rows() -> None:
        for entry in gradient[:timed]:
            torch.autograd.grad(entry, parameters, retain_graph=True)

    rows()
    seconds, _ = _timed(rows)
    return seconds / timed * len(gradient), _peak()


def _exact(width: int, count: int):
    model, x, y = _problem(width)
    train, query = (x[:N_TRAIN], y[:N_TRAIN]), (x[:count], y[:count])
    member = np.arange(count) < N_TRAIN
    hessian = torch.as_tensor(curvature.hessian(model, _cross_entropy, *train))
    seconds, (values, vectors) = _timed(lambda: torch.linalg.eigh(hessian))
    decomposed = (seconds, _peak())
    spectrum = curvature.Spectrum(values.numpy(), vectors)
    seconds, _ = _timed(
        lambda: attacks.iha(
            model, _cross_entropy, train, query, member, RATE, MOMENTUM, DECAY, spectrum=spectrum
        )
    )
    return decomposed, (seconds, _peak())


def _exact_loop(width: int, timed: int, count: int):
    model, x, y = _problem(width)
    train = (x[:N_TRAIN], y[:N_TRAIN])
    hessian = curvature.hessian(model, _cross_entropy, *train)
    seconds, inverse = _timed(lambda: np.linalg.inv(hessian + DAMPING * np.eye(len(hessian))))
    inverted = (seconds, _peak())
    model = model.double()
    mean = _flat_gradient(model, train[0].double(), train[1]).numpy()
    seconds, _ = _timed(
        lambda: [_score(model, x[i], y[i], mean, inverse.dot) for i in range(timed)]
    )
    return inverted, (seconds / timed * count, _peak())


def _score(model: nn.Module, x: torch.Tensor, y: torch.Tensor, mean, solve: Callable) -> float:
    """Equation 8 for one member, as it is printed."""
    n, s1 = N_TRAIN, 1 - RATE * DECAY / (1 + MOMENTUM)
    s2 = 1 + s1
    g = _flat_gradient(model, x[None].double(), y[None]).numpy()
    loss = _cross_entropy(model(x[None].double()), y[None]).item()
    others, own = solve(mean - g / n), solve(g)
    twice = solve(own)
    i1, i2 = s1 / n * own @ own, 2 * s1 * others @ own
    i3, i4 = DECAY * s2 / (2 * n) * own @ twice, DECAY * s2 * others @ twice
    return loss / (1 + MOMENTUM) - (i1 + i2 + i3 + i4) / RATE


def _conjugate(width: int):
    model, x, y = _problem(width)
    train, query = (x[:N_TRAIN], y[:N_TRAIN]), (x[:N_CG], y[:N_CG])
    keywords = {"solver": "cg", "tolerance": TOLERANCE}
    seconds, _ = _timed(lambda: attacks.sif(model, _cross_entropy, train, query, **keywords))
    solved = (seconds / N_CG, _peak())
    recipe, member = (RATE, MOMENTUM, DECAY), np.ones(N_CG, dtype=bool)
    seconds, _ = _timed(
        lambda: attacks.iha(model, _cross_entropy, train, query, member, *recipe, **keywords)
    )
    return solved, (seconds / N_CG, _peak())


def _conjugate_loop(width: int, timed: int):
    model, x, y = _problem(width)
    model = model.double()
    train = (x[:N_TRAIN].double(), y[:N_TRAIN])
    mean = _flat_gradient(model, *train).numpy()
    solve = _plain_solve(model, *train)

    def influence(i: int) -> float:
        g = _flat_gradient(model, x[i : i + 1].double(), y[i : i + 1]).numpy()
        return float(g @ solve(g))

    influence(0)
    seconds, _ = _timed(lambda: [influence(i) for i in range(timed)])
    solved = (seconds / timed, _peak())
    seconds, _ = _timed(lambda: [_score(model, x[i], y[i], mean, solve) for i in range(timed)])
    return solved, (seconds / timed, _peak())


def _plain_solve(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable:
    """Conjugate gradients for one vector, the textbook's."""
    parameters = list(model.parameters())

    def times(vector: torch.Tensor) -> torch.Tensor:
        gradient = _flat_gradient(model, x, y, create_graph=True)
        parts = torch.autograd.grad(gradient, parameters, grad_outputs=vector)
        return torch.cat([part.flatten() for part in parts]) + DAMPING * vector

    def solve(right: np.ndarray) -> np.ndarray:
        residual = torch.as_tensor(right)
        solution, direction = torch.zeros_like(residual), residual
        stop, power = TOLERANCE * residual.norm(), residual @ residual
        while residual.norm() > stop:
            moved = times(direction)
            length = power / (direction @ moved)
            solution = solution + length * direction
            residual = residual - length * moved
            before, power = power, residual @ residual
            direction = residual + power / before * direction
        return solution.numpy()

    return solve
