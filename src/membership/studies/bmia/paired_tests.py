"""The tests of the paper's claims that compare attacks, paired over the target models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, best, much_better
from membership.published.outcomes import every, overall
from membership.published.rows import number, rows_at
from membership.studies.bmia import budgets, draws, predictive, scores, tables, times, toy_seeds
from membership.studies.bmia.claim_tests import PAPER, SIMULATED, over_data
from membership.studies.bmia.cost_tests import below
from membership.studies.bmia.seen import Seen
from membership.studies.bmia.summaries import Pairs, auc, tpr

RATE = budgets.RATE
_DRAWS, _RECORDS = 10_000, 500
_OTHERS = ("QMIA, normal", "Attack-R", budgets.LIRA, "RMIA")


def better_than_all(source: Any) -> Outcome:
    """c02: BMIA's rate less each other attack's, with up to eight references."""
    table = source.table("bmia-ctl-12")
    near = table[(table["n_reference"] <= 8) & table["attack"].isin(_OTHERS)]
    near.attrs = table.attrs

    def test(name: str) -> Outcome:
        rows = rows_at(near, dataset=name, metric=_less(budgets.LESS_BMIA))
        return best([_over(rows, name, row.attack, row.n_reference) for row in rows.itertuples()])

    return over_data(near, test)


def better_than_marginal(source: Any) -> Outcome:
    """c05: BMIA's rate less Attack-P's."""
    table = source.table("bmia-ctl-12")

    def test(name: str) -> Outcome:
        rows = rows_at(table, dataset=name, metric=_less(budgets.LESS_BMIA))
        return much_better(_over(rows, name, attack="Attack-P", n_reference=0), 0.0)

    return over_data(table, test)


def _less(words: str) -> str:
    return f"{RATE}, {words}"


def _over(rows: Any, name: str, attack: str, n_reference: int) -> Contrast:
    """BMIA less an attack, from the attack less BMIA."""
    found = number(rows, attack=attack, n_reference=n_reference)
    label = f"TPR (%) at 1% FPR, BMIA less {attack} (n={n_reference}), {name}"
    return found.scaled(-1.0, label)


def wide_in_the_middle(source: Any) -> Outcome:
    """c04: the Bayesian network's ratio of widths, and less the quantile regression's."""
    table, network = source.table("bmia-ctl-11"), "Laplace, all weights"
    readings = list(dict.fromkeys(table["reading"]))
    found = []
    for reading in readings:
        where = {"reading": reading, "model": network}
        ratio = number(table, f"middle over near, {reading}", metric=toy_seeds.RATIO, **where)
        more = number(table, f"less regression, {reading}", metric=toy_seeds.EXCESS, **where)
        found.append(much_better(ratio, 1.0, parts=2 * len(readings)))
        found.append(much_better(more, 0.0, parts=2 * len(readings)))
    seeds = table.attrs["sizes"]["Data seeds"]
    if int(seeds) < 20:
        raise InputError(f"the run has {seeds} data seeds; it takes 20")
    return every(found).on(*(f"toy, {reading}" for reading in readings))


def nearly_normal(source: Any) -> Outcome:
    """c10: .05 less the distance of drawn hinges from the normal law."""
    table = source.table("bmia-ctl-13")
    sizes = table.attrs["sizes"]
    drawn, records = (
        int(sizes[f"{word} for the distance"].replace(",", ""))
        for word in ("Draws a query", "Queries a target")
    )
    if drawn < _DRAWS or records < _RECORDS:
        raise InputError(f"it takes 10,000 draws of 500 records; there are {drawn} of {records}")

    def test(name: str) -> Outcome:
        found = number(table, dataset=name, quantity=draws.DISTANCE)
        gap = Contrast("", 0.05).less(found, f"0.05 less the Kolmogorov distance, {name}")
        return much_better(gap, 0.0)

    return over_data(table, test)


def linearised_is_better(source: Any) -> Outcome:
    """c17: the rate with draws of logits less that with draws of weights."""
    table = source.table("bmia-ctl-13")
    seeds = int(table.attrs["sizes"]["Sampling seeds"])
    if seeds < 10:
        raise InputError(f"it takes ten sampling seeds; there are {seeds}")

    def test(name: str) -> Outcome:
        label = f"TPR (%) at 1% FPR, LLN less MC, {name}"
        return much_better(number(table, label, dataset=name, quantity=draws.LESS), 0.1)

    return over_data(table, test)


def more_samples(source: Any) -> Outcome:
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
            whose = {"dataset": seen.label, "attack": times.name(words, sizes[-1])}
            found.append(below(costs, times.DRAWS, 1.25, 4, **whose))
        return every(found)

    return _on_variants(source, test)


def structures_alike(source: Any) -> Outcome:
    """c12: KFAC less the diagonal."""
    return _alike(source, "KFAC", "diagonal", lambda n: (f"kron, {n}", f"diag, {n}"))


def priors_alike(source: Any) -> Outcome:
    """c16: marginal likelihood less validation."""
    words = ("marginal likelihood", "validation")
    return _alike(source, *words, lambda n: (f"kron, {n}", "validation"))


def _alike(source: Any, first: str, second: str, names: Callable[[int], tuple]) -> Outcome:
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


def full_is_best(source: Any) -> Outcome:
    """c13: the full posterior's rate less either structure's."""

    def test(seen: Seen, variants: xr.Dataset) -> Outcome:
        n = variants.attrs["n_samples"]
        full = predictive.scored(seen, variants, "full")
        others = {"KFAC": f"kron, {n}", "diagonal": f"diag, {n}"}
        return best(
            [
                _gain(
                    f"TPR (%) at 1% FPR, full less {words}, {seen.label}",
                    full,
                    predictive.scored(seen, variants, name),
                )
                for words, name in others.items()
            ]
        )

    return _on_variants(source, test, "full")


def _on_variants(
    source: Any, test: Callable[[Seen, xr.Dataset], Outcome], name: str = ""
) -> Outcome:
    """One outcome from those on each data set, or on each that has a posterior of this name."""
    read = [
        (seen, variants)
        for seen, variants in predictive.read_variants(source)
        if not name or name in variants["variant"].values
    ]
    if not read:
        raise InputError(f"the run has no {name} posterior")
    found = {
        seen.label: test(seen, variants).on(f"{seen.label} ({len(seen.targets)} targets)")
        for seen, variants in read
    }
    return overall(found, PAPER, simulated=SIMULATED)


def against_strangers(source: Any) -> Outcome:
    """c15: BMIA's rates less each other attack's, members against strangers."""
    seen = tables.strangers_seen(source)
    found = scores.all_scores(seen)
    ours = found["BMIA", 1]
    name = seen.outputs.attrs["setup"]["data"]
    leads = [
        _gain(f"TPR (%) at {100 * fpr:g}% FPR, BMIA less {other} (n={n})", ours, pairs, fpr)
        for fpr in (0.01, 0.05)
        for (other, n), pairs in found.items()
        if other in ("Attack-P", "QMIA", "Attack-R", "LiRA", "RMIA")
        and n in (0, tables.TABLE_2_SIZE)
    ]
    return overall({name: best(leads)}, PAPER)


def _gain(label: str, first: Pairs, second: Pairs, fpr: float = 0.01) -> Contrast:
    """One attack's rate in percent less another's, paired over targets."""
    return Contrast.of_units(np.subtract(tpr(first, fpr), tpr(second, fpr)), label)
