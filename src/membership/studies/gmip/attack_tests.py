"""The tests of the paper's claims on several steps, on noise and on what attacks cost."""

from dataclasses import replace
from typing import Any

from membership.published import Outcome
from membership.published.claim_rules import chance, much_better
from membership.published.outcomes import every
from membership.published.rows import number, rows_at
from membership.studies.gmip import joint, noised
from membership.studies.gmip.claim_numbers import is_real, on_simulation, over_data, summed_up

_HALF_OF_PREDICTED, _LIKE_THE_PAPER, _AUC = 0.087, 10_000, 0.01


def joint_steps(source: Any) -> Outcome:
    """c07: the joint test over five steps less one step, as many background records as there."""
    table = source.table("gmip-ctl-4")
    case = f"5 steps, {_LIKE_THE_PAPER:,} background records"
    rows = table[(table["attack"] == joint.MORE) & (table["case"] == case)]
    if rows.empty:
        return on_simulation(_simulated_steps(table))

    def test(name: str, _: int) -> Outcome:
        label = f"AUC of the joint likelihood ratio, five steps less one, {name}"
        return chance(number(rows, data=name).scaled(0.01, label), _HALF_OF_PREDICTED)

    return over_data(rows, test, column="data")


def _simulated_steps(table: Any) -> Outcome:
    found = []
    for correlation in (0.9, 0.99):
        case = {"data": "simulated", "case": f"correlation {correlation:g}"}
        several, one = (
            number(table, **case, attack=attack) for attack in ("joint test", "one step")
        )
        label = f"AUC of the joint test less one step, simulated, correlation {correlation:g}"
        more = several.less(one).scaled(0.01, label)
        found.append(chance(more, _HALF_OF_PREDICTED, parts=2))
    return every(found)


def noise_amplifies(source: Any) -> Outcome:
    """c16: the AUC that the best attack loses to the noise that halves Equation 9's level."""
    table = rows_at(source.table("gmip-ctl-18"), quantity=noised.LOST)
    table.attrs = source.table("gmip-ctl-18").attrs

    def test(name: str, _: int) -> Outcome:
        lost = number(table, data=name).scaled(0.01, f"AUC lost to noise, {name}")
        return much_better(lost, _AUC)

    known = [test(name, 1) for name in table["data"] if not is_real(name)]
    if not any(is_real(name) for name in table["data"]):
        return on_simulation(every(known))
    real = over_data(table, test, column="data")
    numbers = (*real.numbers, *(one for each in known for one in each.numbers))
    return replace(real, numbers=numbers)


def privacy_implies(source: Any) -> Outcome:
    """c17: the likelihood-ratio attack's TPR less the GDP curve, its greatest excess."""
    table = rows_at(source.table("gmip-ctl-18"), quantity=noised.EXCESS)
    parts = []
    for row in table.itertuples():
        label = f"greatest TPR less the GDP curve, {row.case}, {row.data}"
        excess = number(table, data=row.data, case=row.case).scaled(0.01, label)
        parts.append(chance(excess, 0.005, parts=len(table)))
    return summed_up(parts).on("simulation")
