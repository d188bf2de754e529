"""Is the Laplace standard deviation the one over retraining, and the hinge Gaussian?

Controls 4, 5 and 7.
"""

import numpy as np
import pandas as pd
from scipy import special, stats

from membership import signals
from membership.attacks.gaussian_hinge import runner_up
from membership.metrics.arrays import FloatArray
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import Evidence, attrs
from membership.studies.bmia.summaries import auc, spread

SHOWN = 1000
SAMPLES = 1000
QUERIES = 500
SPLITS = 35
RESAMPLES = 200


def control_4(some: list[Evidence]) -> pd.DataFrame:
    """Both standard deviations of the hinge, record by record (Control 4).

    No reference is trained on any query, so that their spread is that of retraining a model
    without the record, on another half of the population. The Laplace one is that of the first
    reference.

    Parameters
    ----------
    some : list of Evidence

    Returns
    -------
    DataFrame
        Columns dataset, laplace, retraining: at most 1,000 queries a data set.
    """
    parts = []
    for evidence in some:
        laplace = laplace_moments(evidence, evidence.n_targets)[1][:SHOWN]
        over = np.std(_retrained(evidence), axis=0, ddof=1)[:SHOWN]
        found = {"dataset": evidence.world.label, "laplace": laplace, "retraining": over}
        parts.append(pd.DataFrame(found))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = attrs([each.world for each in some])
    return table


def control_5(some: list[Evidence]) -> pd.DataFrame:
    """How the two standard deviations are related (Control 5).

    The one over retraining is estimated from few models. Its reliability is the correlation of
    the logarithms between two halves of the models, stepped up to all of them (Spearman and
    Brown) and averaged over splits; dividing by its square root gives the correlation that a
    noiseless estimate would have. Where the reliability is not above zero, or might not be, that
    correlation is not identified: it is left out, and the note says so.

    Parameters
    ----------
    some : list of Evidence

    Returns
    -------
    DataFrame
        Columns dataset, quantity, value, low, high, n_repeats (posteriors). The interval of
        the reliability is over queries; that of the corrected correlation does not cover it.
    """
    listed, unknown = [], []
    for evidence in some:
        hinge = _retrained(evidence)
        log_over = _log_sd(hinge)
        reliability, low, high = _reliability(hinge)
        if low <= 0:
            unknown.append(evidence.world.label)
        found: dict[str, list[float]] = {}
        for t in range(evidence.n_targets):
            reference = evidence.references(t, 1)[0]
            mean, sd = laplace_moments(evidence, reference)
            raw = float(np.corrcoef(np.log(sd), log_over)[0, 1])
            z = ((evidence.signals.hinge[t] - mean) / sd)[~evidence.member[t]]
            for name, value in (
                ("correlation of the logarithms", raw),
                ("corrected for noise", raw / np.sqrt(reliability) if low > 0 else np.nan),
                ("retraining / Laplace, geometric mean", np.exp((log_over - np.log(sd)).mean())),
                ("Laplace sd and score, rank correlation", _rank(sd, mean)),
                ("retraining sd and score, rank correlation", _rank(log_over, hinge.mean(axis=0))),
                ("mean z of non-members", z.mean()),
                ("sd of z of non-members", z.std(ddof=1)),
            ):
                found.setdefault(name, []).append(float(value))
        key = {"dataset": evidence.world.label}
        exact = {"value": reliability, "low": low, "high": high, "n_repeats": 1}
        listed.append({**key, "quantity": "reliability of the sd over retraining", **exact})
        listed += [
            {**key, "quantity": name, **spread(v)}
            for name, v in found.items()
            if not np.isnan(v).any()
        ]
    table = pd.DataFrame(listed)
    note = f"Corrected correlation not identified: {', '.join(unknown)}." if unknown else ""
    table.attrs = attrs([each.world for each in some], note=note)
    return table


