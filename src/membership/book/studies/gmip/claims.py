"""The tests of claims on real data, and all claims: what the paper says and what was found."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import privacy
from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, claims
from membership.book.published.claim_rules import about, better, chance, identity, much_better
from membership.book.published.outcomes import every, overall, untested
from membership.book.published.rows import number, of_row, rows_at
from membership.book.studies.gmip import formula_tests
from membership.book.studies.gmip.audit import SIZES, members, ranks
from membership.book.studies.gmip.moments import MORE_STEPS
from membership.book.studies.gmip.noise import LOST
from membership.book.studies.gmip.settings import RECIPES
from membership.book.studies.gmip.setups import ONE, SIMULATED
from membership.book.studies.gmip.several_steps import JOINT, MORE, has_steps, on_background
from membership.errors import InputError

PAPER = ("Adult",)
"""Data sets with the paper's records, sizes and features; CIFAR-10 has other features here."""
UNITS = ("Audited models", "Seeds")
_HALF_OF_PREDICTED, _LIKE_THE_PAPER, _AUC = 0.087, 10_000, 0.01
POINT = 1.0
"""One point of accuracy, AUC or a nominal rate, in percent."""


def over_data(
    table: pd.DataFrame,
    test: Callable[[str, int], Outcome],
    *,
    column: str = "dataset",
    **options: Any,
) -> Outcome:
    """One outcome from those on each data set; the test takes its name and how many there are."""
    names = [name for name in dict.fromkeys(table[column]) if is_real(name)]
    if not names:
        raise InputError("the run has no real data")
    sizes = table.attrs.get("sizes", {})
    units = next((f"{key.lower()}: {sizes[key]}" for key in UNITS if key in sizes), "")
    outcomes = {
        name: test(name, len(names)).on(f"{name}, {units}" if units else name) for name in names
    }
    return overall(outcomes, PAPER, **options)


def is_real(name: str) -> bool:
    """Whether a row is of a data set, and not of a simulation or a formula."""
    return not name.startswith(SIMULATED)


def on_simulation(outcome: Outcome) -> Outcome:
    """What a simulation says of a sentence about real data: it is told and decides nothing."""
    return overall({"simulation": outcome}, PAPER, simulated=("simulation",))


def five_steps_of_glir(source: Source) -> Outcome:
    """c06: the AUC of five steps' summed log p less that of one."""
    table = source.table("gmip-ctl-2")

    def test(name: str, _: int) -> Outcome:
        label = f"AUC of GLiR, five steps less one, {name}"
        more = number(table, dataset=name, quantity=MORE_STEPS).scaled(0.01, label)
        if name != "CIFAR-10":
            return about(more, 0.02)
        return every([about(more, 0.02, parts=2), much_better(more, 0.0, parts=2)])

    return over_data(table, test)


def optimal(source: Source) -> Outcome:
    """c08: the optimal composition's TPR at 0.1% FPR over GLiR's, less 1.25."""
    d, n = SIZES["CIFAR-10"]
    normal = stats.chi2.ppf((np.arange(200) + 0.5) / 200, d)
    outcomes = {"simulation": chance(_composition_gain(normal, d, n, "K of normal gradients"), 0.0)}
    table = source.table("gmip-ctl-2")
    for name, audit in _by_data(source, "steps").items():
        k = audit["susceptibility"].values[:, 0, ~members(audit)].ravel()
        rank = int(ranks(audit)[0, 0])
        gain = _composition_gain(k, rank, audit.attrs["batch_size"], f"K measured, {name}")
        outcomes[name] = chance(gain, 0.0)
    if len(outcomes) == 1:
        return on_simulation(outcomes["simulation"])
    simulation = outcomes.pop("simulation")
    real = over_data(table, lambda name, _: outcomes[name])
    return replace(real, numbers=(*real.numbers, *simulation.numbers))


def more_accurate(source: Source) -> Outcome:
    """c18: at how many of the 20 levels GMIP is more accurate than GDP."""
    table = source.table("gmip-fig-3")
    if table["mu"].nunique() < 20:
        return untested("it takes 20 privacy levels")
    trained = _by_data(source, "measured")

    def test(name: str, count: int) -> Outcome:
        accuracy = trained[name]["accuracy"].sel(noise="independent")
        gains = accuracy.sel(notion="mip") - accuracy.sel(notion="gdp")
        gains_by_level = [Contrast.of_units(gain, name) for gain in gains.values]
        # For 20 levels at once: where the tenth smallest gain is above 0, more than ten are.
        ends = np.array([gain.interval(1 - 0.05 / len(gains_by_level)) for gain in gains_by_level])
        low, high = np.sort(ends, axis=0)[9]
        label = f"tenth smallest of 20 gains ({(ends[:, 0] > 0).sum()} above 0), {name}"
        half = (high - low) / 2 / stats.norm.ppf(0.975)
        return better(Contrast(label, (low + high) / 2, half), 1.0, parts=count)

    return over_data(table, test, always=True)


