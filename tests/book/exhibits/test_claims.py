import dataclasses

import pytest

from membership.book import exhibits
from membership.book.exhibits import chapter as room
from membership.book.exhibits import claims, provenance
from membership.book.published import Claim, Contrast
from membership.book.published.claim_rules import about, better, bound
from membership.errors import InputError


def gain(source):
    """IHA less LOSS on Moons: 0.21 at first."""
    table = source.table("gmip-tab-1").set_index(["dataset", "attack"])["value"]
    return Contrast(
        "AUC, IHA less LOSS, Moons", table["Moons", "IHA"] - table["Moons", "LOSS"], 0.01, 9
    )


CLAIMS = (
    Claim(
        *("gmip-c01", "IHA <beats> LOSS", "4.2", "The AUC is higher.", ("gmip-tab-1",)),
        test=lambda source: better(gain(source), 0.01).on("Moons (5 models)"),
        changed="the margin was not stated",
    ),
    Claim(
        *("gmip-c02", "They are alike", "4.3", "Within 0.01.", ()),
        test=lambda source: about(gain(source), 0.01),
    ),
    Claim(
        *("gmip-c03", "It is seen", "", "Evidence decides.", ("gmip-ctl-2",)),
        test=lambda source: better(source.evidence("outputs"), 0.01),
        origin="ours",
    ),
)


@pytest.fixture
def open_chapter(toy, settings, results, monkeypatch):
    """Open the made-up chapter under a profile; its claims are `CLAIMS`."""
    toy.install(monkeypatch, claims={"CLAIMS": CLAIMS})

    class Made(type(settings)):
        @classmethod
        def from_values(cls, values):
            return dataclasses.replace(settings, chapter="gmip", profile=values["profile"])

    def made(profile):
        given = dataclasses.asdict(settings) | {"chapter": "gmip", "profile": profile}
        return exhibits.open_chapter(Made(**given))

    return made


def found(chapter, toy, own=True):
    told = room.claims_of("gmip")
    declared = exhibits.declared("gmip")
    paper = type(chapter.settings).from_values({"profile": "paper"})
    committed = room.Committed(paper, declared)
    return claims.rows(told, declared, committed, chapter.source if own else None)


def test_claims_are_tested_at_paper_size_and_on_this_run(open_chapter, toy, monkeypatch):
    chapter = open_chapter("quick")
    first = found(chapter, toy)
    assert [row.outcome.word for row in first] == ["not tested here"] * 3
    assert "gmip-tab-1 has no paper run" in first[0].outcome.reason
    assert [row.own.word for row in first] == ["supported", "contradicted", "not tested here"]
    open_chapter("paper").show("gmip-tab-1")
    assert [row.outcome.word for row in found(chapter, toy)][:2] == ["supported", "contradicted"]


def test_an_outcome_flips_when_the_numbers_do(open_chapter, toy, monkeypatch):
    swapped = toy.table().assign(value=[0.62, 0.51, 0.71, 0.5])
    monkeypatch.setattr(toy, "table", lambda: swapped)
    assert found(open_chapter("quick"), toy)[0].own.word == "contradicted"


def test_the_table_has_both_groups_every_word_and_escapes(open_chapter, toy, read):
    open_chapter("paper").show("gmip-tab-1")
    rows = found(open_chapter("quick"), toy)
    reader = read(claims.html("gmip", rows, exhibits.declared("gmip")))
    text = " ".join(reader.text.split())
    assert text.index("The paper's") < text.index("IHA <beats> LOSS")
    assert "The paper's claims 1 supported 1 contradicted" in text
    assert "This book's claims 1 not tested here" in text
    assert "1 agree 1 compatible 1 differ" in text
    assert "+0.21 [+0.19, +0.23]" in text
    assert "Changed: the margin was not stated" in text
    assert "Moons (5 models)" in text
    assert {"href": "gmip.html#gmip-tab-1"} in reader.having("a")  # the table is on the details
    assert not {"script", "style", "beats"} & {tag for tag, _ in reader.tags}


def test_what_no_run_tests_stands_in_a_fold_below_the_table(open_chapter, toy, read):
    open_chapter("paper").show("gmip-tab-1")
    rows = found(open_chapter("quick"), toy)
    reader = read(claims.html("gmip", rows, exhibits.declared("gmip")))
    tested, untested = ([row[0] for row in table if len(row) > 2] for table in reader.tables)
    assert [len(tested), len(untested)] == [1 + 2, 1 + 1]
    assert "They are alike" in tested[-1]
    assert "It is seen" in untested[-1]
    assert "1 more claim that is not tested here" in " ".join(reader.text.split())


