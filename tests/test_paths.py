"""A file is written whole or not at all, and a refusal is one clear line."""

import errno
import os

import pytest

from membership import paths
from membership.errors import InputError, RunError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_are_written_and_folders_made(tmp_path):
    paths.atomic_write(tmp_path / "a" / "b.txt", "Gauß")
    paths.atomic_write(tmp_path / "a" / "c.bin", b"\x00\xff")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "Gauß".encode()
    assert (tmp_path / "a" / "c.bin").read_bytes() == b"\x00\xff"
    assert names(tmp_path / "a") == ["b.txt", "c.bin"]


@pytest.mark.parametrize("stop", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_write_that_is_stopped_leaves_the_old_file_and_no_part(tmp_path, monkeypatch, stop):
    target = tmp_path / "table.csv"
    paths.atomic_write(target, "old")

    def fail(_):
        raise stop

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((InputError, KeyboardInterrupt)):
        paths.atomic_write(target, "new")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["table.csv"]


def test_a_full_disk_is_the_run_s_failure(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunError, match="the disk is full"):
        paths.atomic_write(tmp_path / "table.csv", "new")
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_the_user_s_mistake(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write .*; name a folder"):
        paths.atomic_write(tmp_path / "file" / "table.csv", "new")
    with pytest.raises(InputError, match="cannot write"):
        paths.require_writable(tmp_path / "file" / "results")


def test_a_writable_folder_is_made_and_left_empty(tmp_path):
    paths.require_writable(tmp_path / "new" / "results")
    assert names(tmp_path / "new" / "results") == []


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    assert paths.cache_dir() == tmp_path
    monkeypatch.delenv("MEMBERSHIP_CACHE")
    assert paths.cache_dir() == paths.project_root() / ".cache"


def test_everything_else_lies_in_the_project():
    root = paths.project_root()
    assert (root / "src" / "membership" / "paths.py").is_file()
    assert {paths.data_dir(), paths.results_dir()} == {root / "data", root / "results"}
