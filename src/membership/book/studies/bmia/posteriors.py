"""The posterior: how its predictions are computed, and whether its deviation is that of retraining.

Structure, prior, kind, number and seed of draws (Figures 3, 5, 6, 7 and Control 13); the Laplace
standard deviation beside the one over retraining, and how normal the hinge is (Controls 4, 5, 7).
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import special, stats

from membership import metrics
from membership.arrays import FloatArray
from membership.attacks.bmia import bmia_from_moments
from membership.book.exhibits.rows import of_each, of_error
from membership.book.exhibits.sentences import span
from membership.book.exhibits.source import Source
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia import evidence, scores
from membership.book.studies.bmia.scores import (
    RATES,
    Pairs,
    Seen,
    auc,
    moments,
    percent,
    rate_name,
    read,
    roc,
    tpr,
)
from membership.book.studies.bmia.settings import sizes_up_to

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
    names_of = partial(evidence.files, evidence.MAIN)
    variants = [source.evidence(name) for name in evidence.files(("variants",), source.settings)]
    return [
        (seen.on(variant["record"].values), variant)
        for seen, variant in zip(read(source, names_of), variants, strict=True)
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


def figure_3_described(table: pd.DataFrame) -> str:
    """The first and the last rate of each line."""
    texts = []
    for (panel, series), part in table.groupby(["panel", "series"], sort=False):
        value = part.sort_values("n_samples")["value"]
        texts.append(f"{panel}, {series}: {value.iloc[0]:.1f} to {value.iloc[-1]:.1f}")
    return f"Panels of true-positive rate (%) against the number of samples. {'; '.join(texts)}."


def figure_5(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with the full, the Kronecker-factored and the diagonal posterior (Figure 5)."""
    parts, left_out = [], []
    for seen, variants in datasets:
        n = variants.attrs["n_samples"]
        chosen = {"full": FULL, "KFAC": f"kron, {n}", "diagonal": f"diag, {n}"}
        there = {series: v for series, v in chosen.items() if v in variants["variant"].values}
        attacked = {series: scored(seen, variants, variant) for series, variant in there.items()}
        parts += _curves(seen, attacked)
        if "full" not in attacked:
            left_out.append(f"{seen.label} ({variants.attrs['parameters']:,} parameters)")
    note = f"The full posterior is left out for {', '.join(left_out)}." if left_out else ""
    return tidy(parts, _origin(datasets, note=note))


