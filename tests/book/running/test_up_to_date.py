"""A notebook is run again when anything that determines it has changed, and only then."""

import json
import os
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest

import membership
from membership import paths
from membership.book import manifest
from membership.book.running import up_to_date
from membership.book.running.chapter_files import chapters, results_path, settings_class
from membership.book.settings import ChapterSettings


class Settings(ChapterSettings):
    chapter: ClassVar[str] = "demo"
    profiles: ClassVar[dict[str, dict[str, Any]]] = {"tiny": {}, "quick": {}, "paper": {}}
    further_data: ClassVar[tuple[str, ...]] = ("cifar100",)
    ood_dataset: str = ""
    also_datasets: list[str] = []  # noqa: RUF012


@pytest.fixture
def root(project, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: project.root)
    package = project.root / "src" / "membership" / "__init__.py"
    monkeypatch.setattr(membership, "__file__", str(package))
    monkeypatch.delenv("MEMBERSHIP_DATA", raising=False)
    other = project.root / "src" / "membership" / "book" / "studies" / "other"
    other.mkdir()
    (other / "settings.py").write_text("")
    (project.root / "notebooks" / "other.md").write_text("# Another chapter\n")
    return project.root


def fingerprint(**given: Any) -> str:
    return up_to_date.fingerprint(Settings.from_values(given))


def put(path, content="changed"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_a_link_to_the_project_changes_nothing(root, tmp_path, monkeypatch):
    before = fingerprint()
    (tmp_path / "link").symlink_to(root)
    through = tmp_path / "link" / "src" / "membership" / "__init__.py"
    monkeypatch.setattr(membership, "__file__", str(through))
    assert fingerprint() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        "notebooks/demo.md",
        "src/membership/data/outline.py",
        "src/membership/book/studies/demo/settings.py",
        "src/membership/book/studies/demo/evidence.py",
        "src/membership/book/exhibits/templates/new.html",
        "src/membership/book/published/table.csv",
        "requirements.lock",
        "data/registry.toml",
        "results/paper/demo/demo-tab-1.csv",
        "notebooks/other.md (unused)",
        "src/membership/book/studies/other/settings.py (unused)",
        "src/membership/book/site/build.py (unused)",
        "src/membership/book/cli/__init__.py (unused)",
        "results/quick/demo/demo-tab-1.csv (unused)",
        "results/paper/other/other-tab-1.csv (unused)",
        "book/index.md (unused)",
    ],
)
def test_what_determines_a_notebook_changes_its_fingerprint_and_what_has_no_part_does_not(
    root, changed
):
    before, (name, _, unused) = fingerprint(), changed.partition(" ")
    put(root / name)
    assert (fingerprint() == before) == bool(unused)


@pytest.mark.slow
def test_an_edit_of_prose_needs_no_run_and_one_of_code_does(root):
    text, before = root / "notebooks" / "demo.md", fingerprint()
    put(text, text.read_text().replace("## The end", "## The last words\n\nProse."))
    assert fingerprint() == before
    put(text, text.read_text().replace('"repeats:"', '"repeated:"'))
    assert fingerprint() != before


@pytest.mark.slow
def test_a_paper_size_run_does_not_depend_on_what_it_writes(root):
    before = fingerprint(profile="paper")
    put(root / "results" / "paper" / "demo" / "demo-tab-1.csv")
    assert fingerprint(profile="paper") == before


@pytest.mark.slow
def test_parameters_count(root):
    prints = {fingerprint(), fingerprint(seed=1), fingerprint(profile="tiny")}
    assert len(prints) == 3


@pytest.mark.slow
@pytest.mark.parametrize("scaling", ["", "standardised:"])
@pytest.mark.parametrize(
    ("name", "listed"), [("dataset", False), ("ood_dataset", False), ("also_datasets", True)]
)
def test_a_data_file_counts_by_its_content_and_not_by_its_time(
    root, tmp_path, name, listed, scaling
):
    own = tmp_path / "own.npz"
    put(own, "one")
    given = {name: [f"{scaling}{own}"] if listed else f"{scaling}{own}"}
    before = fingerprint(**given)
    os.utime(own, (1, 1))
    assert fingerprint(**given) == before
    put(own, "two")
    os.utime(own, (1, 1))
    assert fingerprint(**given) != before


