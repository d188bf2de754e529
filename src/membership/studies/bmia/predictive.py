"""Figures 3, 5, 6 and 7: how the reference's predictive distribution is computed."""

from typing import Any

import pandas as pd

from membership.attacks.bmia import bmia_sampled
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import MARGINAL, Evidence, attrs
from membership.studies.bmia.summaries import RATES, Pairs, rate_name, roc, spread, tpr

SAMPLES = (10, 30, 100, 300, 1000)
STRUCTURES = {"full": "full", "kron": "KFAC", "diag": "diagonal"}
FULL_PARAMETERS = 6000
"""With more, the full posterior takes minutes and gigabytes a model and is left out."""


def figure_3(some: list[Evidence], settings: Any) -> pd.DataFrame:
    """True-positive rates by the number of samples (Figures 3a, 3b); for 3c see `times`.

    Parameters
    ----------
    some : list of Evidence
    settings : Settings
        Uses ``n_samples``, the largest number tried.

    Returns
    -------
    DataFrame
        Columns panel, series (structure, or "closed form"), n_samples, metric, value, low, high,
        n_repeats.
    """
    sizes = [n for n in SAMPLES if n < settings.n_samples] + [settings.n_samples]
    listed = []
    for evidence in some:
        for structure in ("kron", "diag"):
            series = STRUCTURES[structure]
            scored = _by_size(evidence, structure, sizes)
            for n, pairs in scored.items():
                listed += _rates(evidence, series, n, pairs)
        closed = evidence.each(lambda t, e=evidence: scores.closed_form(e, t))
        for n in sizes:
            listed += _rates(evidence, "KFAC, closed form", n, closed)
    table = pd.DataFrame(listed)
    table.attrs = attrs([each.world for each in some])
    return table


def figure_5(some: list[Evidence]) -> pd.DataFrame:
    """ROC curves with the full, the Kronecker-factored and the diagonal posterior (Figure 5).

    Parameters
    ----------
    some : list of Evidence

    Returns
    -------
    DataFrame
        Columns panel, series, fpr, tpr, low, high, n_repeats. The plain difference to the same
        reference is drawn beside them.
    """
    parts, left_out = [], []
    for evidence in some:
        layer = evidence.layer(evidence.n_targets, "fit")
        parameters = layer.weight.size + layer.bias.size
        for structure, series in STRUCTURES.items():
            if structure == "full" and (
                parameters > FULL_PARAMETERS or len(layer.features) <= layer.weight.shape[1]
            ):
                left_out.append(f"{evidence.world.label} ({parameters:,} parameters)")
                continue
            parts.append(_curve(evidence, series, structure=structure))
        parts.append(_plain(evidence))
    table = pd.concat(parts, ignore_index=True)
    missing = f"The full posterior is left out for {', '.join(left_out)}." if left_out else ""
    table.attrs = attrs([each.world for each in some], note=missing)
    return table


def figure_6(some: list[Evidence]) -> pd.DataFrame:
    """ROC curves with the prior set by marginal likelihood or by validation (Figure 6).

    Returns
    -------
    DataFrame
        Columns as `figure_5`; the note says which prior precisions were chosen.
    """
    parts, chosen = [], []
    for evidence in some:
        for prior in (MARGINAL, "validation"):
            parts.append(_curve(evidence, prior.replace("-", " "), prior=prior))
            found = [evidence.posterior(r, prior=prior).prior_precision for r in _first(evidence)]
            words = f"{evidence.world.label}, {prior.replace('-', ' ')}"
            chosen.append(f"{words}: {min(found):.3g} to {max(found):.3g}")
        decay = 1e-4 * len(evidence.layer(evidence.n_targets, "fit").features)
        chosen.append(f"{evidence.world.label}, training's weight decay: {decay:.3g}")
        parts.append(_plain(evidence))
    table = pd.concat(parts, ignore_index=True)
    note = f"Prior precisions: {'; '.join(chosen)}."
    table.attrs = attrs([each.world for each in some], note=note)
    return table


def figure_7(some: list[Evidence]) -> pd.DataFrame:
    """ROC curves with draws of weights and with draws of each query's logits (Figure 7).

    Returns
    -------
    DataFrame
        Columns as `figure_5`.
    """
    methods = {"mc": "MC, drawn weights", "lln": "LLN, drawn logits"}
    parts = []
    for evidence in some:
        parts += [_curve(evidence, series, method=m) for m, series in methods.items()]
        closed = evidence.each(lambda t, e=evidence: scores.closed_form(e, t))
        parts.append(roc({"panel": evidence.world.label, "series": "closed form"}, closed))
        parts.append(_plain(evidence))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = attrs([each.world for each in some])
    return table


def _by_size(evidence: Evidence, structure: str, sizes: list[int]) -> dict[int, Pairs]:
    """Scores from the first n of the same draws, for each n."""
    drawn = [
        evidence.draws(evidence.references(t, 1)[0], sizes[-1], structure)
        for t in range(evidence.n_targets)
    ]
    hinge = evidence.signals.hinge
    return {n: evidence.each(lambda t, n=n: bmia_sampled(hinge[t], drawn[t][:n])) for n in sizes}


def _rates(evidence: Evidence, series: str, n: int, pairs: Pairs) -> list[dict]:
    listed = []
    for fpr in RATES:
        name = rate_name(fpr)
        key = {"panel": f"{evidence.world.label}, {name}", "series": series, "n_samples": n}
        listed.append({**key, "metric": name, **spread(tpr(pairs, fpr), 100, 0)})
    return listed


def _curve(evidence: Evidence, series: str, **choices: Any) -> pd.DataFrame:
    pairs = evidence.each(lambda t: evidence.bmia(t, **choices))
    return roc({"panel": evidence.world.label, "series": series}, pairs)


def _plain(evidence: Evidence) -> pd.DataFrame:
    pairs = evidence.each(lambda t: scores.difference(evidence, t, 1))
    return roc({"panel": evidence.world.label, "series": "difference"}, pairs)


def _first(evidence: Evidence) -> list[int]:
    return [int(evidence.references(t, 1)[0]) for t in range(evidence.n_targets)]
