"""Whatever is killed, and however: five seconds later nothing of the run is there."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence

import pytest

from membership import processes

SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")
# What does not answer to a terminal that is closed takes SIGHUP as it takes SIGTERM.
WITHOUT_ANSWER = ("SIGKILL", "SIGTERM", "SIGINT")
# What nobody could clear up after, and what was heard: all is made again after one of each.
MADE_AGAIN = ("SIGKILL", "SIGTERM")
WITHIN = 5
CONFIG = """\
title: A miniature
only_build_toc_files: true
exclude_patterns: ["src/**", "notebooks/**"]
execute: {execute_notebooks: "off"}
sphinx: {extra_extensions: [slow]}
"""
SLOW = """\
import pathlib, time


def wait(app, *_):
    pathlib.Path(app.srcdir, "rendering").touch()
    time.sleep(100)


def setup(app):
    app.connect("html-page-context", wait)
    return {}
"""
KERNEL, SPHINX = "ipykernel_launcher", "jupyter_book"

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc")


def send(name: str, pid: int, traces) -> set[int]:
    """Send a signal and wait until nothing of ours is left; the pids that there were."""
    pids = set(traces.processes())
    os.kill(pid, getattr(signal, name))
    traces.wait_for(lambda: not traces.processes(), WITHIN)
    return pids


def last_line(process: subprocess.Popen, others: Sequence[str] = ()) -> str:
    """The command's own line; there is none where the command was killed."""
    _, stderr = process.communicate(timeout=180)
    assert "Traceback" not in stderr
    assert set(others) <= set(stderr.splitlines())
    if process.returncode == -signal.SIGKILL:
        return "killed"
    assert process.returncode == 1
    last = stderr.strip().splitlines()[-1]
    assert last.startswith("membership: ")
    return last


def nothing_left(traces, pids: set[int]) -> None:
    assert traces.files() == []
    assert traces.semaphores(pids) == []


def equals(project, act: str = "") -> None:
    """Run the chapter: the same results as of a run that nothing had gone before, and no more."""
    done = project.run("run", "demo", "--quiet", *(("-p", "act", act) if act else ()))
    assert (done.returncode, done.stderr) == (0, "")
    folder = project.root / "results" / "quick" / "demo"
    assert (folder / "demo-tab-1.csv").read_text() == "n_repeats,2\n"
    assert {path.name for path in folder.iterdir()} == {"demo-tab-1.csv", "run.manifest"}
    assert {path.name for path in folder.parent.iterdir()} == {"demo", ".demo.lock"}
    assert [path.name for path in project.executed.parent.iterdir()] == ["demo.ipynb"]


def train(project, traces) -> tuple[subprocess.Popen, int]:
    """Start a run; come back once both workers of its kernel are at work, with one's pid."""
    process = project.start("run", "demo", "-p", "act", "train")
    pids = [project.root / f"worker-{name}.pid" for name in ("one", "two")]
    traces.wait_for(lambda: process.poll() is not None or all(path.exists() for path in pids))
    assert pids[0].exists(), process.communicate()
    return process, int(pids[0].read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNALS)
def test_the_command_is_stopped_while_it_trains(project, traces, name):
    process, _ = train(project, traces)
    pids = send(name, process.pid, traces)
    told = last_line(process)
    assert told == "killed" or "demo (quick) interrupted in 'The work'" in told
    assert not project.executed.exists()
    nothing_left(traces, pids)
    if name in MADE_AGAIN:
        equals(project)
        nothing_left(traces, pids)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_ANSWER)
def test_the_kernel_is_stopped_while_it_trains(project, traces, name):
    process, _ = train(project, traces)
    pids = send(name, traces.find(KERNEL), traces)
    told = last_line(process)
    died = "was interrupted" if name == "SIGINT" else "died (killed, or out of memory)"
    assert f"demo (quick) failed in 'The work': the kernel {died}; the log is " in told
    nothing_left(traces, pids)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_ANSWER)
def test_a_worker_is_stopped_while_it_trains(project, traces, name):
    process, worker = train(project, traces)
    pids = send(name, worker, traces)
    died = "the kernel was interrupted" if name == "SIGINT" else "a worker process was killed"
    assert f"demo (quick) failed in 'The work': {died}" in last_line(process)
    nothing_left(traces, pids)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNALS)
def test_two_chapters_at_once_are_stopped(two_chapters, traces, name):
    process = two_chapters.start("run", "--at-once", "2", "-p", "act", "sleep")

    def both_run() -> bool:
        kernels = [line for line in traces.processes().values() if KERNEL in line]
        return len(kernels) == 2 and (two_chapters.root / "kernel.pid").exists()

    traces.wait_for(both_run)
    pids = send(name, process.pid, traces)
    told = last_line(process)
    assert told == "killed" or "interrupted; the earlier pages are kept" in told
    nothing_left(traces, pids)


@pytest.fixture
def both_run(two_chapters, traces):
    """A run of two chapters at once, when the kernels of both are at work, with the kernels."""
    process = two_chapters.start("run", "--at-once", "2", "-p", "act", "sleep")

    def kernels() -> list[int]:
        return [pid for pid, line in traces.processes().items() if KERNEL in line]

    work = (two_chapters.root / "kernel.pid").exists
    traces.wait_for(lambda: process.poll() is not None or (len(kernels()) == 2 and work()))
    return process, kernels()


