"""A notebook is run again when anything that determines it has changed, and only then."""

import json
import os
from typing import Any, ClassVar

import pytest

import membership
from membership import paths
from membership.pipeline import freshness
from membership.settings import ChapterSettings


class Settings(ChapterSettings):
    chapter: ClassVar[str] = "demo"
    profiles: ClassVar[dict[str, dict[str, Any]]] = {"tiny": {}, "quick": {}, "paper": {}}


@pytest.fixture
def root(project, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: project.root)
    package = project.root / "src" / "membership" / "__init__.py"
    monkeypatch.setattr(membership, "__file__", str(package))
    monkeypatch.delenv("MEMBERSHIP_DATA", raising=False)
    other = project.root / "src" / "membership" / "studies" / "other"
    other.mkdir()
    (other / "settings.py").write_text("")
    (project.root / "notebooks" / "other.md").write_text("# Another chapter\n")
    return project.root


def fingerprint(**given: Any) -> str:
    return freshness.fingerprint(Settings.from_values(given))


def put(path, content="changed"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.mark.parametrize(
    "changed",
    [
        "notebooks/demo.md",
        "src/membership/signals.py",
        "src/membership/studies/demo/settings.py",
        "src/membership/studies/__init__.py",
        "src/membership/published/exhibits.csv",
        "requirements.lock",
        "data/registry.toml",
        "results/paper/demo/demo-tab-1.csv",
    ],
)
def test_what_determines_a_notebook_changes_its_fingerprint(root, changed):
    before = fingerprint()
    put(root / changed)
    assert fingerprint() != before


@pytest.mark.parametrize(
    "changed",
    [
        "notebooks/other.md",
        "src/membership/studies/other/settings.py",
        "src/membership/pipeline/site.py",
        "src/membership/cli.py",
        "results/quick/demo/demo-tab-1.csv",
        "results/paper/other/other-tab-1.csv",
        "book/index.md",
    ],
)
def test_what_has_no_part_in_a_notebook_does_not(root, changed):
    before = fingerprint()
    put(root / changed)
    assert fingerprint() == before


def test_a_paper_size_run_does_not_depend_on_what_it_writes(root):
    before = fingerprint(profile="paper")
    put(root / "results" / "paper" / "demo" / "demo-tab-1.csv")
    assert fingerprint(profile="paper") == before


def test_parameters_count(root):
    prints = {fingerprint(), fingerprint(seed=1), fingerprint(profile="tiny")}
    assert len(prints) == 3


def test_a_data_file_counts_by_its_identity(root, tmp_path):
    own = tmp_path / "own.npz"
    put(own, "one")
    before = fingerprint(dataset=str(own))
    os.utime(own, (1, 1))
    assert fingerprint(dataset=str(own)) != before


def test_files_beside_a_named_data_set_count_and_an_embedded_one_has_none(
    root, tmp_path, monkeypatch
):
    monkeypatch.setenv("MEMBERSHIP_DATA", str(tmp_path / "data"))
    put(tmp_path / "data" / "mnist.npz")
    embedded, named = fingerprint(dataset="digits"), fingerprint(dataset="mnist")
    put(tmp_path / "data" / "cifar100.npz")
    assert fingerprint(dataset="digits") == embedded
    assert fingerprint(dataset="mnist") != named
    files = freshness.data_files(Settings.from_values({"dataset": "mnist"}))
    assert [f.name for f in files] == ["cifar100.npz", "mnist.npz"]


def test_a_notebook_is_up_to_date_while_its_stamp_and_its_exhibits_are_there(root):
    settings = Settings.from_values({})
    mark = freshness.fingerprint(settings)
    exhibit = root / "results" / "quick" / "demo" / "demo-tab-1.csv"
    executed = root / "book" / "chapters" / "demo.ipynb"
    assert not freshness.is_up_to_date(settings, mark)

    put(exhibit)
    put(executed, json.dumps({"metadata": {"membership": freshness.stamp(settings, mark)}}))
    assert freshness.is_up_to_date(settings, mark)
    assert not freshness.is_up_to_date(settings, "another")

    exhibit.unlink()
    assert not freshness.is_up_to_date(settings, mark)


@pytest.mark.parametrize("broken", ["", "{", "{}", '{"metadata": {"membership": {}}}'])
def test_a_notebook_that_cannot_be_read_is_out_of_date(root, broken):
    put(root / "book" / "chapters" / "demo.ipynb", broken)
    assert not freshness.is_up_to_date(Settings.from_values({}), "any")
