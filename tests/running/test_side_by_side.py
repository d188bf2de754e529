"""Two chapters at once: the same results as one after the other, and one line for a failure."""

import os
import subprocess
import sys

import pytest

from membership.running import side_by_side

pytestmark = pytest.mark.slow

NAMES = ("demo", "other")


def result(project, name):
    return project.root / "results" / "quick" / name / f"{name}-tab-1.csv"


def test_both_chapters_are_run_on_their_share_of_the_cores(two_chapters):
    two = two_chapters
    done = two.run("run", "--at-once", "2", "-p", "act", "threads", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    pages = [str(two.root / "book" / "chapters" / f"{name}.ipynb") for name in NAMES]
    assert sorted(done.stdout.split()) == pages
    assert [result(two, name).read_text() for name in NAMES] == ["n_repeats,2\n"] * 2
    for name in NAMES:
        assert f"{name} (quick)  cell  5 of 5" in done.stderr
    assert (two.root / "threads").read_text() == "1"
    again = two.run("run", "--at-once", "2", "-p", "act", "threads")
    assert sorted(again.stderr.splitlines()) == [f"{name} (quick): up to date" for name in NAMES]


def test_the_longest_is_started_first_and_what_nobody_has_timed():
    given = ["bayes_optimal", "demo", "iha", "lood", "other"]
    found = side_by_side._longest_first(given)
    assert found == ["demo", "other", "iha", "lood", "bayes_optimal"]


def test_a_failure_is_the_last_line_and_starts_no_further_chapter(two_chapters):
    done = two_chapters.run("run", *NAMES, "--at-once", "2", "-p", "act", "raise")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("membership: ")
    assert "failed in 'The work': ArithmeticError" in last
    assert done.stderr.count("membership: ") == 1
    for name in NAMES:
        assert f"{name} (quick) failed in 'The work'" in done.stderr


def test_a_file_of_the_users_folder_is_no_module_of_ours(two_chapters, tmp_path):
    (tmp_path / "random.py").write_text("raise SystemExit('not meant')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "membership", "run", "--at-once", "2", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(two_chapters.root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_cannot_be_used_is_refused_before_a_chapter_is_started(two_chapters):
    done = two_chapters.run("run", "--at-once", "2", "-p", "n_repeats", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "n_repeats" in done.stderr
