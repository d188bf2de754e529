"""The tests of the paper's sentences, as they were fixed beforehand."""

from dataclasses import replace

from membership.errors import InputError
from membership.exhibits import Source
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, exists, much_better
from membership.published.outcomes import CONTRADICTED, SUPPORTED, UNDECIDED, every, untested
from membership.published.rows import number
from membership.studies.iha import retrained, tables
from membership.studies.iha.claim_numbers import DEEP, IMAGES, LARGE, MAIN, SMALL, Rows, beside, on

AT_1, AT_01 = "TPR@1%FPR (%)", "TPR@0.1%FPR (%)"
LEAST_RETRAININGS = 2000
BEST = "IHA (damping eps=2e-1)"
EVERYONE = "IHA, gradient over D for everyone"


def _ratio(rows: Rows, first: str, second: str, factor: float, metric: str) -> Contrast:
    """One rate less a factor times another: above 0 where their ratio is above the factor."""
    label = f"{metric} of {first} less {factor:g} times {second}, {rows.label}"
    return rows.combined({first: 1.0, second: -factor}, label, metric)


def much_ahead_of_lira(source: Source) -> Outcome:
    """iha-c03."""

    def judge(rows: Rows, parts: int) -> Outcome:
        rates = [_ratio(rows, "IHA (Exact)", "LiRA", 1.25, metric) for metric in (AT_1, AT_01)]
        return every(
            [
                much_better(rows.lead("IHA (Exact)", "LiRA", MAIN), 0.01, parts=parts),
                *(much_better(one, 0.0, parts=parts) for one in rates),
            ]
        )

    return on(source, "iha-tab-2", LARGE, judge, parts=3)


def competitive(source: Source) -> Outcome:
    """iha-c04."""

    def judge(rows: Rows, parts: int) -> Outcome:
        lead = rows.lead("IHA (Exact)", "LiRA", MAIN)
        return much_better(lead, -0.03, margin=0.01, parts=parts)

    return on(source, "iha-tab-2", IMAGES, judge)


def ahead_of_sif(source: Source) -> Outcome:
    """iha-c05."""

    def judge(rows: Rows, parts: int) -> Outcome:
        lead = rows.lead("IHA (Exact)", "SIF", MAIN)
        loss = rows.lead("IHA (Exact)", "LOSS", MAIN)
        return beside(much_better(lead, 0.0, margin=0.01, parts=parts), [loss])

    return on(source, "iha-tab-2", IMAGES | LARGE, judge)


def mostly_parameters(source: Source) -> Outcome:
    """iha-c07: part b on the images; both parts ask for Purchase-100(S) besides."""

    def judge(rows: Rows, parts: int) -> Outcome:
        weights = {EVERYONE: 1.0, "LOSS": -0.5, "IHA": -0.5}
        label = f"AUC without the knowledge, less half of IHA's margin over LOSS, {rows.label}"
        # Contradicted only where both parts are: one alone leaves the claim open.
        found = much_better(rows.combined(weights, label), 0.0, margin=0.01, parts=parts)
        return beside(untested(_one_target(SMALL, "the L-attack's references")), found.numbers)

    return on(source, "iha-ctl-1", IMAGES, judge)


def solvers_alike(source: Source) -> Outcome:
    """iha-c09."""

    def judge(rows: Rows, parts: int) -> Outcome:
        lead = rows.lead("IHA (CG)", "IHA (Exact)")
        rate = _ratio(rows, "IHA (CG)", "IHA (Exact)", 0.75, AT_1)
        return every([about(lead, 0.01, parts=parts), much_better(rate, 0.0, parts=parts)])

    return on(source, "iha-tab-3", IMAGES | LARGE, judge, parts=2)


def small_terms(source: Source) -> Outcome:
    """iha-c10."""

    def judge(rows: Rows, parts: int) -> Outcome:
        few, whole = "IHA[loss,I1,I2]", "IHA[All]"
        rates = [
            _ratio(rows, few, whole, 0.75, AT_01),
            rows.combined({few: -1.0, whole: 1.25}, "1.25 times all terms less without", AT_01),
        ]
        alike = about(rows.lead(few, whole), 0.01, parts=parts)
        return every([alike, *(much_better(one, 0.0, parts=parts) for one in rates)])

    return on(source, "iha-tab-4", SMALL, judge, parts=3)


def two_terms(source: Source) -> Outcome:
    """iha-c11."""

    def judge(rows: Rows, parts: int) -> Outcome:
        both = rows.combined({"IHA[I1,I2]": 1.0, "IHA[All]": -0.5}, "share")
        share = both.minus(0.25, f"AUC of I1 and I2 less half of all terms' gain, {rows.label}")
        return every(
            [
                much_better(share, 0.0, parts=parts),
                much_better(rows.lead("IHA[I2]", "IHA[I1]"), 0.0, parts=parts),
            ]
        )

    return on(source, "iha-tab-4", SMALL, judge, parts=2)


