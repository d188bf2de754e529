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
CACHE = [".cache/model.safetensors"]
KEPT = [
    "results/paper/demo/demo-tab-1.csv",
    "runs/paper/demo.json",
    "book/index.md",
    "notebooks/demo.md",
    "data/mnist.npz",
    "src/membership/paths.py",
]


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path / "project")
    monkeypatch.delenv("MEMBERSHIP_CACHE", raising=False)
    for name in MADE + RESULTS + CACHE + KEPT:
        paths.atomic_write(tmp_path / "project" / name, name)
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


def test_a_link_that_leads_outside_is_not_followed(root, tmp_path):
    paths.atomic_write(tmp_path / "elsewhere" / "table.csv", "mine")
    (root / "results" / "mine").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="lies outside the project"):
        clean(results=True)
    assert (tmp_path / "elsewhere" / "table.csv").is_file()
