"""Declared tests against the rules that they stand for, called by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from membership.book.published import Contrast, Share, claim_rules, declared_tests, outcomes
from membership.book.published.contrasts import Correlation, Dependent
from membership.book.published.outcomes import every, overall
from membership.book.published.rows import number, total
from membership.errors import InputError

ROWS = [
    ("MNIST", "IHA", 1.0, 0.72, 0.01),
    ("MNIST", "LiRA", 1.0, 0.65, 0.02),
    ("MNIST", "LOSS", 1.0, 0.5, 0.0),
    ("Adult", "IHA", 1.0, 0.61, 0.01),
    ("Adult", "LiRA", 1.0, 0.66, 0.02),
    ("Adult", "LOSS", 1.0, 0.5, 0.0),
    ("MNIST", "IHA", 0.5, 0.58, 0.01),
]
COLUMNS = ["dataset", "attack", "share", "value", "standard_error"]
IHA, LIRA, LOSS = "IHA", "LiRA", "LOSS"


@pytest.fixture
def source():
    table = pd.DataFrame(ROWS, columns=COLUMNS).assign(n_repeats=5)
    table.attrs = {"sizes": {"Targets": "5 (paper: 10)", "Records": "1,200"}}
    other = table.assign(value=table["value"] / 2)
    return SimpleNamespace(table=lambda name: {"tab": table, "other": other}[name])


@pytest.fixture
def row(source):
    """A row of the whole share as a contrast."""

    def at(attack, dataset="MNIST", label="", table="tab"):
        return number(source.table(table), label, dataset=dataset, attack=attack, share=1.0)

    return at


def outcome(source, terms=None, **declared):
    return declared_tests.read("c01", {"table": "tab", **declared}, terms or {}).outcome(source)


LEAD = {"iha": {"attack": IHA}, "lira": {"attack": LIRA}}
WHOLE = {"share": 1.0}
ON_MNIST = {"where": {**WHOLE, "dataset": "MNIST"}, "on": ["MNIST"], "label": "lead"}


@pytest.mark.parametrize(
    ("holds", "rule", "asked"),
    [
        ("iha - lira > 0.01", claim_rules.much_better, 0.01),
        ("iha - lira better 0.01", claim_rules.better, 0.01),
        ("iha - lira within 0.2", claim_rules.about, 0.2),
        ("iha - lira < -0.01", None, None),
        ("iha - lira < 0.3", claim_rules.chance, 0.3),
        ("iha - lira within exact(lira) / 4", claim_rules.about, 0.1625),
    ],
)
def test_a_word_is_its_rule(source, row, holds, rule, asked):
    if rule is None:  # a margin is 0 or more, as the rule says itself
        with pytest.raises(ValueError, match="margin is"):
            outcome(source, rows=LEAD, holds=holds, **ON_MNIST)
        return
    expected = rule(row(IHA).less(row(LIRA), "lead"), asked).on("MNIST")
    assert outcome(source, rows=LEAD, holds=holds, **ON_MNIST) == expected


def test_a_part_is_repeated_on_the_rows_that_there_are(source, row):
    found = outcome(
        *(source,),
        where={**WHOLE, "attack": [IHA, LIRA]},
        every=["dataset", "attack"],
        on=["{dataset} ({Targets} targets)"],
        label="AUC of {attack}, {dataset}",
        holds="row > 0.5",
    )
    cells = [(d, a) for d in ("MNIST", "Adult") for a in (IHA, LIRA)]
    parts = [claim_rules.much_better(row(a, d, f"AUC of {a}, {d}"), 0.5, parts=4) for d, a in cells]
    on = (f"{name} (5 (paper: 10) targets)" for name in ("MNIST", "Adult"))
    assert found == every(parts).on(*on)


def test_rows_of_further_exhibits_are_rows(source):
    declared = {"where": {**WHOLE, "attack": IHA}, "every": ["dataset"], "holds": "row > 0.5"}
    declared |= {"on": ["both"], "label": "AUC, {dataset}"}
    tables = {"first": "tab", "more": "other"}
    apart = SimpleNamespace(
        table=lambda name: source.table(tables[name]).query(
            f"dataset == '{'MNIST' if name == 'first' else 'Adult'}'"
        )
    )
    found = outcome(apart, **declared, table="first", further=["more"])
    values = [number.difference for number in found.numbers]
    assert values == pytest.approx([0.72, 0.61 / 2])
    assert declared_tests.read(
        "c01", {**declared, "table": "a", "further": ["b"]}, {}
    ).exhibits == (*("a", "b"),)


def test_given_values_choose_rows_and_are_numbers(source, row):
    found = outcome(
        *(source,),
        where={"dataset": "MNIST"},
        each={"share": [1.0, 0.5], "margin": [1, 2]},
        on=["MNIST"],
        row={"attack": IHA},
        label="AUC at {share:g}, {margin}",
        holds="row - share / 2 within margin / 10",
    )
    table, parts = source.table("tab"), []
    for share in (1.0, 0.5):
        for margin in (1, 2):
            one = number(table, dataset="MNIST", attack=IHA, share=share)
            one = one.minus(share / 2, f"AUC at {share:g}, {margin}")
            parts.append(claim_rules.about(one, margin / 10, parts=4))
    assert found == every(parts).on("MNIST")


def test_parts_have_rows_labels_and_tables_of_their_own(source, row):
    parts = [
        {"label": "lead", "holds": "iha - lira > 0", "rows": LEAD},
        {
            "label": "half",
            "holds": "row within 0.5",
            "row": {"attack": LOSS, "dataset": "MNIST", **WHOLE},
            "table": "other",
        },
    ]
    where = {"dataset": "MNIST", **WHOLE}
    test = declared_tests.read("c01", {"table": "tab", "where": where, "parts": parts}, {})
    assert test.exhibits == ("tab", "other")
    lead, half = row(IHA).less(row(LIRA), "lead"), row(LOSS, label="half", table="other")
    expected = every(
        [claim_rules.much_better(lead, 0.0, parts=2), claim_rules.about(half, 0.5, parts=2)]
    )
    assert test.outcome(source) == expected


@pytest.mark.parametrize("always", [False, True])
def test_each_data_set_has_an_outcome_of_its_own(source, row, always):
    terms = {"paper": ["MNIST"], "simulated": [], "on": ["{over}, {Seeds}", "{over}, {Records}"]}
    found = outcome(
        *(source, terms),
        where=WHOLE,
        over="dataset",
        always=always,
        rows=LEAD,
        label="lead, {dataset}",
        holds="iha - lira > 0",
    )
    each = {}
    for name in ("MNIST", "Adult"):
        lead = row(IHA, name).less(row(LIRA, name), f"lead, {name}")
        one = claim_rules.much_better(lead, 0.0, parts=2 if always else 1)
        each[name] = one.on(f"{name}, 1,200")
    assert found == overall(each, ["MNIST"], always=always)
    assert found.datasets == ("MNIST, 1,200", "Adult, 1,200")


def test_simulated_data_decide_nothing(source):
    asked = {"where": {**WHOLE, "attack": IHA}, "over": "dataset", "label": "AUC"}
    asked["holds"] = "row > 0.5"
    terms = {"simulated": ["MNIST", "Adult"]}
    assert outcome(source, terms, **asked).word == outcomes.NOT_TESTED
    found = outcome(source, {"paper": ["Adult"]}, **asked)
    assert (found.word, found.datasets) == (outcomes.SUPPORTED, ("MNIST", "Adult"))


@pytest.mark.parametrize(
    ("holds", "word"),
    [
        ("row - 0.5 zero 1e-9", outcomes.SUPPORTED),
        ("row zero 1e-9", outcomes.UNDECIDED),
        ("row zero 0", outcomes.CONTRADICTED),
    ],
)
def test_what_is_to_be_zero_is_so_in_every_row(source, holds, word):
    asked = {"where": {**WHOLE, "attack": LOSS}, "every": ["dataset"]}
    found = outcome(source, label="error", holds=holds, **asked)
    assert (found.word, found.datasets) == (word, ("MNIST", "Adult"))
    assert word != outcomes.SUPPORTED or found.reason == "in all of 2 cases"


def test_what_is_exact_needs_no_confirmation(source):
    asked = {"where": {**WHOLE, "attack": LOSS}, "every": ["dataset"], "label": "error"}
    found = outcome(source, **asked, holds="row zero 1e-9", exact=True)
    assert found.word == outcomes.CONTRADICTED


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        ("share", {"value": 75.0, "n": 8}, Share.count(6, 8, "x", 0.5)),
        ("correlation", {"value": 0.9, "n": 39}, Correlation.over(0.9, 39, "x").minus(0.5)),
        ("mean", {"value": 0.9, "n": 39, "standard_error": 0.1}, Contrast("x", 0.4, 0.1, units=39)),
    ],
)
def test_a_row_has_the_interval_of_its_kind(kind, row, expected):
    run = SimpleNamespace(table=lambda _: pd.DataFrame([row]))
    (number,) = outcome(run, label="x", holds="row - 0.5 > 0", kind=kind).numbers
    assert type(number) is type(expected)
    assert number.interval() == pytest.approx(expected.interval())
    assert number.units == expected.units


def test_of_many_parts_those_nearest_to_failing_are_shown(source):
    asked = {"where": WHOLE, "every": ["dataset", "attack"], "label": "{attack}, {dataset}"}
    whole = outcome(source, **asked, holds="row > 0.5")
    few = outcome(source, {"shown": 1}, **asked, holds="row > 0.4")
    assert len(whole.numbers) == 6
    assert [number.label for number in few.numbers] == ["LOSS, MNIST"]


def test_a_run_that_is_too_small_is_not_tested(source):
    asked = {**ON_MNIST, "rows": LEAD, "holds": "iha - lira > 0"}
    assert outcome(source, **asked, least={"Targets": 5, "Records": 1200}).word != "not tested here"
    for least, said in (
        ({"Targets": 10}, "it takes 10 targets; there are 5"),
        ({"Records": 2000}, "it takes 2,000 records; there are 1,200"),
        ({"Seeds": 1}, "it takes 1 seeds; there are 0"),
    ):
        with pytest.raises(InputError, match=said):
            outcome(source, **asked, least=least)
    with pytest.raises(InputError, match="no numbers for"):
        outcome(source, **{**asked, "where": {"dataset": "CIFAR"}})
    with pytest.raises(InputError, match="singles out 3 rows"):
        outcome(source, **{**ON_MNIST, "holds": "row > 0"})


WRONG = [
    ({"tabel": "tab"}, "tabel: Extra inputs are not permitted"),
    ({"rwo": {"attack": IHA}}, "rwo: Extra inputs"),
    ({"holds": "row >= 0"}, "parts.0.holds: .*'row >= 0' takes one of the words >, <, within"),
    ({"holds": "row > 0 < 1"}, "takes one of the words"),
    ({"holds": "rows > 0"}, "'rows' is no row; there are row"),
    ({"rows": LEAD}, "'row' is no row; there are iha, lira"),
    ({"holds": "row > margin"}, "'margin' is no row; there are row"),
    ({"holds": "row > row / 4"}, r"'row / 4' is no number; take exact\(row\)"),
    ({"holds": "row * row > 0"}, "a test multiplies rows by numbers"),
    ({"holds": "row ** 2 > 0"}, r"'row \*\* 2': a test adds rows, each times a number"),
    ({"holds": "row.value > 0"}, "'row.value': a test adds rows"),
    ({"holds": "open('x') > 0"}, "a test adds rows"),
    ({"holds": "row - > 0"}, "'row -' is no sum of rows"),
    ({"holds": "row > 'a'"}, "a test adds rows"),
    ({"label": None}, "parts.0.label: Input should be a valid string"),
    ({"over": 3}, "over: Input should be a valid string"),
    ({"parts": [{"label": "x", "holds": "row zero 0"}] * 2}, "stands alone"),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
def test_a_wrong_declaration_is_one_error_that_names_the_claim(change, said):
    alone = {"label": "AUC", "holds": "row > 0"} if "parts" not in change else {}
    with pytest.raises(ValueError, match=f"^claim iha-c01: .*{said}") as refused:
        declared_tests.read("iha-c01", {"table": "tab", **alone, **change}, {})
    assert "\n" not in str(refused.value)


def test_parts_and_one_part_exclude_each_other():
    part = {"label": "x", "holds": "row > 0"}
    with pytest.raises(ValueError, match="iha-c01"):
        declared_tests.read("iha-c01", {"table": "tab", "parts": [part], "label": "y"}, {})


A, B = Contrast("a", 3.0, 0.4, 7.0, 8), Contrast("b", 2.0, 0.3, 9.0, 10)
OF_A_ROW = ("difference", "standard_error", "degrees_of_freedom", "units")
SUMS = [
    ("a - b", A.less(B)),
    ("a + b", A.less(B.scaled(-1.0))),
    ("a - 2 * b", A.less(B.scaled(2.0))),
    ("a - exact(b)", A.minus(2.0)),
    ("-a", A.scaled(-1.0)),
    ("a / 4 + 1", A.scaled(0.25).minus(-1.0)),
    ("1 - a", A.scaled(-1.0).minus(-1.0)),
    ("0.5 * (a - 1)", A.minus(1.0).scaled(0.5)),
    ("exact(a - b) / 2", 0.5),
    ("n / 4 - 2 * 3", -5.0),
    ("log(1.25)", np.log(1.25)),
]


@pytest.mark.parametrize(("text", "expected"), SUMS)
def test_a_sum_of_rows(text, expected):
    found = total(text, {"a": A, "b": B, "n": 4})
    if not isinstance(expected, Contrast):
        assert found == expected
        return
    for name in OF_A_ROW:
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name


def test_of_dependent_rows_the_errors_are_added():
    a, b = (Dependent(row.label, *[getattr(row, name) for name in OF_A_ROW]) for row in (A, B))
    found = total("a - 0.5 * b - 1", {"a": a, "b": b})
    assert found.difference == pytest.approx(3.0 - 0.5 * 2.0 - 1.0)
    assert found.standard_error == pytest.approx(0.4 + 0.5 * 0.3)
    assert (found.degrees_of_freedom, found.units) == (7.0, 8)
    assert total("-a", {"a": a}).standard_error == a.standard_error
    assert found.standard_error > total("a - 0.5 * b", {"a": A, "b": B}).standard_error


@pytest.mark.parametrize("text", ["a * b", "a / b", "1 / a"])
def test_rows_are_only_added(text):
    with pytest.raises(ValueError, match="multiplies rows by numbers"):
        total(text, {"a": A, "b": B})
