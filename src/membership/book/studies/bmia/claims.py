"""What the paper says, and what this chapter found, each with the test that decides it.

The tests are as they were fixed before the results.
"""

import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from membership.book.exhibits.source import Source
from membership.book.published import Contrast, Outcome, Share, claims
from membership.book.published.claim_rules import exists, identity, much_better
from membership.book.published.outcomes import UNDECIDED, overall
from membership.book.published.rows import number, rows_at, stated_size
from membership.book.studies.bmia import equal_budgets, tables, thresholds
from membership.book.studies.bmia.theory import marginal_tpr
from membership.errors import InputError

PAPER = ("CIFAR-10", "CIFAR-100", "Purchase-100", "Texas-100", "ImageNet-1k")
SIMULATED = ("Purchase-like (simulated)",)
RATES = (0.001, 0.01, 0.05)
_KINDS, _MIXTURES, _TOLERANCE, _LINEAR = (2, 3, 4, 5), 100_000, 1e-6, 1e-9


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
    excesses = [_excess(*mixtures) for mixtures in drawn]
    mixtures, excess = max(zip(drawn, excesses, strict=True), key=lambda pair: pair[1].max())
    worst = [values[excess.argmax()] for values in mixtures]
    residual = np.concatenate(excesses).clip(min=0)
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
    rates = marginal_tpr(mean, other, sd, other_sd, alpha)
    whole, whole_other = (
        np.sqrt((s**2).mean(axis=1) + m.var(axis=1)) for m, s in ((mean, sd), (other, other_sd))
    )
    means = mean.mean(axis=1), other.mean(axis=1)
    return marginal_tpr(*means, whole, whole_other, alpha[:, 0]) - rates.mean(axis=1)


def _precise_excess(mean: Any, other: Any, sd: Any, other_sd: Any, alpha: Any) -> float:
    """The same of one mixture, with 30 digits but for the mixture's own moments."""
    rates = [_precise(*values, alpha[0]) for values in zip(mean, other, sd, other_sd, strict=True)]
    whole, whole_other = (
        np.sqrt((s**2).mean() + m.var()) for m, s in ((mean, sd), (other, other_sd))
    )
    marginal = _precise(mean.mean(), other.mean(), whole, whole_other, alpha[0])
    return float(marginal - sum(rates) / len(rates))


def matched_is_best(source: Source) -> Outcome:
    """c14: the share of target architectures whose own is the best reference."""
    table = source.table("bmia-fig-4")
    matched, targets = tables.matched(table)
    if targets < 4:
        raise InputError(f"{targets} architectures; it takes four or more")
    share = Share.count(matched, targets, "targets whose own architecture is best, less 1/2", 0.5)
    name = f"{targets} other architectures"
    return overall({name: much_better(share, 0.0)}, PAPER)


def draws_of_one_law(source: Source) -> Outcome:
    """c17, by algebra: a draw of last-layer weights is nothing beyond its linearisation."""
    rng = np.random.default_rng(17)
    features, mean = rng.normal(size=(50, 8)), rng.normal(size=(3, 8))
    draws = rng.normal(size=(20, 3, 8))
    steps = _logits(features, mean + draws) - _logits(features, mean)
    linear = _logits(features, mean + 1e-3 * draws) - _logits(features, mean)
    beyond = float(np.abs(steps - 1e3 * linear).max())
    label = "TPR (%) at 1% FPR expected of LLN less that of MC, a last layer's draws"
    expected = Contrast(label, 0.0)
    if beyond > _LINEAR:
        return Outcome(UNDECIDED, (), (expected,), f"weights go beyond logits by {beyond:.2g}")
    return much_better(expected, 0.1).on("every last layer, by algebra")


def _logits(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of a last layer whose bias is the weight of a constant feature."""
    return features @ np.swapaxes(weights, -1, -2)


def headline(source: Source) -> Outcome:
    """Ours: the introduction's 64% less the printed lead over eight references, in points."""
    table = source.table("bmia-ctl-8")
    where = "introduction: BMIA over LiRA (n=8) at 1% FPR on CIFAR-10"
    row = rows_at(table, where=where).iloc[0]
    stated, computed = (float(str(row[name]).rstrip("%")) for name in ("printed", "computed"))
    label = "lead (%) that the introduction states less the one that Table 1 prints"
    return much_better(Contrast(label, stated - computed), 1.0).on("the printed table")


_MODELS, _RECORDS = 64, 1000


def outperformed(source: Source) -> Outcome:
    """c18: the rate of LiRA or Attack-R with 64 references less BMIA's."""
    table = source.table("bmia-ctl-15")
    most, records = int(table["n_reference"].max()), stated_size(table.attrs, thresholds.RECORDS)
    if most < _MODELS:
        raise InputError(f"it takes {_MODELS} references; there are {most}")
    if records < _RECORDS:
        raise InputError(f"it takes {_RECORDS:,} non-members of each target; there are {records:,}")
    outcomes = {}
    for name in dict.fromkeys(table["dataset"]):
        rows = rows_at(table, dataset=name, n_reference=most, metric=equal_budgets.RATE_LESS_BMIA)
        gains = [
            number(rows, f"TPR (%) at 1% FPR, {attack} (n={most}) less BMIA, {name}", attack=attack)
            for attack in (equal_budgets.LIRA, equal_budgets.ATTACK_R)
        ]
        outcomes[name] = exists(None, gains, 0.0).on(
            f"{name} ({table.attrs['sizes']['Target models']} targets)"
        )
    return overall(outcomes, PAPER, simulated=SIMULATED)


CLAIMS = claims.read("bmia", sys.modules[__name__])
