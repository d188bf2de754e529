"""The tests of the paper's claims that compare attacks, paired over the target models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, best, much_better
from membership.published.outcomes import every, overall
from membership.studies.bmia import predictive, scores, tables, times
from membership.studies.bmia.claim_tests import PAPER, SIMULATED
from membership.studies.bmia.cost_tests import below
from membership.studies.bmia.seen import Seen
from membership.studies.bmia.summaries import Pairs, auc, tpr


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
