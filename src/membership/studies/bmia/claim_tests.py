"""The tests of the paper's claims, as fixed before the results, over exhibits' numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import xarray as xr

from membership.errors import InputError
from membership.exhibits.source import Source
from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import about, best, exists, identity, much_better
from membership.published.outcomes import every, overall
from membership.published.rows import number, rows_at
from membership.studies.bmia import (
    convolutional,
    equal_budgets,
    mismatch,
    predictive,
    scores,
    table_1,
    thresholds,
)
from membership.studies.bmia.scores import Pairs, Seen, auc, tpr
from membership.studies.bmia.theory import marginal_tpr

PAPER = ("CIFAR-10", "CIFAR-100", "Purchase-100", "Texas-100", "ImageNet-1k")
SIMULATED = ("Purchase-like (simulated)",)
RATES = (0.001, 0.01, 0.05)
_KINDS, _MIXTURES, _TOLERANCE = (2, 3, 4, 5), 100_000, 1e-6


def smaller_spreads(source: Source) -> Outcome:
    """c06: Proposition 4.1's rate as both standard deviations shrink in proportion."""
    ratio = 0.9
    return _falls(
        "both standard deviations shrink by a tenth",
        lambda mean, member, other, rate: (mean, ratio * member, ratio * other, rate),
    )


def either_spread(source: Source) -> Outcome:
    """c06, as it was fixed: the same as either of them shrinks alone."""
    return _falls(
        "a standard deviation shrinks by a tenth",
        lambda mean, member, other, rate: (mean, 0.9 * member, other, rate),
        lambda mean, member, other, rate: (mean, member, 0.9 * other, rate),
    )


def _falls(words: str, *shrunk: Callable[..., tuple]) -> Outcome:
    """How far the rate falls on a grid of spreads, and of means no lower for members."""
    mean, sd = np.linspace(0, 3, 13), np.linspace(0.2, 2, 19)
    grid = [values.ravel() for values in np.meshgrid(mean, sd, sd, RATES, indexing="ij")]
    before = _rate(*grid)
    falls = [(before - _rate(*change(*grid))).clip(min=0) for change in shrunk]

    def confirm(case: int) -> float:
        change, place = divmod(case, before.size)
        point = tuple(values[place] for values in grid)
        return float(_precise_rate(*point) - _precise_rate(*shrunk[change](*point)))

    label = f"fall of the TPR as {words}"
    return identity(np.concatenate(falls), _TOLERANCE, label, confirm=confirm).on("closed form")


def _rate(mean: Any, member: Any, other: Any, rate: Any) -> Any:
    return marginal_tpr(mean, 0.0, member, other, rate)


def _precise_rate(mean: float, member: float, other: float, rate: float) -> Any:
    return _precise(mean, 0.0, member, other, rate)


def _precise(mean: float, other_mean: float, sd: float, other_sd: float, alpha: float) -> Any:
    """Proposition 4.1's rate with 30 digits."""
    with mpmath.workdps(30):
        mean, other_mean, sd, other_sd, alpha = map(
            mpmath.mpf, map(float, (mean, other_mean, sd, other_sd, alpha))
        )
        quantile = mpmath.sqrt(2) * mpmath.erfinv(2 * alpha - 1)
        return mpmath.ncdf((mean - other_mean + quantile * other_sd) / sd)


def conditional_wins(source: Source) -> Outcome:
    """c07: how far the marginal rate exceeds the expected conditional one, random mixtures."""
    rng = np.random.default_rng([source.settings.seed, 24])
    drawn = [_mixtures(rng, kinds) for kinds in _KINDS]
    found = [(part, _excess(*part)) for part in drawn]
    part, excess = max(found, key=lambda one: one[1].max())
    worst = [values[excess.argmax()] for values in part]
    residual = np.concatenate([values.clip(min=0) for _, values in found])
    label = f"marginal TPR less expected conditional TPR, {residual.size:,} random mixtures"
    return identity(residual, _TOLERANCE, label, confirm=lambda case: _precise_excess(*worst)).on(
        "closed form"
    )


def _mixtures(rng: np.random.Generator, kinds: int) -> tuple[np.ndarray, ...]:
    """Means and deviations of members and others, and FPR, where all rates are below one half."""
    size = (_MIXTURES, kinds)
    alpha = rng.choice(RATES, (_MIXTURES, 1))
    means = rng.normal(1.5, 1, size), rng.normal(0, 1, size)
    sds = rng.uniform(0.3, 2, size), rng.uniform(0.3, 2, size)
    low = (marginal_tpr(*means, *sds, alpha) < 0.5).all(axis=1)
    return tuple(values[low] for values in (*means, *sds, alpha))


