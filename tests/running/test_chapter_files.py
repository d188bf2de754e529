"""Chapters are found by their files, and headings by Markdown's rules."""

import pytest

from membership.errors import InputError
from membership.exhibits.homes import chapter_of_page, pages_of
from membership.running import chapter_files
from tests.parameters import read_parameters_cell

CHAPTERS = chapter_files.chapters()
PAGES = [page for chapter in CHAPTERS for page in pages_of(chapter)]


@pytest.mark.slow
def test_a_chapter_needs_a_notebook_and_settings(project):
    (project.root / "notebooks" / "notes.md").write_text("# No settings\n")
    found = project.run("list").stdout
    assert "demo" in found
    assert "notes" not in found


def test_an_unknown_chapter_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match="'bayes_optima'; did you mean 'bayes_optimal'"):
        chapter_files.settings_class("bayes_optima")


@pytest.mark.parametrize("page", PAGES)
def test_the_parameters_cell_mirrors_the_settings(page):
    cell = read_parameters_cell(chapter_files.source_path(page).read_text())
    settings = chapter_files.settings_class(chapter_of_page(page)).describe()
    assert [row[:4] for row in cell] == [row[:4] for row in settings]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_profile_sizes_known_parameters_with_accepted_values(chapter):
    settings = chapter_files.settings_class(chapter)
    for profile, sizes in settings.profiles.items():
        assert set(sizes) <= set(settings.model_fields)
        assert settings.from_values({"profile": profile, **sizes}).profile == profile


def test_headings_are_read_in_order_and_not_from_code():
    text = "# One\nprose # no\n```python\n# a comment\n```\n## Two \n~~~\n# no\n~~~\n#not\n"
    assert chapter_files.headings_in(text) == ["One", "Two"]