def _by_data(source: Source, kind: str) -> dict[str, Any]:
    """The evidence of a kind that a run has, by data set."""
    names = [f"{kind}-{word}" for word in source.settings.words.values()]
    found = [source.evidence(name) for name in names if source.has(name)]
    return {evidence.attrs["set"]: evidence for evidence in found}


def _composition_gain(k: np.ndarray, d: int, n: int, what: str) -> Contrast:
    levels = np.array([privacy.mip_mu_step(d, n, float(value)) for value in k])
    of_optimal = 1 - privacy.gaussian_mixture_tradeoff(0.001, levels)
    of_glir = 1 - privacy.constant_rate_tradeoff(0.001, levels)
    label = f"optimal composition's TPR at 0.1% FPR over GLiR's, less 1.25, {what}"
    return Contrast(label, float(of_optimal / of_glir) - 1.25)


def joint_steps(source: Source) -> Outcome:
    """c07: the joint test over five steps less one step, as many background records as there."""
    table = source.table("gmip-ctl-4")
    case = on_background(5, _LIKE_THE_PAPER)
    rows = table[(table["attack"] == MORE) & (table["case"] == case)]
    if rows.empty:
        return on_simulation(_simulated_steps(table))

    def test(name: str, _: int) -> Outcome:
        label = f"AUC of the joint likelihood ratio, five steps less one, {name}"
        return chance(number(rows, data=name).scaled(0.01, label), _HALF_OF_PREDICTED)

    return over_data(rows, test, column="data")


def _simulated_steps(table: Any) -> Outcome:
    outcomes = []
    for correlation in (0.9, 0.99):
        case = {"data": SIMULATED, "case": f"correlation {correlation:g}"}
        several, single = (number(table, **case, attack=attack) for attack in (JOINT, ONE))
        label = f"AUC of the joint test less one step, simulated, correlation {correlation:g}"
        gain = several.less(single).scaled(0.01, label)
        outcomes.append(chance(gain, _HALF_OF_PREDICTED, parts=2))
    return every(outcomes)


def noise_amplifies(source: Source) -> Outcome:
    """c16: the AUC that the best attack loses to the noise that halves Equation 9's level."""
    table = rows_at(source.table("gmip-ctl-18"), quantity=LOST)

    def test(name: str, _: int) -> Outcome:
        lost = number(table, data=name).scaled(0.01, f"AUC lost to noise, {name}")
        return much_better(lost, _AUC)

    simulated = [test(name, 1) for name in table["data"] if not is_real(name)]
    if not any(is_real(name) for name in table["data"]):
        return on_simulation(every(simulated))
    real = over_data(table, test, column="data")
    numbers = (*real.numbers, *(contrast for outcome in simulated for contrast in outcome.numbers))
    return replace(real, numbers=numbers)


def rank(source: Source) -> Outcome:
    """The rank that every model's gradients have, against (q + 1)(c - 1)."""
    table = source.table("gmip-ctl-2")
    sizes = {recipe.dimension: recipe for recipe in RECIPES.values()}

    def test(name: str, _: int) -> Outcome:
        d = int(number(table, dataset=name, quantity="parameters d").difference)
        if d not in sizes:
            raise InputError(f"{name}: another number of parameters than in the paper")
        ends = [
            number(table, dataset=name, quantity=f"rank, {end} of all models").difference
            for end in ("least", "greatest")
        ]
        apart = [abs(end - sizes[d].rank) for end in ends]
        return identity(apart, 0.0, f"rank less (q + 1)(c - 1), {name}")

    return over_data(table, test)


def joint_on_real(source: Source) -> Outcome:
    """The joint likelihood ratio of two and five steps less one step's, the larger background."""
    table = rows_at(source.table("gmip-ctl-4"), attack=MORE)

    def test(name: str, _: int) -> Outcome:
        parts = []
        for steps in (2, 5):
            is_case = table["case"].map(lambda case, steps=steps: has_steps(case, steps))
            row_of_steps = table[(table["data"] == name) & is_case]
            if row_of_steps.empty:
                raise InputError(f"{name}: too few records for the covariance of {steps} steps")
            label = f"AUC (%), {row_of_steps['case'].iloc[-1]}, joint less one step, {name}"
            parts.append(much_better(of_row(row_of_steps.iloc[-1], label), POINT, parts=2))
        return every(parts)

    return over_data(table, test, column="data")


CLAIMS = claims.read("gmip", formula_tests, sys.modules[__name__])
