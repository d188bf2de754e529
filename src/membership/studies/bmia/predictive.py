"""How the predictive distribution is computed: structure, prior, kind and seed of draws."""

from typing import Any

import pandas as pd
import xarray as xr

from membership.arrays import FloatArray
from membership.attacks.bmia import bmia_from_moments
from membership.exhibits.rows import of_each
from membership.exhibits.source import Source
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia import scores
from membership.studies.bmia.names import sizes_up_to
from membership.studies.bmia.scores import (
    RATES,
    Pairs,
    Seen,
    further,
    moments,
    percent,
    rate_name,
    read,
    roc,
    tpr,
)

FULL = "full"
Asked = tuple[Seen, xr.Dataset]
"""What of a data set the other posteriors were asked, and their predictions."""
STRUCTURES = {FULL: "full", "kron": "KFAC", "diag": "diagonal"}
POSTERIORS = {FULL: scores.FULL, "kron": "BMIA", "diag": "BMIA, diagonal posterior"}
"""Attacks with each, as the tables name them."""
DISTANCE = "Kolmogorov distance from the normal law"
LLN, MC = "TPR (%) at 1% FPR, LLN", "TPR (%) at 1% FPR, MC"
LESS = "LLN less MC"
SPREAD = "sd over sampling seeds"
_METHODS = {LLN: "lln", MC: "mc"}


def read_variants(source: Source) -> list[Asked]:
    """Each data set on the queries that the variants were asked about."""
    return [
        (seen.on(variants["record"].values), variants)
        for seen, variants in zip(read(source), further(source, "variants"), strict=True)
    ]


def figure_3(datasets: list[Asked]) -> pd.DataFrame:
    """True-positive rates by the number of samples (Figures 3a, 3b); for 3c see `times`."""
    listed = []
    for seen, variants in datasets:
        tried = sizes(variants)
        for structure in ("kron", "diag"):
            for n in tried:
                pairs = scored(seen, variants, f"{structure}, {n}")
                listed += _rates(seen, STRUCTURES[structure], n, pairs)
        closed = seen.attack("bmia-closed")
        for n in tried:
            listed += _rates(seen, "KFAC, closed form", n, closed)
    return tidy(listed, _origin(datasets))


def figure_5(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with the full, the Kronecker-factored and the diagonal posterior (Figure 5)."""
    parts, left_out = [], []
    for seen, variants in datasets:
        n = variants.attrs["n_samples"]
        chosen = {"full": FULL, "KFAC": f"kron, {n}", "diagonal": f"diag, {n}"}
        there = {series: v for series, v in chosen.items() if v in variants["variant"].values}
        attacked = {series: scored(seen, variants, variant) for series, variant in there.items()}
        parts += [_curve(seen, series, pairs) for series, pairs in attacked.items()]
        if "full" not in attacked:
            left_out.append(f"{seen.label} ({variants.attrs['parameters']:,} parameters)")
        parts.append(_plain(seen))
    note = f"The full posterior is left out for {', '.join(left_out)}." if left_out else ""
    return tidy(parts, _origin(datasets, note=note))


def figure_6(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with the prior set by marginal likelihood or by validation (Figure 6)."""
    parts, chosen = [], []
    for seen, variants in datasets:
        kron = f"kron, {variants.attrs['n_samples']}"
        for words, variant in (("marginal likelihood", kron), ("validation", "validation")):
            parts.append(_curve(seen, words, scored(seen, variants, variant)))
            precisions = variants["prior_precision"].sel(variant=variant).values
            chosen.append(
                f"{seen.label}, {words}: {precisions.min():.3g} to {precisions.max():.3g}"
            )
        attrs = variants.attrs
        decay = attrs["recipe"]["weight_decay"] * attrs["reference_members"]
        chosen.append(f"{seen.label}, training's weight decay: {decay:.3g}")
        parts.append(_plain(seen))
    return tidy(parts, _origin(datasets, note=f"Prior precisions: {'; '.join(chosen)}."))


def figure_7(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with draws of weights and with draws of each query's logits (Figure 7)."""
    parts = []
    for seen, variants in datasets:
        chosen = {"MC, drawn weights": "mc", "LLN, drawn logits": f"kron, {sizes(variants)[-1]}"}
        parts += [_curve(seen, s, scored(seen, variants, v)) for s, v in chosen.items()]
        parts.append(_curve(seen, "closed form", seen.attack("bmia-closed")))
        parts.append(_plain(seen))
    return tidy(parts, _origin(datasets))


def _origin(datasets: list[Asked], **extra: Any) -> dict[str, Any]:
    return origin([seen for seen, _ in datasets], **extra)


def sizes(variants: xr.Dataset) -> list[int]:
    """The numbers of draws that there are moments of, the largest last."""
    return sizes_up_to(variants.attrs["n_samples"])


def scored(seen: Seen, variants: xr.Dataset, variant: str) -> Pairs:
    """BMIA with one posterior of the first references."""

    def score(target: int) -> FloatArray:
        own = moments(variants, seen.first(target), variant)
        return bmia_from_moments(seen.hinge[target], *own)

    return seen.each(score)


def full_posterior(seen: Seen, variants: xr.Dataset) -> tuple[Seen, Pairs] | None:
    """BMIA with the full posterior, and the queries that it was asked about, where there is one."""
    if FULL not in variants["variant"].values:
        return None
    queried = seen.on(variants["record"].values)
    return queried, scored(queried, variants, FULL)


def asked_less(pairs: list[tuple[Seen, Seen]]) -> list[str]:
    """The departure that other posteriors were asked about some of the queries, where they were."""
    few = [
        f"{seen.label} {queried.outputs.sizes['record']:,} of {seen.outputs.sizes['record']:,}"
        for seen, queried in pairs
        if queried.outputs.sizes["record"] < seen.outputs.sizes["record"]
    ]
    return [f"posteriors other than BMIA's asked fewer records: {', '.join(few)}"] if few else []


def _rates(seen: Seen, series: str, n: int, pairs: Pairs) -> list[dict]:
    listed = []
    for fpr in RATES:
        name = rate_name(fpr)
        key = {"panel": f"{seen.label}, {name}", "series": series, "n_samples": n}
        listed.append({**key, "metric": name, **percent(tpr(pairs, fpr))})
    return listed


def _curve(seen: Seen, series: str, pairs: Pairs) -> pd.DataFrame:
    return roc({"panel": seen.label, "series": series}, pairs)


def _plain(seen: Seen) -> pd.DataFrame:
    return _curve(seen, "difference", seen.attack("difference"))


def control_13(draws: list[xr.Dataset]) -> pd.DataFrame:
    """The distance of drawn hinges from a normal law, and rates with ten seeds (Control 13).

    Distances are means over a target's queries, rates means over the seeds; intervals are over
    targets.
    """
    distances, samplings = draws
    rate = samplings["rate"]
    measured = {DISTANCE: distances["distance"].values.mean(axis=1)}
    measured |= {name: rate.sel(draw=m).mean("sampling").values for name, m in _METHODS.items()}
    measured[LESS] = measured[LLN] - measured[MC]
    for name, method in _METHODS.items():
        spread = rate.sel(draw=method).std("sampling", ddof=1)
        measured[f"{name}, {SPREAD}"] = spread.values
    key = {"dataset": distances.attrs["set"]}
    listed = of_each(key, "quantity", measured)
    more = {
        "Draws a query for the distance": f"{distances.attrs['draws']:,}",
        "Queries a target for the distance": str(distances.sizes["query"]),
        "Sampling seeds": str(samplings.sizes["sampling"]),
    }
    attrs = origin([distances])
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], **more}})
