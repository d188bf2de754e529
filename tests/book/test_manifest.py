"""Whose file is it, and is it still the one that was written."""

import pytest

from membership import paths
from membership.book import manifest
from membership.book.exhibits import files
from membership.errors import InputError

COMMITTED = sorted(
    p for p in (paths.results_dir() / "paper").iterdir() if p.is_dir() and p.name[0] != "."
)


@pytest.mark.parametrize("folder", COMMITTED, ids=lambda folder: folder.name)
def test_committed_results_are_under_their_manifest_as_a_whole(folder):
    """Where results were made anew on purpose: `membership seal`."""
    assert manifest.listed(folder) == manifest.digests(folder)


@pytest.fixture
def folder(tmp_path):
    paths.atomic_write(tmp_path / "demo" / "a.csv", "1")
    paths.atomic_write(tmp_path / "demo" / "a.pdf", "%PDF")
    paths.atomic_write(tmp_path / "demo" / ".hidden", "")
    manifest.seal(tmp_path / "demo")
    return tmp_path / "demo"


def test_sealing_lists_everything_and_gives_the_same_bytes_twice(folder):
    first = (folder / manifest.NAME).read_bytes()
    assert manifest.listed(folder).keys() == {"a.csv", "a.pdf"}
    manifest.seal(folder)
    assert (folder / manifest.NAME).read_bytes() == first
    with pytest.raises(InputError, match="no folder of results"):
        manifest.seal(folder / "nowhere")


@pytest.mark.parametrize("name", ["a.csv", "a.pdf"])
@pytest.mark.parametrize("content", ["", "2", None])
def test_any_other_content_is_found(folder, name, content):
    (folder / name).unlink() if content is None else (folder / name).write_text(content)
    with pytest.raises(
        InputError, match=rf"{name} is not the file that its run wrote; run it again"
    ):
        manifest.require(folder)
    manifest.require(folder, {"a.csv", "a.pdf"} - {name})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"runs": [{}]}',
        '{"runs": [{"written_by": "x", "files": {"../a": ""}}]}',
        '{"runs": [], "sha256": "0"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_manifest_is_one_line(folder, text):
    (folder / manifest.NAME).write_text(text)
    with pytest.raises(InputError, match=r"cannot read .*run\.manifest: "):
        manifest.read(folder)


def test_a_file_belongs_to_the_run_that_wrote_it_last(tmp_path):
    manifest.enter(tmp_path, {"written_by": "one"}, {"a": "0" * 64, "b": "1" * 64})
    manifest.enter(tmp_path, {"written_by": "two"}, {"b": "2" * 64}, gone=["a"])
    assert manifest.read(tmp_path) == [{"written_by": "two", "files": {"b": "2" * 64}}]
    assert "one" not in (tmp_path / manifest.NAME).read_text()


def test_two_notebooks_at_once_do_not_mix(tmp_path, monkeypatch):
    target = tmp_path / "demo" / "a"
    monkeypatch.setattr(files, "_written", {})
    files.write_together(target, {".csv": b"1"})
    files.write_together(target.with_name("b"), {".csv": b"1"})
    mine = files._written

    monkeypatch.setattr(files, "_written", {})  # another process
    files.write_together(target, {".csv": b"2"})

    monkeypatch.setattr(files, "_written", mine)
    with pytest.raises(InputError, match=r"another run has written to .* since this one began"):
        files.write_together(target.with_name("c"), {".csv": b"1"})
    assert not (tmp_path / "demo" / "c.csv").exists()


def test_the_remedy_for_committed_results_is_git(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    committed, own = (tmp_path / "results" / p / "demo" for p in ("paper", "tiny"))
    assert manifest.remedy(committed) == "run it again: membership run demo --profile paper"
    (tmp_path / ".git").mkdir()
    assert manifest.remedy(committed) == "bring it back with: git checkout -- results/paper/demo"
    assert manifest.remedy(own) == "run it again: membership run demo --profile tiny"
