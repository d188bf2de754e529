"""Cleaning removes what can be made again and is ours, and nothing else, anywhere."""

import json

import pytest

from membership import paths
from membership.book import manifest
from membership.book.running import clean, cleaning, times
from membership.book.running.up_to_date import sealed
from membership.errors import InputError

PAGE = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
KEY = "0123456789abcdef" * 4
MADE = {
    "_build/html/index.html",
    "logs/demo-quick.log",
    "logs/demo-quick.ipynb",
    "book/chapters/demo.ipynb",
    "book/generated/run_statistics.md",
    "notebooks/demo.ipynb",
}
RESULTS = {
    "results/quick/demo/demo-tab-1.csv",
    "results/quick/demo/run.manifest",
    "runs/quick/demo.json",
}
CACHE = {".cache/CACHEDIR.TAG", f".cache/models/{KEY}.safetensors", f".cache/locks/{KEY}.lock"}
# Of people, beside ours: by names that the commands write too, wherever that may be.
KEPT = {
    "results/paper/demo/demo-tab-1.csv",
    "results/mine/notes.txt",
    "results/tiny/demo/table.csv",
    "runs/paper/demo.json",
    "runs/tiny/demo.json",
    "book/index.md",
    "book/chapters/ch1.tex",
    "book/generated/notes.md",
    "notebooks/demo.md",
    "notebooks/mine.md",
    "notebooks/mine.ipynb",
    "logs/train.log",
    "_build/thesis.pdf",
    "data/mnist.npz",
    "src/membership/paths.py",
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tmp_path / "project"
    monkeypatch.setattr(paths, "checkout", lambda: root)
    monkeypatch.setattr(cleaning, "chapters", lambda: ["demo"])
    monkeypatch.delenv("MEMBERSHIP_CACHE", raising=False)
    for name in KEPT:
        paths.atomic_write(root / name, name)
    paths.made_cache_dir()
    for name in MADE | RESULTS | CACHE:
        path = root / name
        if path.suffix == ".ipynb":
            paths.atomic_write(path, sealed(PAGE, {}))
        elif path.suffix == ".json":
            times.save(path, {"chapter": "demo"})
        elif path.name not in (paths.MARK, manifest.NAME):
            paths.atomic_write(path, "" if path.suffix == ".lock" else name)
    manifest.seal(root / "results" / "quick" / "demo")
    return root


def left(root):
    found = {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()}
    return {name for name in found if not name.endswith("/.demo.lock")}


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({}, MADE),
        ({"results": True}, MADE | RESULTS),
        ({"cache": True}, MADE | CACHE),
        ({"results": True, "cache": True}, MADE | RESULTS | CACHE),
    ],
)
def test_each_option_removes_its_own_and_no_more(root, options, gone, capsys):
    before = left(root)
    removed = clean(**options)
    assert before - left(root) == gone
    assert not any(path.exists() for path in removed)
    told = capsys.readouterr().err
    assert all(name in told for name in ("logs/train.log", "book/generated/notes.md"))
    assert clean(**options) == []


NOTEBOOKS = {name for name in MADE if name.endswith(".ipynb")}


@pytest.mark.parametrize("name", sorted(NOTEBOOKS | RESULTS))
def test_what_was_changed_since_is_kept(root, name, capsys):
    path = root / name
    if path.suffix in (".ipynb", ".json"):
        page = json.loads(path.read_text())
        path.write_text(json.dumps(page | {"cells": ["PRECIOUS"]}))
    elif path.name == manifest.NAME:
        (path.parent / "notes.txt").write_text("PRECIOUS")
        path = path.parent / "notes.txt"
    else:
        path.write_bytes(path.read_bytes() + b"PRECIOUS")
    content = path.read_bytes()
    clean(results=True)
    assert path.read_bytes() == content
    assert path.name == "notes.txt" or name in capsys.readouterr().err


@pytest.mark.parametrize("options", [{}, {"results": True}, {"results": True, "cache": True}])
def test_without_a_clone_there_is_nothing_but_the_cache(root, options, monkeypatch):
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.chdir(root)
    before = left(root)
    with pytest.raises(InputError, match="membership clean --cache"):
        clean(**options)
    assert left(root) == before
    assert clean(cache=True) == [root / ".cache"]
    assert before - left(root) == CACHE


@pytest.mark.parametrize("folder", [".cache", "elsewhere", "home/.cache"])
def test_what_others_keep_in_a_cache_of_ours_stays(root, tmp_path, monkeypatch, folder):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / folder))
    paths.made_cache_dir()
    others = {"models/llama.safetensors", "pip/http", "notes.txt", "locks/mine.lock"}
    for name in others | {f"models/{KEY}.safetensors"}:
        paths.atomic_write(tmp_path / folder / name, "PRECIOUS")
    clean(cache=True)
    assert left(tmp_path / folder) == others | {paths.MARK}


@pytest.mark.parametrize("named", [".", "src/membership", ".git", "book", "data", "mine"])
@pytest.mark.parametrize("marked", [False, True])
def test_another_folder_is_no_cache_even_with_a_copied_mark(root, monkeypatch, named, marked):
    for name in ("models/residual.py", "evidence/files.py", "thesis.tex"):
        paths.atomic_write(root / named / name, "years of work")
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(root / named))
    if marked:
        paths.atomic_write(root / named / paths.MARK, (root / ".cache" / paths.MARK).read_text())
        before = left(root)
        clean(cache=True)
        assert before - left(root) == MADE
    else:
        paths.made_cache_dir()  # a run may use it as a cache, and still does not own it
        before = left(root)
        with pytest.raises(InputError, match="carries no mark"):
            clean(cache=True)
        assert left(root) == before


@pytest.mark.parametrize("name", ["results/quick", "results/quick/demo", "logs", "book/chapters"])
def test_a_link_that_leads_outside_is_not_followed(root, tmp_path, name):
    elsewhere = (root / name).rename(tmp_path / "elsewhere")
    (root / name).symlink_to(elsewhere)
    before = left(elsewhere)
    clean(results=True)
    assert left(elsewhere) == before
    assert (root / name).is_symlink()
