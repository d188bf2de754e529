"""Audits on simulated gradients: the controls that need a known truth."""

from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, privacy
from membership.arrays import FloatArray
from membership.attacks.glir import glir, glir_whitened
from membership.curvature import gradient_moments, whitening
from membership.exhibits.tidy import tidy
from membership.studies.gmip import curves
from membership.studies.gmip.origin import computed
from membership.studies.gmip.panels import SIZES, normal, one_round

QUERIES = 2000
NOMINAL = (0.05, 0.01, 0.001)
BACKGROUNDS = (250, 400, 800, 1600, 4000, 16_000)
CORRELATIONS = (0.0, 0.9, 0.99)


def calibration(settings: Any) -> pd.DataFrame:
    """Whether p-values are p-values: with n D^2, and with the released code's (n - 1) D^2."""
    d, n = SIZES["CIFAR-10"]
    rng = np.random.default_rng([settings.seed, 5])
    found: dict[str, list[FloatArray]] = {"paper": [], "authors": []}
    member = np.tile(np.arange(2 * n) < n, QUERIES // n + 1)
    for _ in range(settings.simulated_repeats):
        rounds = [one_round(rng, d, n, normal) for _ in range(QUERIES // n + 1)]
        for convention, scores in found.items():
            scores.append(
                np.concatenate(
                    [glir(m, x, np.zeros(d), np.eye(d), n, convention) for m, x in rounds]
                )
            )
    rows = []
    for convention, scores in found.items():
        for nominal in NOMINAL:
            rates = [100 * (np.exp(-score[~member]) < nominal).mean() for score in scores]
            key = {"convention": convention, "nominal": round(100 * nominal, 6), "metric": "FPR(%)"}
            rows.append({**key, **metrics.summary(rates)})
        rows.append(curves.area({"convention": convention, "nominal": 0.0}, scores, member))
    return tidy(
        rows, _origin(settings, note="d = 650, n = 500, covariance I, which both invert rightly.")
    )


def five_steps(settings: Any) -> pd.DataFrame:
    """Five steps on one batch: the sum of log p against the joint test (Control 4)."""
    d, n, steps = 20, 60, 5
    rounds = QUERIES // n + 1
    member = np.tile(np.arange(2 * n) < n, rounds)
    mu = privacy.mip_mu_step(d, n, d)
    rows = []
    for stream, correlation in enumerate(CORRELATIONS):
        rng = np.random.default_rng([settings.seed, 6, stream])
        across = np.full((steps, steps), correlation) + (1 - correlation) * np.eye(steps)
        root, joint = np.linalg.cholesky(across).T, whitening(np.kron(across, np.eye(d)))
        scores: dict[str, list] = {"one step": [], "sum of log p": [], "joint test": []}
        for _ in range(settings.simulated_repeats):
            played: dict[str, list] = {attack: [] for attack in scores}
            for _ in range(rounds):
                x = (rng.standard_normal((2 * n, d, steps)) @ root).transpose(2, 0, 1)
                each = [glir_whitened(step[:n].mean(axis=0), step, n) for step in x]
                together = x.transpose(1, 0, 2).reshape(2 * n, -1) @ joint
                played["one step"].append(each[0])
                played["sum of log p"].append(np.sum(each, axis=0))
                played["joint test"].append(glir_whitened(together[:n].mean(axis=0), together, n))
            for attack, parts in played.items():
                scores[attack].append(np.concatenate(parts))
        for attack, repeats in scores.items():
            rows.append(
                curves.area({"correlation": correlation, "attack": attack}, repeats, member)
            )
        full = 100 * privacy.gaussian_auc(privacy.composed_mu(mu, steps))
        key = {"correlation": correlation, "attack": "bound", "metric": "auc(%)"}
        rows.append({**key, **metrics.exactly(full)})
    return tidy(rows, _origin(settings))


def background(settings: Any) -> pd.DataFrame:
    """GLiR with an estimated covariance, by background size and estimator (Control 5)."""
    d, n = 200, 154
    scale = np.sqrt(1 / np.arange(1, d + 1))
    member = np.tile(np.arange(2 * n) < n, QUERIES // n + 1)
    scores: dict[tuple[int, str], list[FloatArray]] = {}
    for repeat in range(settings.simulated_repeats):
        rng = np.random.default_rng([settings.seed, 7, repeat])
        rounds = [one_round(rng, d, n, normal) for _ in range(QUERIES // n + 1)]
        everything = rng.standard_normal((max(BACKGROUNDS), d)) * scale
        truth = np.concatenate([glir_whitened(m, x, n) for m, x in rounds])
        scores.setdefault((0, "known"), []).append(truth)
        for size in BACKGROUNDS:
            for estimator, shrinkage in (("sample", "none"), ("Ledoit-Wolf", "ledoit-wolf")):
                moments = gradient_moments(everything[:size], shrinkage)
                root = whitening(moments.covariance)
                found = [
                    glir_whitened(
                        (m * scale - moments.mean) @ root, (x * scale - moments.mean) @ root, n
                    )
                    for m, x in rounds
                ]
                scores.setdefault((size, estimator), []).append(np.concatenate(found))
    rows = []
    for (size, estimator), repeats in scores.items():
        key = {"n_background": size, "estimator": estimator}
        rows.append(curves.area(key, repeats, member))
        rates = [100 * (np.exp(-score[~member]) < 0.05).mean() for score in repeats]
        rows.append({**key, "metric": "FPR at 5%(%)", **metrics.summary(rates)})
    return tidy(rows, _origin(settings))


def susceptible_records(settings: Any) -> pd.DataFrame:
    """What records with a large K lose, and the attack that targets them (part of Control 6)."""
    d, n = SIZES["CIFAR-10"]
    spread = np.sqrt(np.log(2.0))
    rng = np.random.default_rng([settings.seed, 8])
    k = d * np.exp(spread * rng.standard_normal(4000) - spread**2 / 2)
    levels = np.array([privacy.mip_mu_step(d, n, value) for value in k])
    rows = []
    for fpr in curves.SUMMARY_RATES:
        for attack, tpr in (
            ("all records at K = d", privacy.gaussian_tpr(fpr, privacy.mip_mu_step(d, n, d))),
            ("one FPR for all (GLiR)", 1 - privacy.constant_rate_tradeoff(fpr, levels)),
            ("optimal composition", 1 - privacy.gaussian_mixture_tradeoff(fpr, levels)),
        ):
            key = {"attack": attack, "fpr": fpr, "metric": "TPR(%)"}
            rows.append({**key, **metrics.exactly(100 * float(tpr))})
    return tidy(rows, computed())


def _origin(settings: Any, **more: Any) -> dict[str, Any]:
    """The attributes of a table of simulated repeats."""
    return computed(sizes={"Simulated repeats": str(settings.simulated_repeats)}, **more)