def control_7(some: list[Evidence]) -> pd.DataFrame:
    """How far the hinge is from Gaussian under Gaussian logits (Control 7).

    Parameters
    ----------
    some : list of Evidence

    Returns
    -------
    DataFrame
        Columns dataset, quantity, value, low, high, n_repeats (references): of 500 queries, with
        1,000 draws each; the AUCs are of all queries.
    """
    listed = []
    for evidence in some:
        found: dict[str, list[float]] = {}
        for t in range(evidence.n_targets):
            for name, value in _shape(evidence, int(evidence.references(t, 1)[0])).items():
                found.setdefault(name, []).append(value)
        found["AUC (%) with draws"] = auc(evidence.each(evidence.bmia))
        closed = evidence.each(lambda t, e=evidence: scores.closed_form(e, t))
        found["AUC (%) in closed form"] = auc(closed)
        key = {"dataset": evidence.world.label}
        listed += [{**key, "quantity": name, **spread(v)} for name, v in found.items()]
    table = pd.DataFrame(listed)
    table.attrs = attrs([each.world for each in some])
    return table


def laplace_moments(evidence: Evidence, model: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the hinge on every query under a reference's posterior."""
    drawn = evidence.draws(model, evidence.world.settings.n_samples)
    return drawn.mean(axis=0), drawn.std(axis=0, ddof=1)


def _shape(evidence: Evidence, model: int) -> dict[str, float]:
    rows = np.arange(min(QUERIES, len(evidence.y)))
    layer, y = evidence.layer(model, "queries"), evidence.y[rows]
    logits = layer.logits[rows]
    rival = runner_up(logits, y)
    seed = 1_000_000 * evidence.world.settings.seed
    drawn_logits = evidence.posterior(model).sample(layer.features[rows], SAMPLES, seed, "lln")
    drawn = signals.hinge(drawn_logits, None, y)
    frozen = drawn_logits[:, rows, y] - drawn_logits[:, rows, rival]
    frozen_mean = logits[rows, y] - logits[rows, rival]
    variance = evidence.posterior(model).difference_variance(layer.features[rows], y, rival)
    frozen_sd = np.sqrt(variance)
    return {
        "P(another class overtakes), mean": float((frozen > drawn).mean()),
        "|skewness|, mean": float(np.abs(stats.skew(drawn, axis=0)).mean()),
        "excess kurtosis, 99% quantile": float(np.quantile(stats.kurtosis(drawn, axis=0), 0.99)),
        "frozen mean less mean, in sd": float(
            ((frozen_mean - drawn.mean(axis=0)) / drawn.std(axis=0, ddof=1)).mean()
        ),
        "frozen sd / sd, mean": float((frozen_sd / drawn.std(axis=0, ddof=1)).mean()),
    }


def _retrained(evidence: Evidence) -> FloatArray:
    """Hinges of all references, (references, queries)."""
    return evidence.signals.hinge[evidence.n_targets :]


def _log_sd(hinge: FloatArray) -> FloatArray:
    """Log standard deviations; of n normal values they are low by a known amount on average."""
    half = (len(hinge) - 1) / 2
    bias = (special.digamma(half) - np.log(half)) / 2
    return np.log(np.std(hinge, axis=0, ddof=1)) - bias


def _reliability(hinge: FloatArray) -> tuple[float, float, float]:
    """Of the log standard deviation of all models, with a 95% interval over the queries."""
    rng, half = np.random.default_rng(0), len(hinge) // 2
    orders = [rng.permutation(len(hinge)) for _ in range(SPLITS)]
    one = np.stack([_log_sd(hinge[order[:half]]) for order in orders])
    two = np.stack([_log_sd(hinge[order[half : 2 * half]]) for order in orders])

    def stepped_up(queries: np.ndarray) -> float:
        a, b = (stats.zscore(part[:, queries], axis=1) for part in (one, two))
        r = float((a * b).mean())
        return 2 * r / (1 + r)

    n = hinge.shape[1]
    again = [stepped_up(rng.integers(n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.quantile(again, (0.025, 0.975))
    return stepped_up(np.arange(n)), float(low), float(high)


def _rank(a: FloatArray, b: FloatArray) -> float:
    return float(stats.spearmanr(a, b).statistic)