def test_lanes_leave_out_what_their_labels_share():
    labels = ["TPR, A less B, MNIST", "TPR, A less C, MNIST", "TPR, A less B, 5 steps, MNIST"]
    assert claims._shared(labels) == ("TPR, MNIST", ["A less B", "A less C", "A less B, 5 steps"])
    for told in (["TPR, A"], ["TPR, A", "TPR, A"], ["TPR, A", "TPR"], ["A, MNIST", "B, MNIST"]):
        assert claims._shared(told) == ("", told)


def test_without_a_run_of_ones_own_there_is_no_column_for_it(open_chapter, toy, read):
    rows = found(open_chapter("quick"), toy, own=False)
    assert "Quick run" not in read(claims.html("gmip", rows, exhibits.declared("gmip"))).text


def test_what_speaks_for_a_claim_is_drawn_on_the_right():
    for sure, rule, right in (
        (Contrast("a", 0.2, 0.01, 9), lambda one: better(one, 0.01), True),
        (Contrast("a", -0.2, 0.01, 9), lambda one: better(one, 0.01), False),
        (Contrast("a", -0.2, 0.01, 9), lambda one: bound([one], 0.01), True),
    ):
        (number,) = rule(sure).numbers
        lane = claims._lane(number, "", claims._reach(number), "undecided")
        assert (lane.point > 50) is right
        assert lane.word == ("supported" if right else "contradicted")
        assert lane.ends[0] < lane.point < lane.ends[1]
        assert 0 <= lane.ends[0] < lane.ends[1] <= 100


def test_a_claim_of_likeness_is_drawn_in_its_band():
    (number,) = about(Contrast("a", 0.001, 0.0005, 9), 0.01).numbers
    lane = claims._lane(number, "", claims._reach(number), "contradicted")
    assert lane.word == "supported"
    assert lane.band[0] < lane.ends[0] < lane.ends[1] < lane.band[1]
    (wide,) = about(Contrast("a", 0.001, 0.01, 9), 0.01).numbers
    assert claims._lane(wide, "", claims._reach(wide), "contradicted").word == "undecided"
    for apart in (0.05, -0.05):
        (far,) = about(Contrast("a", apart, 0.0005, 9), 0.01).numbers
        assert claims._lane(far, "", claims._reach(far), "supported").word == "contradicted"
    # Of an identity no side is claimed.
    assert claims._lane(Contrast("a", 1.0), "a", 1.0, "contradicted").word == "contradicted"


@pytest.mark.parametrize(
    ("number", "value", "sure"),
    [
        (Contrast("a", 0.0), "0", "(computed, no sampling)"),
        (Contrast("a", 0.25), "+0.25", "(computed, no sampling)"),
        (Contrast("a", 0.25, is_limit=True), "+0.25", "(itself an interval's end)"),
        (Contrast("a", 0.0, units=12), "0", "(the same in each of 12 games)"),
        (Contrast("a", 1e-6, 0.001, 9, 10), "0.000", "[-0.002, +0.002]"),
        (Contrast("a", -1e-6, 0.001, 9, 10), "0.000", "[-0.002, +0.002]"),
        (Contrast("a", -0.2, 0.01, 9, 10), "-0.20", "[-0.22, -0.18]"),
    ],
)
def test_a_number_says_how_sure_it_is_and_a_zero_has_no_sign(number, value, sure):
    lane = claims._lane(number, "", 1.0, "undecided", "games")
    minus = "\N{MINUS SIGN}"
    assert (lane.value, lane.sure) == (value.replace("-", minus), sure.replace("-", minus))


def test_a_notebook_sees_the_table_and_a_chapter_without_claims_says_so(
    open_chapter, toy, monkeypatch
):
    shown = []
    monkeypatch.setattr(provenance, "in_notebook", lambda: True)
    monkeypatch.setattr(room, "_display", lambda *forms: shown.append(forms))
    chapter = open_chapter("quick")
    chapter.claims()
    assert 'id="gmip-claims"' in shown[0][0]
    assert "gmip-c03: not tested here" in shown[0][1]
    assert shown[0][2].count("<tr><td>") == shown[0][1].count("\n") + 1
    assert "<svg" not in shown[0][2]
    toy.install(monkeypatch)
    with pytest.raises(InputError, match="declares no claims"):
        chapter.claims()


def test_a_claim_that_no_run_decides_says_so_in_the_place_of_a_number_of_units():
    wide = Contrast("d", 0.005, 0.01, 9, 10)
    said = ("gmip-c09", "It is more.", "", "Above 0.", ())
    for closed, hint in (("", "314 repeats would decide it"), ("by law", "no run of any size")):
        claim = Claim(*said, test=lambda source: better(wide, 0.01), closed=closed)
        table = claims.html("gmip", claims.rows((claim,), (), None, None), ())
        assert hint in table
        assert table.count("would decide it") == 1
