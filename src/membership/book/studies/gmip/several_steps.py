"""Several steps on one batch: the sum of log p and joint tests, simulated and real (Control 4)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from membership import evidence, metrics, privacy
from membership.arrays import FloatArray
from membership.attacks.glir import glir_from_distance, glir_log_ratio, glir_whitened
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.audit import QUERIES, Audits, area_row
from membership.book.studies.gmip.experiment import Task, audited, origin, task_of
from membership.book.studies.gmip.settings import LEAST_BACKGROUND, Settings
from membership.book.studies.gmip.setups import (
    ONE,
    SIMULATED,
    computed,
    observed,
    repeats,
    steps_described,
)
from membership.curvature import gradient_moments, whitening

ATTACKS = SUM, JOINT, RATIO = "sum of log p", "joint test", "joint likelihood ratio"
"""Of several steps on one batch."""
STEPS = (1, 2, 5)
MORE = f"{RATIO} less that of one step"
CORRELATIONS = (0.0, 0.9, 0.99)


def joint(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the AUC of several steps' joint test on real gradients, by background."""
    task = task_of(name, settings)
    of_models = [outcomes(task, settings, model) for model in range(settings.audit_models)]
    areas = np.array([areas for areas, _ in of_models])
    return evidence.dataset(
        "measured",
        {"auc": (("model", "background", "steps", "attack"), areas)},
        {"steps": list(STEPS), "attack": list(ATTACKS)},
        **origin(task, settings, max(STEPS)),
        backgrounds=of_models[0][1],
        sizes=audited(settings),
    )


def outcomes(task: Task, settings: Settings, model: int) -> tuple[FloatArray, list[int]]:
    """AUC in percent, (backgrounds, steps, attacks), and how many records each background has.

    NaN where a covariance of all steps would have fewer than 1.5 records a dimension.
    """
    s = experiment.split(task, settings, model, n_background=task.recipe.n_records)
    n, sizes = len(s.members), [min(settings.n_background, len(s.background)), len(s.background)]
    before = experiment.trajectory(task, s.members, max(STEPS), settings.seed + model)
    member = np.arange(len(s.queries)) < n
    areas = np.full((len(sizes), len(STEPS), len(ATTACKS)), np.nan)
    for i, size in enumerate(sizes):
        enough = [t for t in STEPS if size >= LEAST_BACKGROUND * t * task.recipe.rank]
        weights = before[: max(enough)]
        back, queries = (
            _gradients(task, weights, rows) for rows in (s.background[:size], s.queries)
        )
        p_values = [_p_values(_forms(b, q, n), n) for b, q in zip(back, queries, strict=True)]
        for j, steps in enumerate(enough):
            forms = _forms(_differences(back[:steps]), _differences(queries[:steps]), n)
            scores = (
                np.sum(p_values[:steps], axis=0),
                _p_values(forms, n),
                glir_log_ratio(*forms[:2], n, forms[2]),
            )
            areas[i, j] = [100 * metrics.auc(score, member) for score in scores]
    return areas, sizes


def _p_values(forms: tuple[FloatArray, FloatArray, int], n: int) -> FloatArray:
    distance, susceptibility, rank = forms
    return glir_from_distance(distance, susceptibility, n, rank)


def _gradients(task: Task, before: list[FloatArray], rows: np.ndarray) -> FloatArray:
    """(steps, records, rank): the last class's entries are what those of the others lack to 0."""
    width = task.recipe.width + 1
    return np.stack([experiment.gradients(task, weight, rows)[:, :-width] for weight in before])


def _differences(gradients: FloatArray) -> FloatArray:
    """All steps of a record in a row, later ones as differences of rising order.

    The test is the same in any coordinates. Gradients of neighbouring steps are nearly equal, so
    that their own covariance would have no inverse to working precision.
    """
    return np.concatenate(
        [np.diff(gradients[: k + 1], k, axis=0)[0] for k in range(len(gradients))], axis=1
    )


def _forms(
    background: FloatArray, queries: FloatArray, n: int
) -> tuple[FloatArray, FloatArray, int]:
    """D^2 and K of the asked, of whom the first n are members, and the rank."""
    centre, scale = background.mean(axis=0), background.std(axis=0)
    varies = scale > 0
    covariance = gradient_moments((background - centre)[:, varies] / scale[varies]).covariance
    scaled = (queries - centre)[:, varies] / scale[varies]
    try:
        root = cholesky(covariance, lower=True)
        rotated = solve_triangular(root, scaled.T, lower=True).T
    except LinAlgError:  # of lower rank
        rotated = scaled @ whitening(covariance)
    return *experiment.two_numbers(rotated, n), rotated.shape[1]