def figure_6(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with the prior set by marginal likelihood or by validation (Figure 6)."""
    parts, chosen = [], []
    for seen, variants in datasets:
        kron = f"kron, {variants.attrs['n_samples']}"
        attacked = {}
        for words, variant in (("marginal likelihood", kron), ("validation", "validation")):
            attacked[words] = scored(seen, variants, variant)
            precisions = variants["prior_precision"].sel(variant=variant).values
            chosen.append(
                f"{seen.label}, {words}: {precisions.min():.3g} to {precisions.max():.3g}"
            )
        attrs = variants.attrs
        decay = attrs["recipe"]["weight_decay"] * attrs["reference_members"]
        chosen.append(f"{seen.label}, training's weight decay: {decay:.3g}")
        parts += _curves(seen, attacked)
    return tidy(parts, _origin(datasets, note=f"Prior precisions: {'; '.join(chosen)}."))


def figure_7(datasets: list[Asked]) -> pd.DataFrame:
    """ROC curves with draws of weights and with draws of each query's logits (Figure 7)."""
    parts = []
    for seen, variants in datasets:
        chosen = {"MC, drawn weights": "mc", "LLN, drawn logits": f"kron, {sizes(variants)[-1]}"}
        attacked = {series: scored(seen, variants, v) for series, v in chosen.items()}
        parts += _curves(seen, {**attacked, "closed form": seen.attack("bmia-closed")})
    return tidy(parts, _origin(datasets))


def curves_described(table: pd.DataFrame) -> str:
    """The rate of each curve near 1%."""
    texts = []
    for panel, part in table.groupby("panel", sort=False):
        near = part[np.isclose(part["fpr"], 0.01, rtol=0.05)]
        rates = [f"{row.series} {100 * row.tpr:.1f}%" for row in near.itertuples()]
        texts.append(f"{panel}: {', '.join(rates)}")
    start = "ROC curves on logarithmic axes, a panel a data set. TPR at 1% FPR"
    return f"{start}: {'; '.join(texts)}."


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


def _curves(seen: Seen, attacked: dict[str, Pairs]) -> list[pd.DataFrame]:
    """ROC curves of some posteriors, and of the plain difference."""
    shown = {**attacked, "difference": seen.attack("difference")}
    return [roc({"panel": seen.label, "series": s}, pairs) for s, pairs in shown.items()]


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


RELATED, RATIO = "correlation of the logarithms", "retraining / Laplace, geometric mean"
CORRECTED = "corrected for noise"
SD_AND_SCORE = "Laplace sd and score, rank correlation"
OF_FULL = ", full posterior"
SHOWN = 1000
SPLITS = 35
RESAMPLES = 200


def control_4(datasets: list[Seen]) -> pd.DataFrame:
    """Both standard deviations of the hinge, record by record (Control 4).

    No reference is trained on any query, so that their spread is that of retraining a model
    without the record, on another half of the population. The Laplace one is that of the first
    reference.
    """
    parts = []
    for seen in datasets:
        laplace = seen.moments(seen.outputs.attrs["references"][0])[1][:SHOWN]
        over = np.std(retrained(seen), axis=0, ddof=1)[:SHOWN]
        deviations = {"dataset": seen.label, "laplace": laplace, "retraining": over}
        parts.append(pd.DataFrame(deviations))
    return tidy(parts, origin(datasets))


def control_4_said(table: pd.DataFrame) -> str:
    """How many points lie right of the line of equal standard deviations."""
    larger = (table["laplace"] > table["retraining"]).groupby(table["dataset"], sort=False).mean()
    texts = [f"{name} {share:.0%}" for name, share in larger.items()]
    return f"Records whose Laplace standard deviation is the larger one: {'; '.join(texts)}."


def control_5(datasets: list[Seen], variants: list[xr.Dataset]) -> pd.DataFrame:
    """How the two standard deviations are related (Control 5).

    The one over retraining is estimated from few models. Its reliability is the correlation of
    the logarithms between two halves of the models, stepped up to all of them (Spearman and
    Brown) and averaged over splits; dividing by its square root gives the correlation that a
    noiseless estimate would have. Where the reliability is not above zero, or might not be, that
    correlation is not identified: it is left out, and the note says so. Its interval has the
    error of the reliability beside that over targets. The full posterior, where there is one,
    stands beside on the queries that it was asked about.
    """
    listed, unknown = [], []
    for seen, variant in zip(datasets, variants, strict=True):
        known, low, high = reliability(retrained(seen))
        key, exact = {"dataset": seen.label}, {"value": known, "low": low, "high": high}
        exact["n_repeats"] = 1
        if low <= 0:
            unknown.append(seen.label)
            known = np.nan
        by_target = pd.DataFrame([_related(seen, target, known) for target in seen.targets])
        by_quantity = by_target.to_dict("list") | _of_full(seen, variant, known)
        listed.append({**key, "quantity": "reliability of the sd over retraining", **exact})
        listed += [
            {**key, "quantity": name, **_summary(name, v, exact)}
            for name, v in by_quantity.items()
            if not np.isnan(v).any()
        ]
    table = pd.DataFrame(listed)
    note = f"Corrected correlation not identified: {', '.join(unknown)}." if unknown else ""
    table.attrs = origin(datasets, note=note)
    return table


def control_5_said(table: pd.DataFrame) -> str:
    """The ratio of the two, and the corrected correlation where it is identified."""
    value = table.set_index("quantity")["value"]
    ratio = 1 / value[[RATIO]]
    sentence = (
        f"By data set the Laplace standard deviation is {span(ratio, 1, '')} times that over "
        "retraining"
    )
    if CORRECTED not in value:
        return f"{sentence}."
    return f"{sentence}; their correlation is {span(value[['corrected for noise']], 2, '')}."


def _summary(name: str, values: list[float], reliability: dict[str, float]) -> dict[str, float]:
    """Over targets; of what was divided by the root of a reliability, with its error, too."""
    summary = metrics.summary(values)
    if name not in (CORRECTED, f"{CORRECTED}{OF_FULL}"):
        return summary
    error = (reliability["high"] - reliability["low"]) / (2 * stats.norm.ppf(0.975))
    of_root = summary["value"] * error / (2 * reliability["value"])
    whole = float(np.hypot(summary["standard_error"], of_root))
    # Welch and Satterthwaite: the reliability's error is known over thousands of queries.
    degrees = summary["degrees_of_freedom"] * (whole / summary["standard_error"]) ** 4
    return {**summary, **of_error(summary["value"], whole, len(values), degrees)}


def _of_full(seen: Seen, variants: xr.Dataset, reliability: float) -> dict[str, list[float]]:
    """What `related` gives of the full posterior, on the queries that it was asked about."""
    if FULL not in variants["variant"].values:
        return {}
    hinge = retrained(seen.on(variants["record"].values))
    laws = [moments(variants, seen.first(target), FULL) for target in seen.targets]
    by_target = pd.DataFrame([related(hinge, *law, reliability) for law in laws])
    return by_target.add_suffix(OF_FULL).to_dict("list")


def _related(seen: Seen, target: int, reliability: float) -> dict[str, float]:
    """The quantities of Control 5 for one target's reference."""
    hinge, (mean, sd) = retrained(seen), seen.moments(seen.first(target))
    z = ((seen.hinge[target] - mean) / sd)[~seen.member[target]]
    return {
        **related(hinge, mean, sd, reliability),
        "retraining sd and score, rank correlation": _rank(_log_sd(hinge), hinge.mean(axis=0)),
        "mean z of non-members": z.mean(),
        "sd of z of non-members": z.std(ddof=1),
    }


def related(
    hinge: FloatArray, mean: FloatArray, sd: FloatArray, reliability: float
) -> dict[str, float]:
    """A posterior's moments beside the hinges of retrained models, (references, queries)."""
    log_over, log_sd = _log_sd(hinge), np.log(sd)
    raw = float(np.corrcoef(log_sd, log_over)[0, 1])
    return {
        RELATED: raw,
        CORRECTED: raw / np.sqrt(reliability),
        RATIO: float(np.exp((log_over - log_sd).mean())),
        SD_AND_SCORE: _rank(sd, mean),
    }


def control_7(datasets: list[Seen], measured: list[xr.Dataset]) -> pd.DataFrame:
    """How far the hinge is from Gaussian under Gaussian logits (Control 7)."""
    listed = []
    for seen, shapes in zip(datasets, measured, strict=True):
        quantities = shapes["quantity"].values.tolist()
        shapes_of = dict(zip(quantities, shapes["shape"].values.T, strict=True))
        shapes_of["AUC (%) with draws"] = auc(seen.attack("bmia"))
        shapes_of["AUC (%) in closed form"] = auc(seen.attack("bmia-closed"))
        listed += of_each({"dataset": seen.label}, "quantity", shapes_of)
    return tidy(listed, origin(datasets))


def retrained(seen: Seen) -> FloatArray:
    """Hinges of all references, (references, queries)."""
    return seen.hinge[seen.outputs.attrs["references"]]


def _log_sd(hinge: FloatArray) -> FloatArray:
    """Log standard deviations; of n normal values they are low by a known amount on average."""
    half = (len(hinge) - 1) / 2
    bias = (special.digamma(half) - np.log(half)) / 2
    return np.log(np.std(hinge, axis=0, ddof=1)) - bias


def reliability(hinge: FloatArray) -> tuple[float, float, float]:
    """Of the log standard deviation of all models, with a 95% interval over the queries."""
    rng, half = np.random.default_rng(0), len(hinge) // 2
    orders = [rng.permutation(len(hinge)) for _ in range(SPLITS)]
    first = np.stack([_log_sd(hinge[order[:half]]) for order in orders])
    second = np.stack([_log_sd(hinge[order[half : 2 * half]]) for order in orders])

    def stepped_up(queries: np.ndarray) -> float:
        a, b = (stats.zscore(part[:, queries], axis=1) for part in (first, second))
        r = float((a * b).mean())
        return 2 * r / (1 + r)

    n = hinge.shape[1]
    again = [stepped_up(rng.integers(n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.quantile(again, (0.025, 0.975))
    return stepped_up(np.arange(n)), float(low), float(high)


def identified(hinge: FloatArray) -> float:
    """The reliability where it is above 0, of four references or more; else not a number."""
    if len(hinge) < 4:
        return np.nan
    value, low, _ = reliability(hinge)
    return value if low > 0 else np.nan


def _rank(a: FloatArray, b: FloatArray) -> float:
    return float(stats.spearmanr(a, b).statistic)
