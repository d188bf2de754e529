"""Cleaning removes what can be made again, and never what cannot."""

import pytest

from membership import paths
from membership.errors import InputError
from membership.pipeline import clean

MADE = [
    "_build/html/index.html",
    "logs/demo-quick.log",
    "book/chapters/demo.ipynb",
    "book/generated/run_statistics.md",
    "notebooks/demo.ipynb",
]
RESULTS = ["results/quick/demo/demo-tab-1.csv", "runs/quick/demo.json"]
CACHE = [".cache/CACHEDIR.TAG", ".cache/models/a.safetensors"]
KEPT = [
    "results/paper/demo/demo-tab-1.csv",
    "results/mine/notes.txt",
    "runs/paper/demo.json",
    "book/index.md",
    "notebooks/demo.md",
    "notebooks/mine.ipynb",
    "data/mnist.npz",
    "src/membership/paths.py",
]


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path / "project")
    monkeypatch.delenv("MEMBERSHIP_CACHE", raising=False)
    for name in MADE + RESULTS + CACHE + KEPT:
        paths.atomic_write(tmp_path / "project" / name, name)
    (tmp_path / "project" / CACHE[0]).unlink()
    paths.made_cache_dir()
    return tmp_path / "project"


def left(root):
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({}, MADE),
        ({"results": True}, MADE + RESULTS),
        ({"cache": True}, MADE + CACHE),
        ({"results": True, "cache": True}, MADE + RESULTS + CACHE),
    ],
)
def test_each_option_removes_its_own_and_no_more(root, options, gone):
    assert clean(**options)
    assert left(root) == set(MADE + RESULTS + CACHE + KEPT) - set(gone)
    assert clean(**options) == []


def test_a_cache_outside_the_project_is_left_and_nothing_is_removed(root, tmp_path, monkeypatch):
    paths.atomic_write(tmp_path / "elsewhere" / "model.safetensors", "trained")
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "elsewhere"))
    before = left(root)
    with pytest.raises(InputError, match="lies outside the project"):
        clean(cache=True)
    assert left(root) == before
    assert (tmp_path / "elsewhere" / "model.safetensors").is_file()


@pytest.mark.parametrize("named", [".", "src", "src/membership", ".git", "book", "data", "results"])
@pytest.mark.parametrize("marked", [False, True])
def test_the_project_s_own_folders_are_never_a_cache(root, monkeypatch, named, marked):
    (root / ".git").mkdir()
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(root / named))
    if marked:
        paths.atomic_write(root / named / paths.MARK, (root / CACHE[0]).read_text())
    before = left(root)
    with pytest.raises(InputError, match="one of the project's own folders"):
        clean(cache=True)
    assert left(root) == before


def test_a_folder_without_the_mark_is_no_cache(root, monkeypatch):
    paths.atomic_write(root / "mine" / "thesis.tex", "years of work")
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(root / "mine"))
    paths.made_cache_dir()  # a run may use it as a cache, and still does not own it
    before = left(root)
    with pytest.raises(InputError, match="carries no mark"):
        clean(cache=True)
    assert left(root) == before


def test_a_link_that_leads_outside_is_not_followed(root, tmp_path):
    paths.atomic_write(tmp_path / "elsewhere" / "table.csv", "mine")
    (root / "results" / "tiny").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="lies outside the project"):
        clean(results=True)
    assert (tmp_path / "elsewhere" / "table.csv").is_file()
