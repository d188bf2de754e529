"""Every attack at equal numbers of references, few and many, beside one with a posterior."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats
from scipy.special import expit

from membership import attacks, metrics
from membership.arrays import FloatArray
from membership.attacks.bmia import bmia_from_moments
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia import scores
from membership.book.studies.bmia.posteriors import POSTERIORS, asked_less, scored, sizes
from membership.book.studies.bmia.scores import (
    GLOBAL,
    LESS_BMIA,
    LIRA,
    LOG_LOSS,
    LOG_ODDS,
    PLAIN,
    Pairs,
    Seen,
    less,
    rate_name,
    rows,
    tpr,
)
from membership.book.studies.bmia.thresholds import RECORDS
from membership.signals import loss_of_log_odds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1, 2, 4, 8, 16, 32, 64)
MIXTURES = (1, 2, 4, 8)
FPR = 0.01
RATE, AUC = rate_name(FPR), "auc(%)"
POSTERIOR = "BMIA, closed form"
BMIA, ATTACK_R, VALIDATED = "BMIA", "Attack-R", "BMIA, prior by validation"
ALIKE = (ATTACK_R, "loss difference", LOG_LOSS, LOG_ODDS, PLAIN, LIRA, "RMIA")
"""Of `scores.SCORES` those that are tried with few references and with many."""
DRAWN = (POSTERIOR, PLAIN, ATTACK_R, LIRA, LOG_ODDS, "RMIA", LOG_LOSS)
COLOURED = (POSTERIOR, "plain difference", LIRA, "RMIA")
LESS_PLAIN, LESS_DIAGONAL = "less the plain difference's", "less the diagonal's"
LESS_FEWEST = "less its own with the fewest samples"
WORTH = "references that equal BMIA"
FEW, MANY = 8, 64
RATE_LESS_BMIA = f"{RATE}, {LESS_BMIA}"
LESS_FEWER = f"{RATE}, less its own with fewer"
_STEPS = 241


def control_12(
    datasets: list[Seen],
    variants: list[xr.Dataset],
    regressed: list[xr.Dataset],
    population: list[xr.Dataset],
) -> pd.DataFrame:
    """Rates and AUC of every attack by number of references, and less BMIA's (Control 12).

    Mixtures take closed forms, as what they are compared with takes no draws. Which references an
    attack has grows with their number: the first is the one that BMIA has. Other posteriors
    are compared on the queries that they were asked about.
    """
    listed, queried = [], []
    known = {datasets[-1].label: population[0]}
    for seen, variant, quantiles in zip(datasets, variants, regressed, strict=True):
        attacked = _scores(seen, known.get(seen.label))
        upper = quantiles["score"].values.astype(float)
        attacked["QMIA, quantiles", 0] = seen.each(lambda t, upper=upper: upper[t])
        bmia = attacked[BMIA, 1]
        for (name, n), pairs in attacked.items():
            key = {"dataset": seen.label, "attack": name, "n_reference": n}
            listed += rows(key, pairs)
            if name != BMIA:
                listed += less(key, pairs, bmia, LESS_BMIA)
            if name == POSTERIOR:
                listed += less(key, pairs, attacked[PLAIN, n], LESS_PLAIN)
        listed += _worths(seen.label, attacked, tpr(bmia, FPR))
        queried.append((seen, seen.on(variant["record"].values)))
        listed += _of_posteriors(queried[-1][1], variant)
    return tidy(listed, origin(datasets, *asked_less(queried)))


def control_12_drawn(table: pd.DataFrame) -> "Figure":
    """Control 12: the rate at 1% against the number of references."""
    # Imported here: who gathers evidence draws nothing.
    from membership import plots

    rates = table[(table["metric"] == RATE) & table["attack"].isin(DRAWN)]
    order = rates["attack"].map(DRAWN.index)
    shown = rates.assign(panel=rates["dataset"] + ": TPR (%)").loc[order.sort_values().index]
    shown = shown.assign(attack=shown["attack"].replace(PLAIN, "plain difference"))
    return plots.lines_with_intervals(
        shown,
        x="n_reference",
        panel="panel",
        log_x=True,
        x_label="references",
        coloured=COLOURED,
    )


def _scores(seen: Seen, population: xr.Dataset | None) -> dict[tuple[str, int], Pairs]:
    """Scores of all attacks by name and number of references."""
    attacked = {("BMIA", 1): seen.attack("bmia"), ("Attack-P", 0): seen.attack("attack-p")}
    attacked["QMIA, normal", 0] = seen.attack("qmia")
    for n in (size for size in SIZES if size <= seen.n_reference):
        for name in ALIKE:
            if n > 1 or name not in scores.TAKES_TWO:
                attacked[name, n] = scores.with_references(seen, name, n)
        attacked["RMIA, ties broken", n] = seen.each(lambda t, n=n: _ratio(seen, t, n, 0.3))
        if population is not None and 1 < n <= MIXTURES[-1]:
            attacked["RMIA, tuned, ties broken", n] = _tuned(seen, population, n)
        if n in MIXTURES:
            attacked[POSTERIOR, n] = mixture(seen, n)
    return attacked


def mixture(seen: Seen, n: int) -> Pairs:
    """BMIA with the posteriors of n references, by their closed forms."""

    def score(target: int) -> FloatArray:
        laws = [seen.moments(model, "closed form") for model in seen.references(target, n)]
        return bmia_from_moments(seen.hinge[target], *np.moveaxis(np.array(laws), 1, 0))

    return seen.each(score)


def _ratio(seen: Seen, target: int, n: int, a: float) -> FloatArray:
    return ratio(seen.log_odds[target], seen.log_odds[seen.references(target, n)], a)


def ratio(target: FloatArray, references: FloatArray, a: float) -> FloatArray:
    """RMIA's ratio: its score, a share of the population, rises with it, in steps that tie."""
    expected = ((1 + a) * expit(references).mean(axis=0) + 1 - a) / 2
    return -loss_of_log_odds(target) - np.log(expected)


