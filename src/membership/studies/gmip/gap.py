"""Where the gap between the predicted AUC and GLiR's on real gradients comes from."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy.linalg import solve_triangular

from membership import metrics, privacy
from membership.arrays import FloatArray
from membership.attacks.glir import glir_whitened
from membership.exhibits.tidy import tidy
from membership.studies.gmip import gradients
from membership.studies.gmip.law_of_k import k_over_rank
from membership.studies.gmip.origin import observed, recipe_of

PREDICTED, FOUND = "predicted at K = d, d parameters", "found, GLiR"
RANK, SPREAD = "rank in the place of d", "each record's K in the place of its mean"
DEPENDENCE, BACKGROUND = "steps that are not independent", "moments estimated, if normal"
REST = "the rest"
_STREAM = 16


def decomposition(audits: Sequence[xr.Dataset], settings: Any) -> Any:
    """From the paper's predicted AUC to GLiR's, part by part, after one step and after all.

    The first parts are formulas. What a background of this size costs is simulated, with normal
    gradients of this rank; what is left is the rest. The parts add up.
    """
    rows = []
    for stream, audit in enumerate(audits):
        cost = _cost(audit, settings, stream)
        for steps in (1, audit.sizes["step"]):
            text = "one step" if steps == 1 else f"{steps} steps"
            key = {"data": audit.attrs["set"], "steps": text}
            for part, values in _parts(audit, cost, steps):
                rows.append({**key, "part": part, **metrics.summary(100 * values)})
    note = "AUC in percent, and its change in points. Intervals over models."
    return tidy(rows, observed(audits, note=note))


def _parts(audit: xr.Dataset, cost: FloatArray, steps: int) -> Iterator[tuple[str, FloatArray]]:
    """Each part's number for every model."""
    n, d = audit.attrs["batch_size"], recipe_of(audit).dimension
    rank = int(gradients.ranks(audit)[0, 0])
    member, scores = gradients.members(audit), gradients.scores(audit)

    def level(dimension: int) -> float:
        mu = privacy.composed_mu(privacy.mip_mu_step(dimension, n, dimension), steps)
        return privacy.gaussian_auc(mu)

    expected, single = _expected(audit, n, rank, steps), _expected(audit, n, rank, 1)
    one = _areas(scores[:, 0], member)
    found = _areas(scores[:, :steps].sum(axis=1), member)
    yield PREDICTED, np.full(len(scores), level(d))
    yield RANK, np.full(len(scores), level(rank) - level(d))
    yield SPREAD, expected - level(rank)
    if steps > 1:
        yield DEPENDENCE, found - one - (expected - single)
    yield BACKGROUND, cost
    yield REST, one - single - cost
    yield FOUND, found


def _areas(scores: FloatArray, member: FloatArray) -> FloatArray:
    return np.array([metrics.auc(score, member) for score in scores])


def _expected(audit: xr.Dataset, n: int, rank: int, steps: int) -> FloatArray:
    """The AUC that the theorem gives over each model's records, of independent steps."""
    return np.array(
        [np.mean([_area(rank, n, k, steps) for k in each]) for each in k_over_rank(audit)]
    )


def _area(rank: int, n: int, share: float, steps: int) -> float:
    mu = privacy.mip_mu_step(rank, n, share * rank)
    return privacy.gaussian_auc(privacy.composed_mu(mu, steps))


def _cost(audit: xr.Dataset, settings: Any, stream: int) -> FloatArray:
    """What estimating the moments on as many normal records changes in the AUC, once a model."""
    n, rank = audit.attrs["batch_size"], int(gradients.ranks(audit)[0, 0])
    size = int(re.sub(r"\D", "", audit.attrs["sizes"]["Background records"].split("(")[0]))
    member = np.arange(2 * n) < n
    changes = []
    for model in range(audit.sizes["model"]):
        rng = np.random.default_rng([settings.seed, _STREAM, stream, model])
        x = rng.standard_normal((2 * n, rank))
        centre = rng.standard_normal(rank) / np.sqrt(size)
        root = _sample_root(rng, rank, size)
        rotated = solve_triangular(root, (x - centre).T, lower=True).T
        areas = [
            metrics.auc(glir_whitened(each[:n].mean(axis=0), each, n), member)
            for each in (x, rotated)
        ]
        changes.append(areas[1] - areas[0])
    return np.array(changes)


def _sample_root(rng: np.random.Generator, rank: int, size: int) -> FloatArray:
    """A triangular root of the covariance of normal records, by Bartlett's decomposition."""
    root = np.tril(rng.standard_normal((rank, rank)), -1)
    np.fill_diagonal(root, np.sqrt(rng.chisquare(size - 1 - np.arange(rank))))
    return root / np.sqrt(size - 1)
