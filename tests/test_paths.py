"""A file is written whole or not at all, and a refusal is one clear line."""

import errno
import fcntl
import os
import socket
import stat
import subprocess
import sys

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


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_a_file_is_as_open_as_the_umask_says(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        paths.atomic_write(tmp_path / "x", "")
        paths.atomic_write(tmp_path / "x", "again")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == mode


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


@pytest.fixture
def dead():
    """The pid of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_what_dead_writers_left_is_cleared(tmp_path, dead):
    left = tmp_path / f".a.csv.{dead}-0123abcd"
    written = tmp_path / f".b.csv.{dead}-0123abcd"
    kept = [
        *("a.csv", ".a.csv", f".a.csv.{dead}", f".a.csv.{dead}-x", f"a.csv.{dead}-0123abcd"),
        *(f".a.csv.{os.getpid()}-0123abcd", ".a.csv.1-0123abcd", f".a.csv.{'9' * 30}-0123abcd"),
    ]
    for path in [left, written, *(tmp_path / name for name in kept)]:
        path.write_text("half")
    with written.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        paths.clear_parts(tmp_path, "another.csv")
        assert left.exists()
        paths.clear_parts(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {*kept, written.name}
    paths.clear_parts(tmp_path / "nowhere")


def test_a_file_is_locked_while_it_is_written(tmp_path, monkeypatch):
    """So that a run on another machine, which knows no pid here, leaves its part alone."""
    monkeypatch.setattr(paths, "lives", lambda pid: False)
    sync = os.fsync

    def cleared_meanwhile(number):
        paths.clear_parts(tmp_path)
        sync(number)

    monkeypatch.setattr(os, "fsync", cleared_meanwhile)
    paths.atomic_write(tmp_path / "a", "whole")
    assert (tmp_path / "a").read_text() == "whole"


def test_a_cache_is_marked_although_its_first_maker_was_killed(tmp_path, dead):
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / f".{paths.MARK}.{dead}-0123abcd").write_text("Signat")
    paths.made_cache_dir(cache)
    assert paths.is_marked(cache)
    assert [p.name for p in cache.iterdir()] == [paths.MARK]


def test_only_a_cache_of_ours_is_cleared(tmp_path, dead, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    left = tmp_path / "models" / f".a.safetensors.{dead}-0123abcd"
    left.parent.mkdir()
    left.write_text("half")
    paths.clear_cache()
    assert left.exists()
    paths.made_cache_dir()
    paths.clear_cache()
    assert not left.exists()


def test_a_process_that_ended_and_was_not_waited_for_does_not_live():
    assert paths.lives(os.getpid())
    assert paths.lives(1)
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    # Wait for its end, and leave it for its parent to collect.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not paths.lives(process.pid)
    process.wait()
    assert not paths.lives(process.pid)


@pytest.mark.parametrize("text", ["junk", "3", "[1]", "{}"])
def test_a_run_that_nobody_started_is_one_line(tmp_path, monkeypatch, text):
    monkeypatch.setenv(paths.RUN, text)
    with pytest.raises(InputError, match=r"MEMBERSHIP_RUN = .*unset it"):
        paths.in_run(tmp_path / "file")


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "chain").symlink_to("link")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    for name in ("link", "chain", "dangling"):
        paths.atomic_write(tmp_path / name, name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == name
    assert (tmp_path / "target").read_text() == "chain"
    assert names(tmp_path) == ["absent", "chain", "dangling", "link", "target"]


def test_in_a_folder_of_strangers_no_link_is_followed(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "error.log").symlink_to("precious")
    paths.atomic_write(tmp_path / "error.log", "new", follow=False)
    assert (tmp_path / "precious").read_text() == "old"
    assert (tmp_path / "error.log").read_text() == "new"


def odd_files(folder):
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    (folder / "loop").symlink_to("loop")
    return {
        "pipe": "it is a pipe; name a plain file",
        "folder": "it is a folder",
        "null": "it is a device",
        "socket": "it is a socket",
        "loop": "Too many levels of symbolic links",
    }


def test_what_is_no_plain_file_is_refused_in_a_line_and_left_alone(tmp_path):
    refused = odd_files(tmp_path)
    before = {name: os.lstat(tmp_path / name) for name in refused}
    for name, said in refused.items():
        with pytest.raises(InputError, match=f"cannot write .*{name}: {said}"):
            paths.atomic_write(tmp_path / name, "new")
        assert os.lstat(tmp_path / name).st_mode == before[name].st_mode
    assert names(tmp_path) == sorted(refused)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_what_a_command_prints_to_is_no_file_to_write(tmp_path):
    program = "from membership import paths; paths.atomic_write(paths.Path('/dev/stdout'), 'x')"
    with (tmp_path / "printed").open("wb") as printed:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=printed, stderr=subprocess.PIPE, text=True
        )
    assert "/dev/stdout: it is what this command prints to; name a plain file" in done.stderr
    assert names(tmp_path) == ["printed"]
    assert (tmp_path / "printed").read_bytes() == b""


def test_of_files_that_belong_together_all_are_written_or_none(tmp_path, monkeypatch):
    together = {tmp_path / "a": "new", tmp_path / "b": b"new"}
    paths.atomic_write_all(together)
    assert [file.read_text() for file in together] == ["new", "new"]
    synced = []

    def full(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"cannot write .*b: the disk is full"):
        paths.atomic_write_all(dict.fromkeys(together, "newer"))
    assert [file.read_text() for file in together] == ["new", "new"]
    assert names(tmp_path) == ["a", "b"]


def test_of_an_endless_file_no_more_is_read_than_is_asked_for(tmp_path):
    (tmp_path / "small").write_bytes(b"abc")
    assert paths.content_of(tmp_path / "small", 3) == b"abc"
    for name, most in (("small", 2), ("/dev/zero", 5 << 20)):
        with pytest.raises(InputError, match=f"{name} holds more than {most:,} bytes"):
            paths.content_of(tmp_path / name, most)
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        paths.content_of(tmp_path, 3)