def on_data(audits: Sequence[xr.Dataset]) -> list[dict[str, Any]]:
    """AUC of one step, and of several by their sum and jointly, on either background."""
    rows = []
    for audit in audits:
        # Both are the same where no more records are left.
        for i, size in enumerate(dict.fromkeys(audit.attrs["backgrounds"])):
            for j, steps in enumerate(audit["steps"].values.tolist()):
                case = {"data": audit.attrs["set"], "case": on_background(steps, size)}
                for k, attack in enumerate(ATTACKS):
                    # Of one step the sum is GLiR, and so is the joint test.
                    if steps == 1 and attack == JOINT:
                        continue
                    values = audit["auc"].values[:, i, j, k]
                    if np.isnan(values).any():
                        continue
                    numbers = metrics.summary(values, lowest=0.0, highest=100.0)
                    rows.append({**case, "attack": attack, "metric": "auc(%)", **numbers})
                values = audit["auc"].values[:, i, j, -1] - audit["auc"].values[:, i, 0, -1]
                if steps > 1 and not np.isnan(values).any():
                    gain = {"attack": MORE, "metric": "auc(%)", **metrics.summary(values)}
                    rows.append({**case, **gain})
    return rows


def simulated(settings: Settings) -> list[dict[str, Any]]:
    """Five steps on one batch: the sum of log p against the joint test."""
    d, n, steps = 20, 60, 5
    rounds = QUERIES // n + 1
    member = np.tile(np.arange(2 * n) < n, rounds)
    mu = privacy.mip_mu_step(d, n, d)
    rows = []
    for stream, correlation in enumerate(CORRELATIONS):
        rng = np.random.default_rng([settings.seed, 6, stream])
        across = np.full((steps, steps), correlation) + (1 - correlation) * np.eye(steps)
        root, joint = np.linalg.cholesky(across).T, whitening(np.kron(across, np.eye(d)))
        scores: dict[str, list] = {ONE: [], SUM: [], JOINT: []}
        for _ in range(settings.simulated_repeats):
            played: dict[str, list] = {attack: [] for attack in scores}
            for _ in range(rounds):
                x = (rng.standard_normal((2 * n, d, steps)) @ root).transpose(2, 0, 1)
                of_steps = [glir_whitened(step[:n].mean(axis=0), step, n) for step in x]
                together = x.transpose(1, 0, 2).reshape(2 * n, -1) @ joint
                played[ONE].append(of_steps[0])
                played[SUM].append(np.sum(of_steps, axis=0))
                played[JOINT].append(glir_whitened(together[:n].mean(axis=0), together, n))
            for attack, parts in played.items():
                scores[attack].append(np.concatenate(parts))
        key = {"data": SIMULATED, "case": f"correlation {correlation:g}"}
        for attack, of_repeats in scores.items():
            rows.append(area_row({**key, "attack": attack}, of_repeats, member))
        full = 100 * privacy.gaussian_auc(privacy.composed_mu(mu, steps))
        rows.append({**key, "attack": "bound", "metric": "auc(%)", **metrics.exactly(full)})
    return rows


def control_4(audits: Audits, settings: Settings) -> pd.DataFrame:
    """Several steps on one batch, simulated and on real gradients."""
    sizes = repeats(settings)
    attrs = observed(audits, sizes=sizes) if audits else computed(sizes=sizes)
    return tidy([*simulated(settings), *on_data(audits)], attrs)


def control_4_said(table: pd.DataFrame) -> str:
    """The sum and the joint test, simulated at the highest correlation and on the first data."""
    value = {(r.data, r.case, r.attack): r.value for r in table.itertuples()}
    case = table[table["data"] == SIMULATED]["case"].iloc[-1]
    area = {key[2]: value[key] for key in value if key[1] == case}
    simulated = (
        f"Simulated, {case}: AUC {area[ONE]:.1f}% after one step, "
        f"{area[SUM]:.1f}% with summed log p-values of five, "
        f"{area[JOINT]:.1f}% with the joint test."
    )
    for data, case, attack in value:
        if attack == RATIO and has_steps(case, 5):
            summed, test = (value[data, case, key] for key in (SUM, JOINT))
            return (
                f"{simulated} {data}, {case}: {summed:.1f}% with the sum, {test:.1f}% with the "
                f"joint test, {value[data, case, attack]:.1f}% with the joint likelihood ratio."
            )
    return simulated


def on_background(steps: int, records: int) -> str:
    """The case of Control 4 that is of so many steps and background records."""
    return f"{steps_described(steps)}, {records:,} background records"


def has_steps(case: str, steps: int) -> bool:
    """Whether a case of Control 4 is of so many steps on real data."""
    return case.partition(", ")[0] == steps_described(steps)