def all_records(source: Source) -> Outcome:
    """iha-c12."""

    def judge(rows: Rows, parts: int) -> Outcome:
        auc = {
            fraction: rows.one(attack="as the appendix describes", fraction=fraction)
            for fraction in (1.0, 0.9, 0.2)
        }
        found = []
        for more, fewer in ((1.0, 0.9), (0.9, 0.2)):
            a, b = auc[more], auc[fewer]
            gap = Contrast(
                f"AUC with {more:.0%} known less {fewer:.0%}, {rows.label}",
                a.difference - b.difference,
                a.standard_error + b.standard_error,
                min(a.degrees_of_freedom, b.degrees_of_freedom),
                a.units,
            )
            found.append(much_better(gap, 0.01, parts=parts))
        return every(found)

    return on(source, "iha-tab-9", SMALL, judge, parts=2)


def best_damping(source: Source) -> Outcome:
    """iha-c15."""
    others = [name for name in tables.CONDITIONINGS if name != BEST]

    def judge(rows: Rows, parts: int) -> Outcome:
        return every([much_better(rows.lead(BEST, name), 0.0, parts=parts) for name in others])

    return on(source, "iha-tab-8", IMAGES, judge, parts=len(others))


def deeper_damping(source: Source) -> Outcome:
    """iha-c16."""

    def judge(rows: Rows, parts: int) -> Outcome:
        more, less = "IHA (CG) eps=5e-1", "IHA (CG) eps=2e-1"
        rate = _ratio(rows, more, "LiRA", 1.0, AT_01)
        return every(
            [
                much_better(rows.lead(more, less), 0.01, parts=parts),
                much_better(rate, 0.0, parts=parts),
            ]
        )

    return on(source, "iha-tab-7", DEEP, judge, parts=2)


def more_data(source: Source) -> Outcome:
    """iha-c17."""
    attacks = ("LOSS", "LiRA", "IHA (Ours)")
    kept: dict[str, list[Contrast]] = {}

    def keep(rows: Rows, parts: int) -> Outcome:
        kept[rows.label] = [rows.one(attack=name) for name in attacks]
        return Outcome("supported")

    found = on(source, "iha-tab-7", SMALL | LARGE, keep)
    if found.word != "supported":
        return found
    small, large = kept.values()
    gaps = [
        a.less(b, f"AUC of {name}, fewer less more records")
        for name, a, b in zip(attacks, small, large, strict=True)
    ]
    return every([much_better(one, 0.01, parts=3) for one in gaps]).on(*found.datasets)


def loss_term(source: Source) -> Outcome:
    """iha-c18: within (0, .02), that is within .01 of .01."""

    def judge(rows: Rows, parts: int) -> Outcome:
        gain = rows.lead("IHA[loss,I1,I2]", "IHA[I1,I2]")
        return about(gain.minus(0.01, f"{gain.label}, less 0.01"), 0.01, parts=parts)

    return on(source, "iha-tab-4", SMALL, judge)


def leave_one_out(source: Source) -> Outcome:
    """iha-c06, iha-c08, iha-c13: one model of the paper's size with its own references."""
    setup = source.table("iha-ctl-8").attrs["setup"]
    sizes = "; ".join(
        f"{label} with {facts['members']} records a model and {facts['queried_members']} left out"
        for label, facts in setup.items()
    )
    return untested(f"{_one_target(SMALL, 'each attack')}; this run has {sizes}")


def cheaper(source: Source) -> Outcome:
    """iha-c14."""
    table = source.table("iha-tab-6")
    found = table[table["metric"] == "time for 1000 samples, ratio to IHA"]
    ratio = float(found.set_index("attack")["value"]["LiRA"])
    said = "asks for three timings of a network of 22,532 parameters on 80,000 records, one idle"
    one = f"machine; here one timing of a small one, where LiRA took {ratio:.2g} times as long"
    return untested(f"{said} {one}")


def more_than_the_loss(source: Source) -> Outcome:
    """iha-c01: above .01 in some setting; contradicted below 0 in every one."""
    found = _retrained(source, retrained.LEAD)
    above = exists(None, found, 0.01)
    below = exists(None, found, 0.0)
    if above.word == SUPPORTED or below.word == CONTRADICTED:
        return above if above.word == SUPPORTED else below
    return replace(above, word=UNDECIDED, reason="nowhere above 0.01, not everywhere below 0")


def another_law(source: Source) -> Outcome:
    """iha-c02."""
    found = _retrained(source, retrained.GAIN)
    return every([much_better(one, 0.0, parts=len(found)) for one in found])


def _retrained(source: Source, metric: str) -> list[Contrast]:
    """One contrast over records a setting."""
    table = source.table("iha-ctl-9")
    fewest = int(table["retrainings"].min())
    if fewest < LEAST_RETRAININGS:
        raise InputError(f"asks for {LEAST_RETRAININGS:,} retrainings a record; here {fewest:,}")
    return [
        number(table, f"{metric}, {case}", case=case, metric=metric)
        for case in table["case"].unique()
    ]


def _one_target(wanted: dict[str, int], what: str) -> str:
    ((name, members),) = wanted.items()
    return (
        f"{what}: asks for {name}, {members:,} records a model, 500 of them left out with 100 "
        "models each"
    )
