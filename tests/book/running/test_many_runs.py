"""Chapters at once, the same as one after the other; sweeps of the values that are meant."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from membership.book.running import many_runs
from membership.errors import InputError

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
    found = many_runs._longest_first(given)
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


pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0..3", ["0", "1", "2", "3"]),
        ("-1..0", ["-1", "0"]),
        ("7", ["7"]),
        ("0.1,0.2", ["0.1", "0.2"]),
        ("0.10, 1e-3", ["0.1", "0.001"]),
        ("digits,mnist", ["digits", "mnist"]),
        ("purchase_like:3000, digits-odd", ["purchase_like:3000", "digits-odd"]),
        ('"one,two.npz",digits', ["one,two.npz", "digits"]),
        ("true,false", ["true", "false"]),
        ("", [""]),
    ],
)
def test_the_values_of_a_parameter(text, meant):
    assert many_runs.values(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("60", ["[60]"]),
        ("60,120", ["[60, 120]"]),
        ("[60,120]", ["[60, 120]"]),
        ("[60],[60,120]", ["[60]", "[60, 120]"]),
    ],
)
def test_a_list_s_values_are_lists(text, meant):
    assert many_runs.values(text, is_list=True) == meant


@pytest.mark.parametrize("text", ["3..1", "0..5000", "1,1", "0.1,0.10", "a,,b", ",a"])
def test_values_that_cannot_be_meant_are_refused(text):
    with pytest.raises(InputError, match=r"runs upwards|twice|empty value"):
        many_runs.values(text)


def test_every_combination_is_planned_once_each_in_a_folder_of_its_own(tmp_path):
    strings = {"profile": "tiny", "seed": "0..2", "n_records": "10,12"}
    points = many_runs.plan("loss_enough", strings, tmp_path)
    found = [(point.settings.seed, point.settings.n_records) for point in points]
    assert sorted(found) == sorted(itertools.product(range(3), (10, 12)))
    assert len({point.folder for point in points}) == len(points)
    assert points[1].folder == tmp_path / "seed=0,n_records=12"
    assert {Path(point.settings.results_dir) for point in points} == {p.folder for p in points}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("strings", "told"),
    [
        ({"n_recods": "1,2"}, "did you mean 'n_records'"),
        ({"n_records": "10,-1"}, "'n_records' = -1"),
        ({"results_dir": "a"}, "--output"),
        ({"n_jobs": "1,2"}, "changes no result"),
        ({"seed": "0..99", "n_records": "10..30"}, "2,100 runs"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(strings, told, tmp_path):
    with pytest.raises(InputError, match=told):
        many_runs.plan("loss_enough", strings, tmp_path / "sweep")


def test_folders_of_values_that_no_file_can_be_named_by_stay_apart():
    names = [many_runs._folder_name({"dataset": text}) for text in ("a/b", "a_b", "a b", "x" * 400)]
    assert len(set(names)) == 4
    assert all("/" not in name and len(name) < 200 for name in names)


def test_memory_bounds_the_runs_at_a_time(monkeypatch):
    monkeypatch.setattr(many_runs.memory, "available", lambda: 4e9)
    monkeypatch.setattr(many_runs, "FIRST_GUESS", 1e15)  # larger than what any process took
    assert many_runs._fits(0, 4e9)
    assert not many_runs._fits(1, 4e9)
    monkeypatch.setattr(many_runs, "FIRST_GUESS", 1.5e9)
    monkeypatch.setattr(many_runs.resource, "getrusage", lambda _: Usage(1.2e9))
    assert [many_runs._fits(n, 4e9) for n in range(4)] == [True, True, False, False]
    monkeypatch.setattr(many_runs.memory, "available", lambda: 1e9)
    assert not many_runs._fits(1, 4e9)


class Usage:
    """What `resource.getrusage` gives back."""

    def __init__(self, largest: float) -> None:
        self.ru_maxrss = largest / many_runs._UNIT


def test_a_killed_sweep_goes_on_where_it_was(project):
    words = ("sweep", "demo", "--profile", "tiny", "-p", "act", "threads,wait", "--at-once", "1")
    folder = project.root / "results" / "sweeps" / "demo"
    first, second = (folder / f"act={act}" / "tiny" / "demo.ipynb" for act in ("threads", "wait"))
    started = project.start(*words)
    pid = project.root / "kernel.pid"
    while not first.exists():
        time.sleep(0.05)
        assert started.poll() is None
    before = pid.read_text()
    while pid.read_text() == before:
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.communicate()
    while Path(f"/proc/{pid.read_text()}").exists():
        time.sleep(0.05)
    assert not second.exists()
    written = first.stat().st_mtime_ns

    (project.root / "go").touch()
    again = project.run(*words)
    assert again.returncode == 0, again.stderr
    assert "2 runs, 1 of them up to date" in again.stderr
    assert "act=wait" in again.stderr
    assert first.stat().st_mtime_ns == written
    assert [(one.parent / "demo" / "demo-tab-1.csv").read_text() for one in (first, second)] == [
        "n_repeats,1\n"
    ] * 2
    assert not project.executed.exists()  # the book's page is another run's


def test_a_run_that_fails_is_named_and_the_others_are_made(project):
    done = project.run("sweep", "demo", "--profile", "tiny", "-p", "act", "raise,threads")
    assert done.returncode == 1
    named, last = [line for line in done.stderr.splitlines() if line.startswith("membership: ")]
    assert "act=raise: demo (tiny) failed in 'The work': ArithmeticError" in named
    assert "1 of 2 runs failed" in last
    folder = project.root / "results" / "sweeps" / "demo"
    assert (folder / "act=threads" / "tiny" / "demo.ipynb").is_file()
    assert (folder / "act=raise" / "tiny" / "demo.failed.log").is_file()


def test_nothing_starts_unless_every_combination_can_be_used(project):
    done = project.run("sweep", "demo", "-p", "n_repeats", "1,-1", "-p", "act", "threads")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'n_repeats' = -1" in done.stderr
    assert not (project.root / "results").exists()


def test_a_run_with_an_output_of_its_own_leaves_the_book_s_page(project, tmp_path):
    done = project.run(
        "run", "demo", "--profile", "tiny", "--quiet", "--output", "mine", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    made = tmp_path / "mine" / "tiny"
    assert done.stdout.strip() == str(made / "demo.ipynb")
    assert (made / "demo.json").is_file()
    assert (made / "demo" / "run.manifest").is_file()
    assert not project.executed.exists()
    assert not (project.root / "runs").exists()
    again = project.run("run", "demo", "--profile", "tiny", "--output", str(tmp_path / "mine"))
    assert "up to date" in again.stderr
    assert set(os.listdir(tmp_path)) == {"mine", "project"}
