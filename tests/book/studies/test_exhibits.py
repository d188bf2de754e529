"""What holds of every chapter's exhibits: their words come from tables, their evidence is there."""

import ast
import re
from fnmatch import fnmatchcase

import jupytext
import pytest

from membership import paths
from membership.book import published
from membership.book.exhibits import declared, files, listing, source
from membership.book.exhibits.exhibit_pages import pages_of
from membership.book.exhibits.listing import recipe
from membership.book.running import settings_class

CHAPTERS = list(published.subjects)
EXHIBITS = [one for chapter in CHAPTERS for one in declared(chapter)]

# What a card says is one thought, or two.
MOST_SENTENCES, MOST_WORDS = 2, 25
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z0-9])")


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_sentences_and_alternative_texts_are_made_from_saved_tables(exhibit):
    found = files.load(exhibit.id, "paper")
    if found is None:
        pytest.skip("not made by a chapter's run")
    table, _ = found
    if exhibit.says:
        said = exhibit.says(table)
        assert said == "" or said.endswith(".")
        assert "nan" not in said
        each = _SENTENCE.split(said)
        assert len(each) <= MOST_SENTENCES
        assert max(len(one.split()) for one in each) <= MOST_WORDS
    for column, form in exhibit.differences.items():
        assert any(fnmatchcase(word, form) for word in table[column]), (column, form)
    if exhibit.judge:
        assert len(exhibit.judge(table)) == len(table)
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)
        assert len(exhibit.described(table)) > 80


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_controls_are_numbered_as_their_ids_say(chapter):
    """No number is left out, but what was retired keeps its own."""
    controls = {one.id: one.label for one in declared(chapter) if one.kind == "control"}
    prefix = f"{chapter.replace('_', '-')}-ctl-"
    assert controls == {one: f"Control {one.removeprefix(prefix)}" for one in controls}
    gone = {one for one in listing.retired() if one.startswith(prefix)}
    assert {*controls, *gone} == {f"{prefix}{i + 1}" for i in range(len(controls) + len(gone))}


@pytest.mark.parametrize("profile", ["tiny", "quick", "paper"])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_is_gathered_is_needed_and_no_more(chapter, profile):
    settings = settings_class(chapter).from_values({"profile": profile})
    needed = {name for one in declared(chapter) for name in one.evidence(settings)}
    # Table 3's is gathered by the ImageNet recipe, on another machine.
    assert needed - {"imagenet"} == set(source._gathering(settings))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_neutral_value_is_filled_in(chapter):
    for profile, sizes in settings_class(chapter).profiles.items():
        settings = settings_class(chapter).from_values({"profile": profile})
        assert {name: getattr(settings, name) for name in sizes} == sizes
        assert settings.resolve() == settings


@pytest.mark.parametrize("page", [page for chapter in CHAPTERS for page in pages_of(chapter)])
def test_no_cell_of_a_notebook_is_long(page):
    text = (paths.project_root() / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
    for cell in jupytext.reads(text, "md:myst").cells:
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", []):
            compile(cell.source, "cell", "exec")
            assert len(cell.source.splitlines()) <= 15


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exhibit_is_shown_once(chapter):
    shown: list[str] = []
    for page in pages_of(chapter):
        text = (paths.project_root() / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
        cells = jupytext.reads(text, "md:myst").cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        shown += [
            word.value
            for call in calls
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("show", "gallery")
            for word in call.args
            if isinstance(word, ast.Constant)
        ]
    assert sorted(shown) == sorted(one.id for one in declared(chapter) if not recipe(one.id))