def _excess(mean: Any, other: Any, sd: Any, other_sd: Any, alpha: Any) -> np.ndarray:
    """The marginal rate by the normal law less the mean of the conditional rates."""
    each = marginal_tpr(mean, other, sd, other_sd, alpha)
    whole, whole_other = (
        np.sqrt((s**2).mean(axis=1) + m.var(axis=1)) for m, s in ((mean, sd), (other, other_sd))
    )
    means = mean.mean(axis=1), other.mean(axis=1)
    return marginal_tpr(*means, whole, whole_other, alpha[:, 0]) - each.mean(axis=1)


def _precise_excess(mean: Any, other: Any, sd: Any, other_sd: Any, alpha: Any) -> float:
    """The same of one mixture, with 30 digits but for the mixture's own moments."""
    each = [_precise(*values, alpha[0]) for values in zip(mean, other, sd, other_sd, strict=True)]
    whole, whole_other = (
        np.sqrt((s**2).mean() + m.var()) for m, s in ((mean, sd), (other, other_sd))
    )
    marginal = _precise(mean.mean(), other.mean(), whole, whole_other, alpha[0])
    return float(marginal - sum(each) / len(each))


def matched_is_best(source: Source) -> Outcome:
    """c14: the share of target architectures whose own is the best reference."""
    table = source.table("bmia-fig-4")
    top = table.loc[table.groupby("target", sort=False)["value"].idxmax()]
    if len(top) < 4:
        raise InputError(f"{len(top)} architectures; it takes four or more")
    matched = int((top["target"] == top["reference"]).sum())
    share = Share.count(matched, len(top), "targets whose own architecture is best, less 1/2", 0.5)
    name = f"{len(top)} other architectures"
    return overall({name: much_better(share, 0.0)}, PAPER)


def headline(source: Source) -> Outcome:
    """Ours: the introduction's 64% less the printed lead over eight references, in points."""
    table = source.table("bmia-ctl-8")
    where = "introduction: BMIA over LiRA (n=8) at 1% FPR on CIFAR-10"
    row = rows_at(table, where=where).iloc[0]
    stated, found = (float(str(row[name]).rstrip("%")) for name in ("printed", "computed"))
    label = "lead (%) that the introduction states less the one that Table 1 prints"
    return much_better(Contrast(label, stated - found), 1.0).on("the printed table")


_TIMINGS = 3
_MOST = {table_1.SHARE: 0.1, table_1.LIRA: 0.15}


def cheap_inference(source: Source) -> Outcome:
    """c03: the fit and the scores beside one training, and both beside eight trainings."""
    table = source.table("bmia-ctl-10")
    rows = table[table["attack"].str.startswith("BMIA, KFAC")]

    def test(name: str) -> Outcome:
        each = [
            below(rows, metric, most, len(_MOST), dataset=name) for metric, most in _MOST.items()
        ]
        return every(each).on(f"{name} ({_TIMINGS} timings)")

    found = {name: test(name) for name in dict.fromkeys(rows["dataset"])}
    return overall(found, PAPER, simulated=SIMULATED)


def below(table: pd.DataFrame, metric: str, most: float, parts: int, **where: Any) -> Outcome:
    """A ratio of times wholly below a number, as that number less the ratio."""
    rows = rows_at(table, metric=metric, **where)
    timings = int(rows["n_repeats"].min())
    if timings < _TIMINGS:
        raise InputError(f"it takes {_TIMINGS} timings; there are {timings}")
    label = ", ".join([f"{most} less {metric}", *map(str, where.values())])
    return much_better(number(rows).scaled(-1.0).minus(-most, label), 0.0, parts=parts)


def more_samples(source: Source) -> Outcome:
    """c11: the rate with the most draws less that with ten, and their times; both structures."""
    costs = source.table("bmia-ctl-10")

    def test(seen: Seen, variants: xr.Dataset) -> Outcome:
        sizes = predictive.sizes(variants)
        found = []
        for structure, words in (("kron", "KFAC"), ("diag", "diagonal")):
            many, few = (
                predictive.scored(seen, variants, f"{structure}, {n}") for n in (sizes[-1], 10)
            )
            label = f"TPR (%) at 1% FPR, {sizes[-1]} less 10 draws, {words}, {seen.label}"
            found.append(much_better(_gain(label, many, few), 0.0, parts=4))
            whose = {"dataset": seen.label, "attack": table_1.posterior_name(words, sizes[-1])}
            found.append(below(costs, table_1.DRAWS, 1.25, 4, **whose))
        return every(found)

    return _on_variants(source, test)


def structures_alike(source: Source) -> Outcome:
    """c12: KFAC less the diagonal."""
    return _alike(source, "KFAC", "diagonal", lambda n: (f"kron, {n}", f"diag, {n}"))