@pytest.mark.slow
def test_what_features_are_trained_on_counts_where_a_data_set_lies_in_a_file(
    root, tmp_path, monkeypatch
):
    monkeypatch.setenv("MEMBERSHIP_DATA", str(tmp_path / "data"))
    for name in ("mnist", "cifar100", "cifar10"):
        put(tmp_path / "data" / f"{name}.npz", name)
    embedded, named = fingerprint(dataset="digits"), fingerprint(dataset="mnist")
    put(tmp_path / "data" / "cifar100.npz")
    put(tmp_path / "data" / "cifar10.npz")
    assert fingerprint(dataset="digits") == embedded
    assert fingerprint(dataset="mnist") != named
    read = up_to_date.data_digests(Settings.from_values({"dataset": "mnist"}))
    assert [Path(file).name for file in read] == ["cifar100.npz", "mnist.npz"]


def literals(chapter):
    """Data sets that a chapter's code loads by a name of its own."""
    sources = (Path(membership.__file__).parent / "book" / "studies" / chapter).rglob("*.py")
    found = re.findall(r'data\.load\(\s*"([^"]+)"', "".join(s.read_text() for s in sources))
    return set(found) - {"digits"}


@pytest.mark.parametrize("chapter", chapters())
def test_what_a_chapter_reads_unasked_is_among_its_further_data(chapter):
    assert literals(chapter) <= set(settings_class(chapter).further_data)


def page_of(settings, mark):
    cells = [{"cell_type": "markdown", "source": "The page"}]
    page = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    files = manifest.digests(results_path(settings))
    manifest.seal(results_path(settings))
    said = up_to_date.stamp(settings, mark, files)
    return json.loads(up_to_date.sealed(json.dumps(page), said))


def test_a_notebook_is_up_to_date_while_it_and_its_exhibits_are_what_the_run_wrote(root):
    settings = Settings.from_values({})
    mark = up_to_date.fingerprint(settings)
    folder = root / "results" / "quick" / "demo"
    executed = root / "book" / "chapters" / "demo.ipynb"
    assert not up_to_date.is_up_to_date(settings, mark)

    put(folder / "demo-tab-1.csv", "1")
    put(folder / "demo-fig-1.pdf", "%PDF")
    page = page_of(settings, mark)
    put(executed, json.dumps(page))
    assert up_to_date.is_up_to_date(settings, mark)
    assert not up_to_date.is_up_to_date(settings, "another")

    put(folder / "demo-fig-1.pdf", "")
    assert not up_to_date.is_up_to_date(settings, mark)
    (folder / "demo-fig-1.pdf").unlink()
    assert not up_to_date.is_up_to_date(settings, mark)
    put(folder / "demo-fig-1.pdf", "%PDF")
    assert up_to_date.is_up_to_date(settings, mark)
    (folder / manifest.NAME).unlink()
    assert not up_to_date.is_up_to_date(settings, mark)
    manifest.seal(folder)
    assert up_to_date.is_up_to_date(settings, mark)

    page["cells"][0]["source"] = "Another page"
    put(executed, json.dumps(page))
    assert not up_to_date.is_up_to_date(settings, mark)


@pytest.mark.parametrize("files", [[], {"../x": "0" * 64}, {"x": "0"}, {"x": None}])
def test_a_note_that_names_no_plain_files_is_none(root, files):
    put(root / "results" / "quick" / "demo" / "x")
    page = page_of(Settings.from_values({}), "any")
    page["metadata"]["membership"]["files"] = files
    put(root / "book" / "chapters" / "demo.ipynb", json.dumps(page))
    assert up_to_date.read_stamp(up_to_date.executed_path("demo")) is None


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "[" * 100_000, '{"metadata": {"membership": {}}}']
)
def test_a_notebook_that_cannot_be_read_is_out_of_date(root, broken):
    put(root / "book" / "chapters" / "demo.ipynb", broken)
    assert not up_to_date.is_up_to_date(Settings.from_values({}), "any")


@pytest.mark.parametrize(
    "library", ["torch", "numpy", "jaxlib", "dp-accounting", "xarray", "ruff (of no run)"]
)
def test_another_version_of_a_library_is_another_run(root, monkeypatch, library):
    installed, settings = up_to_date.metadata.version, Settings.from_values({})
    before = up_to_date.fingerprint(settings)
    name, _, unused = library.partition(" ")
    another = {name: "99.0"}
    monkeypatch.setattr(up_to_date.metadata, "version", lambda n: another.get(n) or installed(n))
    assert (up_to_date.fingerprint(settings) == before) == bool(unused)
