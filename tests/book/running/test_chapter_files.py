"""Chapters are found by their files; a run's folder changes places with the one before."""

import errno
import json
import os

import pytest

from membership import paths
from membership.book import manifest
from membership.book.exhibits import exhibit_pages, files
from membership.book.exhibits.exhibit_pages import chapter_of_page, pages_of
from membership.book.running import chapter_files
from membership.book.running.chapter_files import put_in_place, run_folder
from membership.errors import InputError
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
    cell = read_parameters_cell(exhibit_pages.source_path(page).read_text())
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


@pytest.fixture
def target(tmp_path):
    return tmp_path / "results" / "quick" / "demo"


def finish(target, contents, **described):
    """A run that writes these files and ends well."""
    with run_folder(target) as folder:
        for name, content in contents.items():
            paths.atomic_write(paths.in_run(target / name), content)
        return put_in_place(folder, target, described)


def lying(folder):
    return {p.name: p.read_text() for p in folder.iterdir() if p.name != manifest.NAME}


def beside(target):
    return sorted(p.name for p in target.parent.iterdir())


def test_a_run_writes_beside_the_results_until_it_ends(target):
    finish(target, {"a.csv": "one"})
    with run_folder(target) as folder:
        files.write_together(target / "a", {".csv": b"two", ".json": b"{}"})
        assert paths.in_run(target / "a.csv") == folder / "a.csv"
        assert paths.in_run(target.parent / "other" / "a.csv") == target.parent / "other" / "a.csv"
        assert (lying(target), lying(folder)["a.csv"]) == ({"a.csv": "one"}, "two")
        put_in_place(folder, target, {})
    assert lying(target) == {"a.csv": "two", "a.json": "{}"}
    assert paths.in_run(target / "a.csv") == target / "a.csv"
    assert beside(target) == [".demo.lock", "demo"]


def test_a_run_that_does_not_end_well_leaves_everything(target):
    finish(target, {"a.csv": "one"})

    def stopped():
        with run_folder(target) as folder:
            paths.atomic_write(folder / "a.csv", "two")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert lying(target) == {"a.csv": "one"}
    assert beside(target) == [".demo.lock", "demo"]
    assert paths.RUN not in os.environ


def test_a_run_replaces_what_runs_wrote_and_keeps_what_others_did(target):
    finish(target, {"a.csv": "one", "b.csv": "one"})
    files.write_together(target / "days-of-work", {".csv": b"a script's"})
    (target / "notes.txt").write_text("mine")
    (target / "more").mkdir()
    (target / "more" / "notes.txt").write_text("mine too")
    finish(target, {"a.csv": "two"})
    assert (target / "more" / "notes.txt").read_text() == "mine too"
    (target / "more" / "notes.txt").unlink()
    (target / "more").rmdir()
    assert lying(target) == {"a.csv": "two", "days-of-work.csv": "a script's", "notes.txt": "mine"}
    assert manifest.listed(target).keys() == {"a.csv", "days-of-work.csv"}


def test_the_next_run_clears_what_a_killed_one_left(target):
    finish(target, {"a.csv": "one"})
    paths.atomic_write(target.with_name(".demo.0abc.new") / "a.csv", "half")
    paths.atomic_write(target.with_name(".demo.0abc.old") / "a.csv", "older")
    paths.atomic_write(target.with_name(".other.0abc.new") / "a.csv", "another chapter's")
    with run_folder(target):
        assert lying(target) == {"a.csv": "one"}
    assert beside(target) == [".demo.lock", ".other.0abc.new", "demo"]


def test_a_run_killed_between_the_two_renamings_loses_nothing(target):
    finish(target, {"a.csv": "one"})
    target.rename(target.with_name(".demo.0abc.old"))
    with run_folder(target):
        assert lying(target) == {"a.csv": "one"}


def test_a_renaming_that_fails_brings_the_earlier_results_back(target, monkeypatch):
    finish(target, {"a.csv": "one"})
    real = os.rename

    def fails(source, destination):
        if str(source).endswith(".new"):
            raise OSError(errno.EIO, "Input/output error")
        real(source, destination)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(InputError, match="Input/output error"):
        finish(target, {"a.csv": "two"})
    assert lying(target) == {"a.csv": "one"}


def test_a_second_run_is_refused_while_the_first_is_at_work(target):
    with (
        run_folder(target),
        pytest.raises(InputError, match=r"another run is writing to .*results_dir"),
        run_folder(target),
    ):
        pass


def test_a_link_to_a_folder_elsewhere_is_followed(target, tmp_path):
    (tmp_path / "disk" / "demo").mkdir(parents=True)
    target.parent.mkdir(parents=True)
    target.symlink_to(tmp_path / "disk" / "demo")
    finish(target, {"a.csv": "one"})
    assert target.is_symlink()
    assert lying(tmp_path / "disk" / "demo") == {"a.csv": "one"}


def test_a_damaged_manifest_does_not_stop_the_run_that_repairs_it(target):
    finish(target, {"a.csv": "one"})
    (target / manifest.NAME).write_text("{")
    with pytest.raises(InputError, match=r"cannot read .*run\.manifest"):
        manifest.require(target)
    finish(target, {"a.csv": "two"})
    manifest.require(target)


def test_the_same_run_has_the_same_manifest(target):
    finish(target, {"a.csv": "one"}, seed=1)
    first = (target / manifest.NAME).read_bytes()
    finish(target, {"a.csv": "one"}, seed=1)
    assert (target / manifest.NAME).read_bytes() == first
    (run,) = json.loads(first)["runs"]
    assert (run["written_by"], run["seed"]) == ("membership run", 1)
