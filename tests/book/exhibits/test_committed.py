"""The guard: committed tables, records and drawings are what today's code makes of the evidence."""

import json

import pytest

from membership import paths
from membership.book import running
from membership.book.exhibits import files, provenance
from membership.book.exhibits.recompute import recompute
from membership.errors import InputError

ROOT = paths.project_root()
RECORDS = sorted((ROOT / "results" / "paper").glob("*/*.json"))
SEVERAL_MINUTES = ("comparison", "bayes_optimal")


def differing(chapter: str) -> list[str]:
    settings = running.settings_class(chapter).from_values({"profile": "paper"})
    report = recompute(settings, check=True)
    recorded = {path.stem for path in RECORDS if path.parent.name == chapter}
    assert {*report.computed, *report.measured} == recorded
    if report.undrawn and not report.differences:
        pytest.skip(f"{chapter}: {report.last_line(checked=True)}")
    return report.differences


# A class each, so that processes side by side share them.
@pytest.mark.slow
class TestSome:
    @pytest.mark.parametrize("chapter", SEVERAL_MINUTES)
    def test_what_is_committed_is_what_is_computed(self, chapter: str) -> None:
        assert differing(chapter) == []


@pytest.mark.slow
class TestOthers:
    @pytest.mark.parametrize("chapter", sorted({*running.chapters()} - {*SEVERAL_MINUTES}))
    def test_what_is_committed_is_what_is_computed(self, chapter: str) -> None:
        assert differing(chapter) == []


def test_every_record_names_a_commit_that_can_be_checked_out() -> None:
    if provenance.git(ROOT, "rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("this clone has not the whole history, or no git: commits were not looked for")
    history = {*provenance.git(ROOT, "rev-list", "HEAD").split()}
    commits = {path.stem: json.loads(path.read_text())["commit"] for path in RECORDS}
    assert len(commits) > 150
    assert {name: commit for name, commit in commits.items() if commit not in history} == {}


def test_results_that_are_committed_are_not_saved_from_a_changed_tree(monkeypatch) -> None:
    settings = running.settings_class("lood").from_values({"profile": "paper"})
    monkeypatch.setattr(provenance, "git_commit", lambda: f"abc{provenance.DIRTY}")
    for chosen in (settings, settings.model_copy(update={"results_dir": str(ROOT / "results")})):
        with pytest.raises(InputError, match="commit first, or name another results_dir"):
            files.require_citable(chosen)
    files.require_citable(settings.model_copy(update={"results_dir": "mine"}))
    files.require_citable(settings.model_copy(update={"profile": "quick"}))
    monkeypatch.setattr(provenance, "git_commit", lambda: "abc")
    files.require_citable(settings)


def test_a_commit_that_is_not_in_the_history_gives_way() -> None:
    if provenance.git(ROOT, "rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("this clone has not the whole history, or no git")
    head = provenance.git(ROOT, "rev-parse", "HEAD")
    assert provenance.is_in_history(head)
    for lost in ("", f"{head}{provenance.DIRTY}", 40 * "0"):
        assert not provenance.is_in_history(lost)