def _tuned(seen: Seen, population: xr.Dataset, n: int) -> Pairs:
    """RMIA's ratio with the `a` that is best against each attacker's own first reference."""
    known, member = population["log_odds"], population["member"]

    def score(target: int) -> FloatArray:
        models = seen.references(target, n)
        answers = expit(known.sel(model=models).values.astype(float))
        inside = member.sel(model=models).values
        # One reference is attacked with the others, which need one that was not trained on it.
        a = attacks.rmia_tune(answers, inside, expit(seen.held_log_odds[models]))
        return _ratio(seen, target, n, a)

    return seen.each(score)


def _of_posteriors(seen: Seen, variants: xr.Dataset) -> list[dict[str, Any]]:
    """BMIA with other posteriors of the same references, and with the most and fewest samples."""
    few, *_, most = sizes(variants)
    kron, diagonal, listed = f"kron, {most}", f"diag, {most}", []
    for name, variant, contrasts in (
        (BMIA, kron, {LESS_FEWEST: f"kron, {few}"}),
        (POSTERIORS["diag"], diagonal, {LESS_BMIA: kron, LESS_FEWEST: f"diag, {few}"}),
        (VALIDATED, "validation", {LESS_BMIA: kron}),
        (scores.FULL, "full", {LESS_BMIA: kron, LESS_DIAGONAL: diagonal}),
    ):
        if variant not in variants["variant"].values:
            continue
        key = {"dataset": seen.label, "attack": name, "n_reference": 1}
        pairs = scored(seen, variants, variant)
        if name != BMIA:
            listed += rows(key, pairs)
            listed += less(key, pairs, seen.attack("difference"), LESS_PLAIN)
        for words, other in contrasts.items():
            listed += less(key, pairs, scored(seen, variants, other), words)
    return listed


def _worths(label: str, attacked: dict[tuple[str, int], Pairs], base: list[float]) -> list[dict]:
    """For each attack without a posterior: with how many references it has BMIA's rate."""
    listed = []
    for name in (PLAIN, LOG_ODDS, LOG_LOSS, "Attack-R", LIRA):
        sizes = [n for attack, n in attacked if attack == name]
        if len(sizes) > 1:
            gains = [np.subtract(tpr(attacked[name, n], FPR), base) for n in sizes]
            key = {"dataset": label, "attack": name, "n_reference": sizes[-1], "metric": WORTH}
            listed.append({**key, **worth(sizes, np.array(gains)), "n_repeats": len(base)})
    return listed


def worth(sizes: list[int], gains: FloatArray) -> dict[str, float]:
    """The number of references at which a gain over one posterior is 0, with its 95% interval.

    Gains are (sizes, targets) and linear between rising sizes in their logarithm; the interval is
    where 0 lies in Student's interval of the gain. An end at the least or largest size is one that
    the sizes do not reach.
    """
    at = np.linspace(np.log(sizes[0]), np.log(sizes[-1]), _STEPS)
    curves = np.stack([np.interp(at, np.log(sizes), gain) for gain in gains.T])
    mean, error = curves.mean(axis=0), stats.sem(curves, axis=0)
    half = stats.t.ppf(0.975, len(curves) - 1) * error
    above, open_ = mean >= 0, np.abs(mean) <= half
    first = at[above.argmax()] if above.any() else at[-1]
    inside = at[open_] if open_.any() else np.array([first])
    ends = min(inside.min(), first), max(inside.max(), first)
    return dict(zip(("value", "low", "high"), np.exp([first, *ends]), strict=True))


def control_15(many: list[Seen]) -> pd.DataFrame:
    """Rates at 1% of Attack-R and LiRA with 8 and 64 references, less BMIA's (Control 15)."""
    (seen,) = many
    base = scored(seen, seen.posterior, "kron")
    bmia = np.array(tpr(base, FPR))
    listed = rows({"dataset": seen.label, "attack": BMIA, "n_reference": 1}, base, (FPR,))
    sizes = sorted({min(n, seen.n_reference) for n in (FEW, MANY)})
    for name in (ATTACK_R, LIRA, GLOBAL):
        by_size = {n: scores.with_references(seen, name, n) for n in sizes}
        fewer = tpr(by_size[sizes[0]], FPR)
        for n, pairs in by_size.items():
            key = {"dataset": seen.label, "attack": name, "n_reference": n}
            rate = np.array(tpr(pairs, FPR))
            listed += rows(key, pairs, (FPR,))
            listed.append({**key, "metric": RATE_LESS_BMIA, **metrics.summary(rate - bmia)})
            if n > sizes[0]:
                listed.append({**key, "metric": LESS_FEWER, **metrics.summary(rate - fewer)})
    attrs = origin(many)
    count = min(int((~seen.member[target]).sum()) for target in seen.targets)
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], RECORDS: f"{count:,}"}})
