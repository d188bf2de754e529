"""Leave-one-out distinguishability: every record from one inverse, and queries by gradient."""

import time
import tracemalloc

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import ncx2
from tqdm import tqdm

from membership import data, lood, nngp

_NOISE = 0.05
_PIXELS = 3072


def run() -> pd.DataFrame:
    """Measure; about five minutes on two cores.

    Returns
    -------
    pandas.DataFrame
        what, size, ours (s), reference (s), ratio, largest difference (relative), memory (GB; the
        largest sum of arrays held at once), note.
    """
    kernel = nngp.fully_connected(10, "relu")
    rows = [
        every_record(kernel, 500, timed=10),
        every_record(kernel, 5000, timed=1),
        every_record(kernel, 10_000, timed=0),
        exact_auc(500, timed=20),
        gradient(200),
        starts_at_once(16),
    ]
    return pd.DataFrame(rows)


def every_record(kernel: nngp.Kernel, n: int, timed: int) -> dict:
    """All records from one inverse, against two fits a record."""
    rng = np.random.default_rng(0)
    x, y = rng.random((n, _PIXELS)), np.eye(2)[rng.integers(0, 2, n)] - 0.5
    tracemalloc.start()
    started = time.perf_counter()
    found = lood.leave_one_out(kernel(x), y, _NOISE)
    ours = time.perf_counter() - started
    memory = tracemalloc.get_traced_memory()[1] / 1e9
    tracemalloc.stop()
    started = time.perf_counter()
    chosen = range(0, timed * (n // max(timed, 1)), n // max(timed, 1))
    direct = [fitted_twice(kernel, x, y, i) for i in tqdm(chosen, desc="one by one", leave=False)]
    seconds = (time.perf_counter() - started) / timed * n if timed else None
    difference = max(
        (abs(kl / found.kl[i] - 1) for i, kl in zip(chosen, direct, strict=True)), default=None
    )
    note = "KL both ways, mean distance and exact AUC, kernel included; "
    note += (
        f"reference: KL alone, {timed} records timed, times {n / timed:.0f}"
        if timed
        else "no reference"
    )
    return _row(
        "LOOD of every record, depth 10", f"{n:,} records", ours, seconds, difference, note, memory
    )


def fitted_twice(kernel: nngp.Kernel, x: np.ndarray, y: np.ndarray, i: int) -> float:
    """KL at record i from the posterior without it and the posterior with it."""
    keep = np.arange(len(x)) != i
    query, moments = x[[i]], []
    for rows, labels in ((x[keep], y[keep]), (x, y)):
        matrix, cross = kernel(rows) + _NOISE * np.eye(len(rows)), kernel(query, rows)
        solved = np.linalg.solve(matrix, np.concatenate([labels, cross.T], axis=1))
        variance = kernel(query)[0, 0] - (cross @ solved[:, -1])[0]
        moments.append((cross @ solved[:, :-1], variance))
    (mean, v), (mean_s, v_s) = moments
    spread = y.shape[1] * (np.log(v_s / v) - 1 + v / v_s)
    return 0.5 * (spread + np.square(mean - mean_s).sum() / v_s)


def exact_auc(n: int, timed: int) -> dict:
    """The AUC of all records by one trapezoidal rule, against adaptive quadrature one by one."""
    rng = np.random.default_rng(0)
    excess, shift = np.exp(rng.normal(-1, 1, (n, 1))), np.exp(rng.normal(-1, 1, (n, 1)))
    started = time.perf_counter()
    ours = lood.Contrast(excess, shift, np.zeros(n), 2).auc()
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    reference = []
    for e, squared in zip(excess[:timed, 0], shift[:timed, 0], strict=True):
        lam = squared / e**2

        def caught(u: float, e: float = e, lam: float = lam) -> float:
            return ncx2.cdf(ncx2.ppf(u, 2, (1 + e) * lam) * (1 + e), 2, lam)

        reference.append(quad(caught, 0, 1)[0])
    one_by_one = (time.perf_counter() - started) / timed * n
    difference = np.abs(ours[:timed] / reference - 1).max()
    note = f"reference: integral over non-central chi-squared levels, {timed} of them timed"
    return _row("exact AUC", f"{n:,} pairs of posteriors", seconds, one_by_one, difference, note)


def gradient(n: int) -> dict:
    """The gradient in a query by automatic differentiation, against differences."""
    rng = np.random.default_rng(0)
    x, y = rng.random((n, _PIXELS)), rng.standard_normal(n)
    comparison = lood.compare(nngp.fully_connected(3, "gelu"), x[1:], y[1:], (x[0], y[0]), _NOISE)
    query, h, timed = x[1] / 2 + x[2] / 2, 1e-5, 50
    lood.gradient(comparison, query)
    started = time.perf_counter()
    slope = lood.gradient(comparison, query)[1]
    ours = time.perf_counter() - started
    started = time.perf_counter()
    steps = h * np.eye(_PIXELS)[:timed]
    different = [
        (comparison.measure(query + s) - comparison.measure(query - s)) / (2 * h) for s in steps
    ]
    seconds = (time.perf_counter() - started) / timed * _PIXELS
    difference = np.abs(slope[:timed] - different).max() / np.abs(slope[:timed]).max()
    note = f"compiled before; reference: {timed} of {_PIXELS:,} central differences timed"
    return _row("gradient of KL in the query", f"{n} records", ours, seconds, difference, note)


def starts_at_once(n_starts: int) -> dict:
    """Several optimisations in one program, against one after another."""
    digits = data.load("digits")
    x, y = digits.x[:500], np.eye(10)[digits.y[:500]] - 0.1
    comparison = lood.compare(nngp.fully_connected(2), x[1:], y[1:], (x[0], y[0]), 0.1)
    start = np.random.default_rng(0).random((n_starts, *x.shape[1:]))
    run = {"unit": 1 / 255, "steps": 200, "patience": 100, "progress": False}
    for rows in (start, start[:1]):
        lood.maximise(comparison, rows, **run)
    started = time.perf_counter()
    together = lood.maximise(comparison, start, **run).value
    ours = time.perf_counter() - started
    started = time.perf_counter()
    alone = [lood.maximise(comparison, start[[i]], **run).value[0] for i in range(n_starts)]
    seconds = time.perf_counter() - started
    difference = np.abs(together / alone - 1).max()
    note = "200 steps of Adam, digits, 500 records, depth 2; both compiled before"
    return _row("reconstructions at once", f"{n_starts} starts", ours, seconds, difference, note)


def _row(what, size, ours, reference, difference, note, memory=None) -> dict:
    return {
        "what": what,
        "size": size,
        "ours (s)": ours,
        "reference (s)": reference,
        "ratio": None if reference is None else reference / ours,
        "largest difference": difference,
        "memory (GB)": memory,
        "note": note,
    }
