"""The folder of a run: what it replaces, what it leaves, what a killed run leaves behind."""

import errno
import json
import os

import pytest

from membership import manifest, paths
from membership.errors import InputError
from membership.exhibits import files
from membership.running.swap_results import put_in_place, run_folder


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
