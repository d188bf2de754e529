"""What scores prove: the report of an audit as plain values, and as files."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import membership
from membership import metrics, paths, privacy
from membership.audit import page, warnings
from membership.audit.reading import Scored
from membership.errors import InputError
from membership.metrics import auc_interval, tpr_interval

RATES = (0.001, 0.01, 0.1)
PRIORS = (0.5, 0.1, 0.01)
MOST_EXPOSED = 20
LEAST_IN_GROUP = 10
CARRIED = 10
"""False positives that a rate must let one expect before its TPR is called measured."""


def audit(scored: Scored, *, level: float = 0.95, delta: float = 0.0, seed: int = 0) -> dict:
    """Say what an attack's scores prove of a model.

    Parameters
    ----------
    scored : Scored
        From `read_scores`, or made of arrays.
    level : float
        Confidence of every interval and bound, in (0, 1).
    delta : float
        Of (epsilon, delta)-differential privacy.
    seed : int
        Of the halves that thresholds are chosen and judged on.

    Returns
    -------
    dict
        Plain JSON values. Rates are fractions in [0, 1]: ``auc`` {value, low, high};
        ``tpr_at_fpr`` [{fpr, value, low, high, expected_false_positives, measured}];
        ``positive_predictive_value`` [{fpr, prior, value, low, high}];
        ``epsilon_lower_bound`` {value, level, delta}; ``mu_lower_bound`` {value, level};
        ``groups`` and ``most_exposed``, lists; ``warnings``, list of str.

    Raises
    ------
    InputError
        `level` or `delta` is out of range, or there are too few records.
    """
    score, member = scored.score, scored.member
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a confidence between 0 and 1, both excluded")
    rates = [_rate(score, member, fpr, level) for fpr in RATES]
    chosen = {"level": level, "seed": seed}
    return {
        "version": membership.__version__,
        "level": level,
        "records": {"members": int(member.sum()), "non_members": int((~member).sum())},
        "auc": _number(metrics.auc(score, member), auc_interval(score, member, level)),
        "tpr_at_fpr": rates,
        "positive_predictive_value": [_value(rate, p) for rate in rates for p in PRIORS],
        "epsilon_lower_bound": {
            "value": privacy.epsilon_lower_bound(score, member, delta=delta, **chosen),
            "level": level,
            "delta": delta,
        },
        "mu_lower_bound": {
            "value": privacy.mu_lower_bound(score, member, **chosen),
            "level": level,
        },
        "groups": _groups(scored, level),
        "most_exposed": _most_exposed(scored),
        "warnings": warnings.of_scores(scored, level),
    }


def write(report: dict, scored: Scored | None, folder: Path | str, title: str) -> list[Path]:
    """Write a report as ``audit.html``, which needs nothing beside it, and ``audit.json``.

    Parameters
    ----------
    report : dict
        From `audit` or `compare`.
    scored : Scored or None
        What it is of, for the ROC curve; None where the report is a comparison.
    folder : Path or str
        Made where it is missing.
    title : str
        What was audited.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError, RunError
        The folder cannot be written to, or the disk is full.
    """
    folder = Path(folder)
    paths.require_writable(folder)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    files = {"audit.html": page.html(report, scored, title), "audit.json": text}
    for name, content in files.items():
        # A file's name need not be UTF-8.
        paths.atomic_write(folder / name, content.encode(errors="replace"))
    return [folder / name for name in files]


def _rate(score: np.ndarray, member: np.ndarray, fpr: float, level: float) -> dict[str, Any]:
    expected = fpr * float((~member).sum())
    return {
        "fpr": fpr,
        **_number(metrics.tpr_at_fpr(score, member, fpr), tpr_interval(score, member, fpr, level)),
        "expected_false_positives": expected,
        "measured": expected >= CARRIED,
    }


def _value(rate: dict[str, Any], prior: float) -> dict[str, float]:
    """The share of members among those accused, where a share `prior` of all are members."""
    found = {
        end: rate[end] * prior / (rate[end] * prior + rate["fpr"] * (1 - prior))
        for end in ("value", "low", "high")
    }
    return {"fpr": rate["fpr"], "prior": prior, **found}


def _groups(scored: Scored, level: float) -> list[dict[str, Any]]:
    """Each group's own AUC, and its rates at the threshold of 1% false positives over all."""
    if scored.group is None:
        return []
    threshold = np.quantile(scored.score[~scored.member], 0.99, method="higher")
    names, place, sizes = np.unique(scored.group, return_inverse=True, return_counts=True)
    rows_of = np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1])
    found = []
    for name, rows in zip(names, rows_of, strict=True):
        score, member = scored.score[rows], scored.member[rows]
        counts = {"members": int(member.sum()), "non_members": int((~member).sum())}
        entry: dict[str, Any] = {"group": str(name), **counts, "auc": None}
        if min(counts.values()) >= LEAST_IN_GROUP:
            entry["auc"] = _number(metrics.auc(score, member), auc_interval(score, member, level))
        for rate, side in (("tpr", member), ("fpr", ~member)):
            entry[rate] = float((score[side] > threshold).mean()) if side.any() else None
        found.append(entry)
    return found


def _most_exposed(scored: Scored) -> list[dict[str, Any]]:
    """The members with the highest scores, each with the share of non-members at least as high."""
    rows = np.flatnonzero(scored.member)
    rows = rows[np.argsort(-scored.score[rows], kind="stable")][:MOST_EXPOSED]
    others = np.sort(scored.score[~scored.member])
    above = 1 - np.searchsorted(others, scored.score[rows]) / others.size
    return [
        {
            "record": str(scored.record[row]),
            "score": float(scored.score[row]),
            "fpr": float(share),
            **({} if scored.group is None else {"group": str(scored.group[row])}),
        }
        for row, share in zip(rows, above, strict=True)
    ]


def _number(value: float, interval: tuple[float, float]) -> dict[str, float]:
    return {"value": float(value), "low": interval[0], "high": interval[1]}