def priors_alike(source: Source) -> Outcome:
    """c16: marginal likelihood less validation."""
    words = ("marginal likelihood", "validation")
    return _alike(source, *words, lambda n: (f"kron, {n}", "validation"))


def _alike(source: Source, first: str, second: str, names: Callable[[int], tuple]) -> Outcome:
    def test(seen: Seen, variants: xr.Dataset) -> Outcome:
        one, two = (
            predictive.scored(seen, variants, name) for name in names(variants.attrs["n_samples"])
        )
        words = f"{first} less {second}, {seen.label}"
        area = Contrast.of_units(np.subtract(auc(one), auc(two)), f"AUC (%), {words}")
        rate = _gain(f"TPR (%) at 1% FPR, {words}", one, two)
        quarter = float(np.mean(tpr(two, 0.01))) / 4
        return every([about(rate, quarter, parts=2), about(area, 1.0, parts=2)])

    return _on_variants(source, test)


def full_is_best(source: Source) -> Outcome:
    """c13: the full posterior's rate less either structure's."""

    def test(seen: Seen, variants: xr.Dataset) -> Outcome:
        rivals = {"KFAC": "kron", "diagonal": "diag"}
        names = [str(name) for name in variants["variant"].values]
        # Of several numbers of draws the largest stands last.
        most = {name.partition(",")[0]: name for name in names}
        full, *others = (
            predictive.scored(seen, variants, most[name]) for name in ("full", *rivals.values())
        )
        return best(
            [
                _gain(f"TPR (%) at 1% FPR, full less {words}, {seen.label}", full, other)
                for words, other in zip(rivals, others, strict=True)
            ]
        )

    read = [
        (seen, variants)
        for seen, variants in predictive.read_variants(source)
        if "full" in variants["variant"].values
    ]
    return _on_each([*read, convolutional.read_structures(source)], test)


def _on_variants(source: Source, test: Callable[[Seen, xr.Dataset], Outcome]) -> Outcome:
    return _on_each(predictive.read_variants(source), test)


def _on_each(
    read: Sequence[tuple[Seen, xr.Dataset]], test: Callable[[Seen, xr.Dataset], Outcome]
) -> Outcome:
    """One outcome from those on each data set."""
    found = {
        seen.label: test(seen, variants).on(f"{seen.label} ({len(seen.targets)} targets)")
        for seen, variants in read
    }
    return overall(found, PAPER, simulated=SIMULATED)


def against_strangers(source: Source) -> Outcome:
    """c15: BMIA's rates less each other attack's, members against strangers."""
    seen = mismatch.read_strangers(source)
    found = scores.all_scores(seen)
    ours = found["BMIA", 1]
    name = seen.outputs.attrs["setup"]["data"]
    leads = [
        _gain(f"TPR (%) at {100 * fpr:g}% FPR, BMIA less {other} (n={n})", ours, pairs, fpr)
        for fpr in (0.01, 0.05)
        for (other, n), pairs in found.items()
        if other in ("Attack-P", "QMIA", "Attack-R", "LiRA", "RMIA")
        and n in (0, mismatch.TABLE_2_SIZE)
    ]
    return overall({name: best(leads)}, PAPER)


def _gain(label: str, first: Pairs, second: Pairs, fpr: float = 0.01) -> Contrast:
    """One attack's rate in percent less another's, paired over targets."""
    return Contrast.of_units(np.subtract(tpr(first, fpr), tpr(second, fpr)), label)


_MODELS, _RECORDS = 64, 1000


def outperformed(source: Source) -> Outcome:
    """c18: the rate of LiRA or Attack-R with 64 references less BMIA's."""
    table = source.table("bmia-ctl-15")
    most, sizes = int(table["n_reference"].max()), table.attrs["sizes"]
    if most < _MODELS:
        raise InputError(f"it takes {_MODELS} references; there are {most}")
    if (records := int(sizes[thresholds.RECORDS].replace(",", ""))) < _RECORDS:
        raise InputError(f"it takes {_RECORDS:,} non-members of each target; there are {records:,}")
    found = {}
    for name in dict.fromkeys(table["dataset"]):
        rows = rows_at(table, dataset=name, n_reference=most, metric=equal_budgets.RATE_LESS_BMIA)
        gains = [
            number(rows, f"TPR (%) at 1% FPR, {one} (n={most}) less BMIA, {name}", attack=one)
            for one in (equal_budgets.LIRA, equal_budgets.ATTACK_R)
        ]
        found[name] = exists(None, gains, 0.0).on(f"{name} ({sizes['Target models']} targets)")
    return overall(found, PAPER, simulated=SIMULATED)
