"""The tests of this chapter's own findings; thresholds are the standing margins."""

from typing import Any

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, chance, identity, much_better
from membership.published.outcomes import every
from membership.published.rows import number, of_row, rows_at
from membership.studies.gmip import clipped, gap, gradients, joint, theory, utility
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


def all_or_nothing(source: Any) -> Outcome:
    """How many levels of Table 5 need noise, but less of it under MIP."""
    table = rows_at(source.table("gmip-ctl-8"), quantity="levels that need noise, but less than DP")
    return identity(
        table["value"].to_numpy(),
        0.0,
        "levels that need noise, but less than differential privacy",
        exact=True,
    ).on("computation")


def p_values(source: Any) -> Outcome:
    """Simulated with known moments, at a nominal rate of 5%: the released code's and ours."""
    table = rows_at(source.table("gmip-ctl-3"), data="simulated", nominal=5.0, metric="FPR(%)")
    released, ours = (number(table, convention=name) for name in ("authors", "paper"))
    return every(
        [
            much_better(released.minus(6.25, "FPR (%), released code, less 6.25"), 0.0, parts=2),
            about(ours.minus(5.0, "FPR (%), corrected, less 5"), 1.25, parts=2),
        ]
    ).on("simulation")


def spread_of_k(source: Any) -> Outcome:
    """The upper percent of K over the rank less twice what the chi-squared law has."""
    table = source.table("gmip-ctl-6")
    quantity = "K / rank, quantile 0.99"

    def test(name: str, _: int) -> Outcome:
        law = number(table, data=name, quantity=quantity, method="chi-squared law").difference
        found = number(table, data=name, quantity=quantity, method="measured")
        return much_better(found.minus(2 * law, f"{quantity}, less twice the law's, {name}"), 0.0)

    return over_data(table, test, column="data")


def sum_or_joint(source: Any) -> Outcome:
    """The joint test over five steps less the sum, and less the bound, simulated."""
    table = source.table("gmip-ctl-4")
    parts = []
    for correlation in (0.9, 0.99):
        joint, summed, most = (
            number(table, data="simulated", case=f"correlation {correlation:g}", attack=attack)
            for attack in ("joint test", "sum of log p", "bound")
        )
        text = f"AUC (%), correlation {correlation:g}: joint test less"
        parts.append(much_better(joint.less(summed, f"{text} the sum"), POINT, parts=4))
        parts.append(about(joint.minus(most.difference, f"{text} the bound"), 1.5, parts=4))
    return every(parts).on("simulation")


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


def random_k(source: Any) -> Outcome:
    """The best attack on records with lognormal K less 1.25 times what K = d allows."""
    table = rows_at(source.table("gmip-ctl-6"), quantity="TPR (%) at FPR 0.001")
    best = number(table, method="optimal composition").difference
    mean = number(table, method="all records at K = d").difference
    label = "TPR (%) at 0.1% FPR less 1.25 times that at K = d"
    return much_better(Contrast(label, best - 1.25 * mean), 0.0).on("computation")


def shared_noise(source: Any) -> Outcome:
    """Accuracy with plain SGD: shared noise less none, and none less independent noise."""
    table = rows_at(source.table("gmip-ctl-10"), optimiser="sgd")
    table.attrs = source.table("gmip-ctl-10").attrs

    def test(name: str, _: int) -> Outcome:
        shared, alone = (
            number(table, f"accuracy, {text.split(',')[0]}, {name}", dataset=name, noise=text)
            for text in (utility.SHARED, utility.ALONE)
        )
        return every([about(shared, POINT, parts=2), much_better(alone, POINT, parts=2)])

    return over_data(table, test)


def released_inverse(source: Any) -> Outcome:
    """AUC of GLiR with the right inverse less that of the released code, one step."""
    table = source.table("gmip-ctl-2")

    def test(name: str, _: int) -> Outcome:
        label = f"AUC with the right inverse less the released code's, {name}"
        more = number(table, dataset=name, quantity=gradients.RIGHT_INVERSE)
        return much_better(more.scaled(0.01, label), 0.01)

    return over_data(table, test)


