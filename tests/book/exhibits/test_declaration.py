import dataclasses
import importlib

import pandas as pd
import pytest

from membership.book import published
from membership.book.exhibits import Exhibit, declaration, declared, listing
from membership.book.exhibits.homes import chapter_of
from tests.book.exhibits.papers import of_the_papers


def make(**changed):
    given = {"id": "gmip-tab-1", "label": "Table 1", "content": "c", "question": "Why?"}
    return Exhibit(**{**given, "compute": lambda source: None, **changed})


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"id": "gmip_tab_1"}, "write <chapter>"),
        ({"id": "gmip-table-1"}, "write <chapter>"),
        ({"label": ""}, "the paper's label"),
        ({"question": "Because."}, "ends in no"),
        ({"draw": print}, "say in alt"),
    ],
)
def test_a_declaration_that_lacks_something_is_refused(changed, what):
    with pytest.raises(ValueError, match=what):
        make(**changed)


def test_chapter_and_kind_are_read_off_the_id():
    exhibit = make(id="bayes-optimal-ctl-10", label="")
    assert (exhibit.chapter, exhibit.kind) == ("bayes_optimal", "control")
    assert chapter_of("nonsense") == ""


@pytest.mark.parametrize("label", ["", "Control 1"])
def test_controls_are_numbered_as_their_ids_are(label):
    assert make(id="bayes-optimal-ctl-10", label=label).label == "Control 10"


def test_an_id_twice_or_of_another_chapter_is_refused(monkeypatch, toy):
    toy.install(monkeypatch, (*toy.EXHIBITS, toy.EXHIBITS[0]))
    with pytest.raises(ValueError, match=r"gmip-tab-1 in gmip.*twice"):
        declared("gmip")
    toy.install(monkeypatch, (make(id="iha-tab-1"),))
    with pytest.raises(ValueError, match="another chapter"):
        declared("gmip")


@pytest.mark.parametrize("chapter", published.subjects)
def test_the_list_of_exhibits_is_that_of_the_declarations(chapter):
    fields = ("chapter", "id", "label", "kind", "content")
    expected = [{name: getattr(one, name) for name in fields} for one in declared(chapter)]
    assert listing.listed(chapter) == expected


@pytest.mark.parametrize("chapter", published.papers)
def test_every_exhibit_of_the_paper_is_declared_as_the_paper_labels_it(chapter):
    own = [one for one in declared(chapter) if one.kind != "control"]
    listed = of_the_papers(chapter)
    assert {one.id: (one.label, one.kind) for one in own} == {
        row.id: (row.label, row.kind) for row in listed.itertuples()
    }
    assert len(of_the_papers()) >= 48


def test_a_broken_declaration_is_not_taken_for_a_missing_one(monkeypatch):
    def broken(path):
        raise ModuleNotFoundError("No module named 'some_library'", name="some_library")

    assert declared("no_such_chapter") == ()
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError):
        declared("gmip")


def test_evidence_may_depend_on_the_settings():
    asked = make(needs=lambda settings: (f"outputs-{settings}",))
    assert asked.evidence("digits") == ("outputs-digits",)
    assert dataclasses.replace(asked, needs=("a", "b")).evidence(None) == ("a", "b")


class _Run:
    """A source of evidence that is its own name."""

    settings = 3

    def evidence(self, name):
        return name

    def made(self, make):
        return make(self)


def test_a_function_is_given_what_its_exhibit_reads_and_the_settings_last(monkeypatch):
    words = {"gmip-ctl-1": {"label": "", "content": "c", "question": "Why?", "alt": "A. {says}"}}
    monkeypatch.setattr(declaration, "words_of", lambda chapter: words)
    exhibit = declaration.exhibits_of(
        "membership.book.studies.gmip", about=lambda *read, **more: more
    )
    table = pd.DataFrame({"value": [1.0]})
    table.attrs["note"] = "n"
    given = []

    def function(*arguments):
        given.extend(arguments)
        return table

    def several(settings):
        return [f"b-{i}" for i in range(settings)]

    made = declaration.Reading(several, lambda source: source.settings + 1)
    found = exhibit("ctl-1", function, "a", several, made, settings=True, says=lambda t: "Said.")
    assert found.id == "gmip-ctl-1"
    assert found.evidence(2) == ("a", "b-0", "b-1")
    assert found.compute(_Run()).attrs == {"note": "n"}
    assert given == ["a", ["b-0", "b-1", "b-2"], 4, 3]
    assert found.described(table) == "A. Said."
    whole = exhibit(
        "ctl-1", lambda source: given.append(source) or table, declaration.Reading(several)
    )
    whole.compute(run := _Run())
    assert given[-1] is run