def of_chapters(traces) -> list[int]:
    """The pids of the commands that run one chapter each."""
    found = traces.processes().items()
    return [pid for pid, line in found if " run demo " in line or " run other " in line]


@pytest.mark.slow
def test_two_chapters_that_do_not_listen_are_stopped(both_run, traces):
    process, kernels = both_run
    for pid in (*of_chapters(traces), *kernels):
        os.kill(pid, signal.SIGSTOP)
    pids = send("SIGKILL", process.pid, traces)
    assert pids.issuperset(kernels)
    nothing_left(traces, pids)


@pytest.mark.slow
def test_a_chapter_ends_with_a_command_that_dies_before_it_has_noted_its_start(both_run, traces):
    process, _ = both_run
    (folder,) = traces.temporary.iterdir()
    (folder / "groups").write_text("")
    pids = send("SIGKILL", process.pid, traces)
    assert last_line(process) == "killed"
    nothing_left(traces, pids)


@pytest.mark.slow
def test_each_killed_chapter_is_named(both_run, traces):
    process, _ = both_run
    pids = set(traces.processes())
    for pid in of_chapters(traces):
        os.kill(pid, signal.SIGKILL)
    told = last_line(process, others=["the run of other was killed"])
    assert told == "membership: the run of demo was killed"
    nothing_left(traces, pids)


def parts(folder) -> set[str]:
    return {path.name for path in folder.glob(".*.*-*")}


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["kernel", "command"])
def test_a_write_that_was_killed_is_cleared_by_the_next_run(project, traces, whom):
    process = project.start("run", "demo", "-p", "act", "write")
    models = project.root / ".cache" / "models"
    traces.wait_for(models.is_dir)
    kernel = traces.find(KERNEL)

    def stopped_in_a_write() -> bool:
        os.kill(kernel, signal.SIGCONT)
        time.sleep(0.003)
        os.kill(kernel, signal.SIGSTOP)
        return bool(parts(models))

    traces.wait_for(stopped_in_a_write)
    (part,) = parts(models)
    send("SIGKILL", kernel if whom == "kernel" else process.pid, traces)
    assert "the kernel died" in last_line(process) or whom == "command"
    assert parts(models) == {part}
    others = {f".key.safetensors.{os.getpid()}-0123abcd", ".key.safetensors.mine"}
    for name in others:
        (models / name).write_text("of a writer that lives, and of nobody's")
    equals(project)
    assert parts(models) == {f".key.safetensors.{os.getpid()}-0123abcd"}
    assert {path.name for path in models.iterdir()} - {"key.safetensors"} == others


@pytest.fixture
def book(project):
    """A book of one page whose rendering is never done."""
    (project.root / "slow.py").write_text(SLOW)
    (project.root / "_config.yml").write_text(CONFIG)
    (project.root / "intro.md").write_text("# A miniature\n\nProse.\n")
    return project


STOPPED = [*(("command", name) for name in SIGNALS), *(("sphinx", x) for x in WITHOUT_ANSWER)]
REBUILT = (("command", "SIGKILL"), ("sphinx", "SIGTERM"))


@pytest.mark.slow
@pytest.mark.parametrize(("whom", "name"), STOPPED)
def test_the_building_of_the_site_is_stopped(book, traces, whom, name):
    process = book.start("build")
    rendering = book.root / "rendering"
    traces.wait_for(lambda: process.poll() is not None or rendering.exists())
    pids = send(name, process.pid if whom == "command" else traces.find(SPHINX), traces)
    told = last_line(process)
    if whom == "sphinx":
        assert "the site did not build" in told or f"was killed ({name})" in told
    else:
        assert told == "killed" or "the building of the site was interrupted" in told
    nothing_left(traces, pids)
    if (whom, name) in REBUILT:
        (book.root / "_config.yml").write_text(CONFIG.replace("slow", "sphinx.ext.todo"))
        assert book.run("build").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNALS[1:])
@pytest.mark.parametrize("delay", [0, 0.05, 0.15, 0.4])
def test_the_command_is_stopped_while_it_starts(project, traces, name, delay):
    process = project.start("list")
    traces.wait_for(lambda: process.poll() is not None or hears(process.pid, signal.SIGHUP))
    time.sleep(delay)
    process.send_signal(getattr(signal, name))
    stdout, stderr = process.communicate(timeout=180)
    lines = [line for line in stderr.splitlines() if line]
    if lines:
        # Python ends itself by SIGINT where that met a module that makes functions out of text.
        assert lines == ["membership: interrupted"]
        assert process.returncode in (1, -signal.SIGINT)
    else:
        # Python gives up its handlers on the way out: who has said everything may be killed there.
        assert process.returncode in (0, -getattr(signal, name))
        assert stdout == project.run("list").stdout
    nothing_left(traces, {process.pid})


def hears(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal: Python has one of its own for SIGINT only."""
    with open(f"/proc/{pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def test_a_group_that_has_ended_is_signalled_no_more(tmp_path):
    run = processes.Run(tmp_path)
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as sleeper:
        run.adopt(sleeper.pid)
        try:
            run.release(sleeper.pid)
            processes._end(tmp_path)
            assert sleeper.poll() is None
        finally:
            sleeper.kill()