def level_of_large_k(source: Any) -> Outcome:
    """The level of one step at the 99% quantile of K less 1.1 times the one at K = d."""
    table = rows_at(source.table("gmip-ctl-11"), quantity="mu of one step")
    table.attrs = source.table("gmip-ctl-11").attrs

    def test(name: str, _: int) -> Outcome:
        upper = number(table, data=name, record="99% quantile")
        paper = number(table, data=name, record="K = d (Equation 10)").difference
        label = f"mu at the 99% quantile of K less 1.1 times that at K = d, {name}"
        return much_better(upper.minus(1.1 * paper, label), 0.0)

    return over_data(table, test, column="data")


def spread_of_k_in_the_gap(source: Any) -> Outcome:
    """Points of AUC lost to the spread of K less those lost to estimation and the rest."""
    table = rows_at(source.table("gmip-ctl-13"), steps="one step")
    table.attrs = source.table("gmip-ctl-13").attrs

    def test(name: str, _: int) -> Outcome:
        spread, rest, background = (
            number(table, data=name, part=part) for part in (gap.SPREAD, gap.REST, gap.BACKGROUND)
        )
        label = f"AUC (points) lost to the spread of K less the other parts but the rank, {name}"
        return much_better(rest.less(spread).less(background.scaled(-1.0), label), 0.0)

    return over_data(table, test, column="data")


def promise_over_all_records(source: Any) -> Outcome:
    """The rate of the attack on all steps less the stated one, 1 and 10% FPR."""
    return _promise(source, "all", ("1", "10"))


def promise_to_large_k(source: Any) -> Outcome:
    """The same for the upper hundredth of K, 10% FPR."""
    return _promise(source, "upper hundredth of K", ("10",))


def _promise(source: Any, asked: str, rates: tuple[str, ...]) -> Outcome:
    table = source.table("gmip-ctl-17")

    def test(name: str, _: int) -> Outcome:
        parts = []
        for rate in rates:
            rows = rows_at(table, data=name, quantity=f"TPR at {rate}% FPR (%)")
            stated = number(rows, others="Equation 10").difference
            found = number(rows, asked=asked, others="fixed")
            label = f"TPR (%) at {rate}% FPR less the stated one, {asked}, {name}"
            parts.append(chance(found.minus(stated, label), 0.0, parts=len(rates)))
        return every(parts)

    return over_data(table, test, column="data")


def cost_of_c(source: Any) -> Outcome:
    """Accuracy lost to noise with Table 4's C less twice that with C at the median norm."""
    table = source.table("gmip-ctl-15")

    def test(name: str, _: int) -> Outcome:
        rows = table[(table["data"] == name) & table["quantity"].str.contains("to noise")]
        wide, fitting = (
            of_row(rows[rows["quantity"].str.contains(norm)].iloc[0]) for norm in clipped.NORMS
        )
        label = f"accuracy lost to noise, C of Table 4, less twice that at the median norm, {name}"
        return much_better(wide.less(fitting.scaled(2.0), label), 0.0)

    return over_data(table, test, column="data")


def shared_start(source: Any) -> Outcome:
    """The loss attack's TPR at 1% FPR, shared start less own ones, above a tenth of a point."""
    table = rows_at(source.table("gmip-ctl-16"), start="shared less own")
    table.attrs = source.table("gmip-ctl-16").attrs

    def test(name: str, _: int) -> Outcome:
        more = number(table, data=name, quantity="TPR at 1% FPR (%)")
        label = f"TPR (%) at 1% FPR of the loss attack, shared start less own, {name}"
        return much_better(more.minus(0.1, label), 0.0)

    return over_data(table, test, column="data")
