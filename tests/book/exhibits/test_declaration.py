import dataclasses
import importlib
import sys
import types

import pandas as pd
import pytest

from membership.book import published
from membership.book.exhibits import Exhibit, declaration, declared, declared_words
from membership.book.exhibits.exhibit_pages import chapter_of
from membership.errors import InputError
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


@pytest.mark.parametrize("chapter", published.papers)
def test_every_exhibit_of_the_paper_is_declared_as_the_paper_labels_it(chapter):
    own = [one for one in declared(chapter) if one.kind != "control"]
    listed = of_the_papers(chapter)
    assert {one.id: (one.label, one.kind) for one in own} == {
        row.id: (row.label, row.kind) for row in listed.itertuples()
    }
    assert len(of_the_papers()) >= 48


def test_a_chapter_without_declarations_has_none():
    assert declared("no_such_chapter") == ()


def test_no_module_where_declarations_may_be_is_told_from_a_broken_one(monkeypatch):
    def broken(path):
        raise ModuleNotFoundError("No module named 'some_library'", name="some_library")

    assert declaration.declarations("no_such_chapter", "claims", "CLAIMS") == ()
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError):
        declaration.declarations("gmip", "claims", "CLAIMS")


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


SAID = {"label": "", "content": "c", "question": "Why?", "table": "made_up.table"}


@pytest.fixture
def made_up(monkeypatch):
    """A module of a chapter, with functions that note what they are given."""
    module = types.ModuleType("membership.book.studies.gmip.made_up")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.given = []

    def note(*arguments):
        module.given.append(arguments)
        table = pd.DataFrame({"value": [1.0]})
        table.attrs["note"] = "n"
        return table

    module.table = lambda one, several, both, settings: note(one, several, both, settings)
    module.whole = note
    module.names = lambda settings: [f"b-{i}" for i in range(settings)]
    module.MADE = declaration.Reading(module.names, lambda source: source.settings + 1)
    module.SOURCE = declaration.Reading(module.names)
    module.said = lambda table, end=".": f"Said{end}"
    module.about = lambda *read, **own: {"read": read, **own}
    return module


def test_a_function_is_given_what_its_exhibit_reads_and_the_settings_last(made_up):
    said = {**SAID, "reads": ["a", "made_up.names", "made_up.MADE"], "alt": "A. {says}"}
    said["says"] = {"function": "made_up.said", "end": "!"}
    found = declaration.exhibit("gmip", "gmip-ctl-1", said, "made_up.about")
    assert found.evidence(2) == ("a", "b-0", "b-1")
    read = ("a", "b-0", "b-1", "b-2")
    assert found.compute(_Run()).attrs == {"read": read, "note": "n"}
    assert made_up.given == [("a", ["b-0", "b-1", "b-2"], 4, 3)]
    assert found.described(pd.DataFrame()) == "A. Said!"


def test_a_declaration_that_cannot_be_read_names_its_file_and_exhibit(monkeypatch, made_up):
    faults = {"gmip-ctl-1": {**SAID, "table": "made_up.tabel"}, "gmip-ctl-2": {"question": "Why?"}}
    for exhibit_id, said in faults.items():
        one = {exhibit_id: said}
        monkeypatch.setattr(declaration, "words_of", lambda chapter, one=one: one)
        with pytest.raises(InputError, match=f"gmip/exhibits.toml: {exhibit_id}: .*(tabel|table)"):
            declared("gmip")


def test_a_list_that_is_no_toml_names_its_file_and_line(monkeypatch, tmp_path):
    (tmp_path / "exhibits.toml").write_text("[tab-1]\ntable = \n")
    monkeypatch.setattr(declared_words, "file_of", lambda chapter: tmp_path / "exhibits.toml")
    with pytest.raises(InputError, match=r"exhibits\.toml: .*line 2"):
        declared_words.words_of("no_such_chapter_either")


def test_what_is_made_of_nothing_but_the_source_is_given_it(made_up):
    said = {**SAID, "table": "made_up.whole", "reads": ["made_up.SOURCE"]}
    declaration.exhibit("gmip", "gmip-ctl-1", said).compute(run := _Run())
    assert made_up.given == [(run,)]


@pytest.mark.parametrize(
    ("said", "error", "what"),
    [
        ({"table": "made_up.tabel"}, AttributeError, "no attribute 'tabel'"),
        ({"table": "maid_up.table"}, ModuleNotFoundError, "maid_up"),
        ({"reads": ["a"]}, TypeError, "missing a required argument"),
        ({"reads": ["a", "made_up.nams", "b"]}, AttributeError, "no attribute 'nams'"),
        ({"says": "made_up.sad"}, AttributeError, "no attribute 'sad'"),
        ({"alt": {"function": "made_up.sad"}}, AttributeError, "no attribute 'sad'"),
        ({"judge": "made_up.judge"}, AttributeError, "no attribute 'judge'"),
        ({"captoin": "c"}, TypeError, "unexpected keyword argument 'captoin'"),
    ],
)
def test_what_is_misspelt_is_said_when_the_declaration_is_read(made_up, said, error, what):
    with pytest.raises(error, match=what):
        declaration.exhibit("gmip", "gmip-ctl-1", {**SAID, "reads": ["a", "b", "c"], **said})
