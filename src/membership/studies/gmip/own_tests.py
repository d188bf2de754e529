"""The tests of this chapter's own findings; thresholds are the standing margins."""

from typing import Any

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import identity, much_better
from membership.published.outcomes import every
from membership.published.rows import number, of_row, rows_at
from membership.studies.gmip import joint, theory
from membership.studies.gmip.claim_numbers import over_data

POINT = 1.0
"""One point of accuracy, AUC or a nominal rate, in percent."""


def rank(source: Any) -> Outcome:
    """The rank that every model's gradients have, against (q + 1)(c - 1)."""
    table = source.table("gmip-ctl-2")
    sizes = {recipe.dimension: recipe for recipe in theory.RECIPES.values()}

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


def joint_on_real(source: Any) -> Outcome:
    """The joint likelihood ratio of two and five steps less one step's, the larger background."""
    table = rows_at(source.table("gmip-ctl-4"), attack=joint.MORE)
    table.attrs = source.table("gmip-ctl-4").attrs

    def test(name: str, _: int) -> Outcome:
        parts = []
        for steps in ("2 steps", "5 steps"):
            found = table[(table["data"] == name) & table["case"].str.startswith(steps)]
            if found.empty:
                raise InputError(f"{name}: too few records for the covariance of {steps}")
            label = f"AUC (%), {found['case'].iloc[-1]}, joint less one step, {name}"
            parts.append(much_better(of_row(found.iloc[-1], label), POINT, parts=2))
        return every(parts)

    return over_data(table, test, column="data")


def no_bound(source: Any) -> Outcome:
    """The numerical rate of few steps less Equation 10's, relative to a quarter of it."""
    table = source.table("gmip-ctl-9")
    few = next(label for label in table["data"] if label.startswith("d = "))
    rows = rows_at(table, data=few, quantity="TPR at 0.1% FPR (%)")
    limit = number(rows, method="Equation 10").difference
    found = rows_at(rows, method="numerical").iloc[0]
    label = "TPR (%) at 0.1% FPR, lower end of the enclosure, less 1.25 times Equation 10's"
    return much_better(Contrast(label, float(found["low"]) - 1.25 * limit), 0.0).on("computation")
