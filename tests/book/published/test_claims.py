from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest

from membership.book.published import Claim, Contrast, claim_rules, claims
from membership.book.published.outcomes import untested
from membership.errors import InputError


def source(first, second):
    table = pd.DataFrame({"attack": ["IHA", "LiRA"], "value": [first, second]})
    return SimpleNamespace(table=lambda exhibit: {"iha-tab-2": table}[exhibit])


def iha_leads(run):
    value = run.table("iha-tab-2").set_index("attack")["value"]
    lead = Contrast("AUC, IHA less LiRA", value["IHA"] - value["LiRA"], 0.01, units=5)
    return claim_rules.better(lead, 0.01).on("MNIST-Odd (5 targets)")


CLAIM = Claim("iha-c04", "IHA is better", "4.2", "AUC differs.", ("iha-tab-2",), iha_leads)


def only(table):
    assert len(table) == 1
    return table.iloc[0]


def test_a_row_says_what_was_found():
    row = only(claims.table([CLAIM], source(0.65, 0.6)))
    assert list(row.index) == list(claims.COLUMNS)
    assert (row["claim"], row["outcome"], row["exhibits"]) == ("iha-c04", "supported", "iha-tab-2")
    assert row["numbers"] == "AUC, IHA less LiRA: +0.05 [+0.0304, +0.0696], claimed > 0"
    assert (row["difference"], row["low"]) == pytest.approx((0.05, 0.0304), abs=1e-4)
    assert row["data"] == "MNIST-Odd (5 targets)"
    assert pd.isna(row["units needed"])


def test_it_flips_when_the_numbers_flip():
    assert only(claims.table([CLAIM], source(0.6, 0.65)))["outcome"] == "contradicted"
    row = only(claims.table([CLAIM], source(0.6, 0.6)))
    assert (row["outcome"], row["units needed"]) == ("undecided", 40)
    assert row["former outcome"] == row["former test"] == ""


def iha_leads_by_much(run):
    return claim_rules.much_better(iha_leads(run).numbers[0], 0.04).on("MNIST-Odd (5 targets)")


def test_a_former_test_is_shown_with_its_outcome():
    both = {**vars(CLAIM), "former": iha_leads, "test": iha_leads_by_much}
    told = {"changed": "The margin was 0.", "former_statement": "Above 0."}
    row = only(claims.table([Claim(**both | told)], source(0.63, 0.6)))
    assert (row["outcome"], row["former outcome"]) == ("undecided", "supported")
    assert row["former test"] == "Above 0."
    with pytest.raises(ValueError, match="lacks changed"):
        Claim(**both)
    listed = {
        "id": "x-c01",
        "quote": "q",
        "section": "1",
        "statement": "s",
        "former_statement": "t",
    }
    listed |= {"test": "iha_leads_by_much", "changed": "why"}
    assert claims._read(listed | {"former": "iha_leads"}, {}, globals(), {}).former is iha_leads
    with pytest.raises(ValueError, match="former 'imagined'"):
        claims._read(listed | {"former": "imagined"}, {}, globals(), {})


def test_what_a_run_lacks_is_not_tested():
    def lacking(run):
        raise InputError("evidence 'white_box' is not in this run")

    row = only(claims.table([Claim("c", "q", "s", "t", (), lacking)], None))
    assert (row["outcome"], row["reason"]) == (
        "not tested here",
        "evidence 'white_box' is not in this run",
    )
    assert pd.isna(row["difference"])
    said = Claim("c", "q", "s", "t", (), lambda run: untested("needs ImageNet"))
    assert only(claims.table([said], None))["reason"] == "needs ImageNet"


def test_a_mistake_in_a_test_is_no_outcome():
    broken = Claim("c", "q", "s", "t", (), lambda run: run.table("none"))
    with pytest.raises(KeyError):
        claims.table([broken], source(1, 2))


def test_no_claims_are_an_empty_table():
    assert list(claims.table([], None).columns) == list(claims.COLUMNS)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"id": ""}, "lacks id"), ({"quote": ""}, "lacks quote"), ({"origin": "us"}, "origin 'us'")],
)
def test_a_claim_is_complete(change, message):
    with pytest.raises(ValueError, match=message):
        Claim(**{**vars(CLAIM), **change})


@pytest.mark.parametrize("function", [None, "imagined"])
def test_a_listed_claim_names_a_test_that_there_is(function):
    listed = {"id": "x-c01", "quote": "q", "section": "1", "statement": "s"}
    with pytest.raises(ValueError, match="x-c01: test"):
        claims._read(listed | ({"test": function} if function else {}), {}, vars(claims), {})


def test_a_listed_claim_says_what_it_takes_in_shared_words():
    listed = {"id": "x-c01", "quote": "{q}", "section": "", "statement": "s"}
    found = claims._read(listed | {"untested": "it takes {much}"}, {"much": "a cluster"}, {}, {})
    assert found.outcome(None) == untested("it takes a cluster")
    assert found.quote == "{q}"


def test_a_listed_claim_rests_on_the_tables_that_its_declared_tests_read():
    listed = {"id": "x-c01", "quote": "q", "section": "1", "statement": "s", "changed": "why"}
    listed |= {"former_statement": "t", "exhibits": ["x-tab-3", "x-tab-1"]}
    declared = {"label": "AUC", "holds": "row > 0"}
    tests = {"test": {"table": "x-tab-1"} | declared, "former": {"table": "x-tab-2"} | declared}
    found = claims._read(listed | tests, {}, {}, {})
    assert found.exhibits == ("x-tab-1", "x-tab-2", "x-tab-3")
    with pytest.raises(ValueError, match="claim x-c01: parts: Field required"):
        claims._read(listed | {"test": {"table": "x-tab-1"}}, {}, {}, {})


def test_a_chapters_function_says_what_data_a_declared_test_holds_for():
    test = {"table": "x-tab-1", "label": "a", "holds": "row > 0", "by": "on_these"}
    listed = {"id": "c1", "quote": "A.", "section": "1", "statement": "A."}
    known = {"on_these": lambda test, source: test.at(n=[4]).outcome(source).on("these")}
    table = pd.DataFrame({"n": [4, 6], "value": [1.0, -1.0]})
    run = SimpleNamespace(table=lambda exhibit_id: table)
    found = claims._read(listed | {"test": test}, {}, known, {}).outcome(run)
    assert (found.word, found.datasets) == ("supported", ("these",))
    with pytest.raises(ValueError, match="claim c1: by 'on_these'; name a function"):
        claims._read(listed | {"test": test}, {}, {}, {})


def test_an_id_occurs_once():
    with pytest.raises(ValueError, match="iha-c04 occurs twice"):
        claims.table([CLAIM, CLAIM], source(1, 2))


def test_two_modules_with_a_test_of_one_name_are_refused():
    from membership.book.studies.gmip import claims as own
    from membership.book.studies.gmip import formula_tests

    other = ModuleType("other")
    assert claims.read("gmip", formula_tests, own, other)
    one = claims.read("gmip", formula_tests, own)[0].test
    setattr(other, one.__name__, lambda source: None)
    with pytest.raises(ValueError, match=f"other has another test of these .*{one.__name__}"):
        claims.read("gmip", formula_tests, own, other)
