"""What surrounds a run fails it: disks, limits, users, the network, the clock, odd paths."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

IS_ROOT = os.geteuid() == 0
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"


def can(script: str) -> bool:
    """Whether this machine lets the test make the fault."""
    return not subprocess.run(["bash", "-c", script], capture_output=True, check=False).returncode


needs_mounts = pytest.mark.skipif(
    not (IS_ROOT and can("unshare -m mount -t tmpfs none /mnt")), reason="root may not mount here"
)


def run(project, before: str, *arguments: str, **variables: str) -> tuple[int, list[str]]:
    """Run the command after a piece of shell: its exit code, and stderr line by line."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMBERSHIP_")}
    environment |= {"PYTHONPATH": f"{project.root}/src", **variables}
    done = subprocess.run(
        ["bash", "-c", f'{before} "$@"', "-", sys.executable, "-m", "membership", *arguments],
        cwd=project.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, [line for line in done.stderr.splitlines() if line]


def mounted(folder: Path, options: str, then: str = "true") -> str:
    """Shell that lays a file system of memory over a folder, for one command alone."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = f"mount -t tmpfs -o {options} none '{folder}' && {then}"
    return f"""unshare -m bash -c "{mount} && exec \\"\\$@\\"" -"""


@pytest.mark.parametrize(
    ("limit", "code", "told"),
    [
        ("ulimit -n 64;", 2, "this shell allows 64 open files; a run needs at least 256"),
        ("ulimit -v 1000000;", 2, "of memory; a run needs at least 2 GB (`ulimit -v`)"),
        ("ulimit -v 35000;", 1, "membership: cannot start: "),
    ],
)
def test_limits_are_told_before_any_work(project, limit, code, told):
    status, lines = run(project, limit, "run", "demo")
    assert (status, len(lines)) == (code, 1), lines
    assert told in lines[0]
    assert not (project.root / "kernel.pid").exists()


@pytest.mark.slow
def test_a_limit_that_may_be_raised_is(project):
    assert run(project, "ulimit -Sn 64;", "run", "demo", "--quiet") == (0, [])


@pytest.fixture(scope="module")
def finished(tmp_path_factory, miniature):
    """A project whose chapter was run once."""
    project = miniature(tmp_path_factory.mktemp("finished") / "project")
    assert run(project, "", "run", "demo", "--quiet") == (0, [])
    return project


@pytest.fixture
def after_a_run(finished, tmp_path):
    """A copy of it for one test."""
    shutil.copytree(finished.root, tmp_path / "finished")
    return dataclasses.replace(finished, root=tmp_path / "finished")


TRAINING = """

def train():
    exhibit = files.location("demo-tab-1", "demo", "quick")
    files.write_together(exhibit, {".csv": ",".join(map(repr, trained())).encode()})


def trained():
    import resource
    from functools import partial

    import numpy as np

    from membership import data, models, training

    digits = data.load("digits")
    members = np.random.default_rng(0).random((2, len(digits.y))) < 0.1
    factory = partial(models.mlp, digits.x[0].size, [2**15], digits.n_classes)
    config = training.TrainingConfig(learning_rate=0.1, epochs=1, batch_size=256)
    if os.environ.get("STARVED"):
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * resource.getpagesize() + 2**24
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    found = training.train(factory, digits, members, config, range(2), n_jobs=1, progress=False)
    return [float(part.double().abs().sum()) for part in found.parameters.values()]
"""


@pytest.mark.slow
def test_memory_that_ends_in_training_is_one_line_and_a_rerun_equals(
    project, tmp_path, monkeypatch
):
    study = project.root / "src" / "membership" / "book" / "studies" / "demo" / "settings.py"
    study.write_text(study.read_text() + TRAINING)
    (tmp_path / "temporary").mkdir()
    train = ("run", "demo", "--quiet", "-p", "act", "train")
    here = {"TMPDIR": str(tmp_path / "temporary"), "OMP_NUM_THREADS": "1"}
    status, lines = run(project, "", *train, **here, STARVED="yes")
    assert (status, len(lines)) == (1, 1), lines
    assert "failed in 'The work': " in lines[0]
    assert "out of memory" in lines[0]
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not project.executed.exists()
    folder = project.root / "results" / "quick"
    assert [path.name for path in folder.iterdir()] == [".demo.lock"]

    assert run(project, "", *train, "--force", **here) == (0, [])
    table = (folder / "demo" / "demo-tab-1.csv").read_text()
    found = [float(cell) for cell in table.split(",")]
    # The same in this process, which has not run out of memory.
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "another"))
    exec(TRAINING, there := {"os": os})
    # What was trained while memory ran out may round otherwise than a run that has enough.
    assert found == pytest.approx(there["trained"](), rel=1e-5)
    assert len(found) == 4


@pytest.mark.slow
@needs_mounts
@pytest.mark.parametrize("where", ["results", "book/chapters", "runs", "temporary"])
def test_a_full_disk_leaves_the_earlier_run_as_it_was(after_a_run, where):
    project = after_a_run
    before = project.executed.read_bytes()
    folder = project.root / where
    # Python passes over a temporary folder without room for one byte.
    fill = "true" if where == "temporary" else f"echo > '{folder}/filler'"
    full = mounted(folder, "size=4k", fill)
    temporary = {"TMPDIR": str(folder)} if where == "temporary" else {}
    status, lines = run(project, full, "run", "demo", "--quiet", "--force", **temporary)
    assert (status, len(lines)) == (1, 1), lines
    assert "the disk is full" in lines[0]
    assert project.executed.read_bytes() == before
    assert run(project, "", "run", "demo", "--quiet", "--force") == (0, [])


@pytest.mark.slow
@needs_mounts
@pytest.mark.parametrize("where", ["results", "book/chapters", "runs", "logs"])
def test_a_read_only_folder_is_found_before_the_work(project, where):
    status, lines = run(project, mounted(project.root / where, "ro"), "run", "demo")
    assert (status, len(lines)) == (2, 1), lines
    assert "cannot write" in lines[0]
    assert not (project.root / "kernel.pid").exists()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["book/chapters/demo.ipynb", "runs/quick/demo.json"])
def test_a_folder_in_the_place_of_a_file_is_found_before_the_work(project, where):
    (project.root / where).mkdir(parents=True)
    status, lines = run(project, "", "run", "demo")
    assert (status, len(lines)) == (2, 1), lines
    assert f"{where}: it is a folder" in lines[0]
    assert not (project.root / "kernel.pid").exists()


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_may_be_closed(project, closed):
    assert run(project, f"exec {closed};", "run", "demo")[0] == 0
    assert project.executed.is_file()


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_run(project):
    before = project.root / "before"
    before.write_text('"$@" 2>&1 | head -1; exit ${PIPESTATUS[0]}')
    assert run(project, f"bash '{before}'", "run", "demo", "--force")[0] == 1


@pytest.mark.slow
def test_a_cache_that_cannot_be_made_is_found_before_the_work(project):
    """Where the permissions would allow it: /proc takes no folder, not even from root."""
    status, lines = run(project, "", "run", "demo", MEMBERSHIP_CACHE="/proc/cache")
    assert (status, len(lines)) == (2, 1), lines
    assert "cannot write" in lines[0]
    assert {path.name for path in project.root.iterdir()} == {
        "src",
        "notebooks",
        "data",
        "_toc.yml",
    }


@pytest.mark.slow
@needs_mounts
def test_a_temporary_folder_that_cannot_be_written_is_passed_over(project):
    folder = project.root / "temporary"
    status, lines = run(
        project, mounted(folder, "ro"), "run", "demo", "--quiet", TMPDIR=str(folder)
    )
    # Python takes the next folder of its list where TMPDIR cannot be written to.
    assert (status, lines) == (0, [])


@needs_mounts
def test_another_user_is_told_what_cannot_be_written(project):
    shown = f"unshare -m bash -c \"mount --bind '{project.root}' /mnt && cd /mnt && exec {NOBODY} "
    status, lines = run(
        project, shown + '\\"\\$@\\"" -', "run", "demo", PYTHONPATH="/mnt/src", HOME="/nonexistent"
    )
    assert (status, len(lines)) == (2, 1), lines
    assert "cannot write /mnt/" in lines[0]
    assert "Permission denied" in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("home", ["unset HOME;", "export HOME=/nonexistent;", "export HOME=/proc;"])
def test_no_home_is_needed(project, home):
    assert run(project, home, "run", "demo", "--quiet") == (0, [])


@pytest.mark.slow
@pytest.mark.skipif(not (IS_ROOT and can("unshare -n true")), reason="needs root")
def test_without_a_network_only_fetching_fails(project):
    up = "import fcntl,socket,struct; s=socket.socket(); " + (
        "fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', 0x49))"
    )
    alone = f'unshare -n bash -c "{sys.executable} -c \\"{up}\\" && exec \\"\\$@\\"" -'
    assert run(project, alone, "run", "demo", "--quiet") == (0, [])
    status, lines = run(project, alone, "data", "fetch", "mnist")
    assert (status, len(lines)) == (2, 1), lines
    assert "mnist.npz is not in " in lines[0]
    assert "ConnectionError" in lines[0]


@pytest.mark.slow
def test_a_path_may_hold_spaces_quotes_and_umlauts(project, tmp_path):
    root = tmp_path / "Müllers 'Übung' $HOME; 100 %"
    project.root.rename(root)
    moved = type(project)(root)
    (tmp_path / "ein Ordner").mkdir()
    there = {"TMPDIR": str(tmp_path / "ein Ordner")}
    assert run(moved, "", "run", "demo", "--quiet", **there) == (0, [])
    assert moved.executed.is_file()
    assert (root / "results" / "quick" / "demo" / "demo-tab-1.csv").is_file()
    assert list((tmp_path / "ein Ordner").iterdir()) == []


@pytest.mark.slow
def test_a_clock_that_was_set_back_changes_nothing(after_a_run):
    project = after_a_run
    first = json.loads((project.root / "runs" / "quick" / "demo.json").read_text())
    clock = "import time\nnow = time.time\ntime.time = lambda: now() - 10 * 365 * 86400\n"
    (project.root / "src" / "sitecustomize.py").write_text(clock)
    assert run(project, "", "run", "demo", "--quiet", "-p", "n_repeats", "5") == (0, [])
    table = project.root / "results" / "quick" / "demo" / "demo-tab-1.csv"
    assert table.read_text() == "n_repeats,5\n"
    later = json.loads((project.root / "runs" / "quick" / "demo.json").read_text())
    assert later["started"] < first["started"]
    assert later["seconds"] >= 0
    status, lines = run(project, "", "run", "demo", "-p", "n_repeats", "5")
    assert status == 0
    assert "up to date" in lines[-1]


@pytest.mark.slow
def test_the_cache_may_lie_on_another_file_system(project):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == project.root.stat().st_dev:
        pytest.skip("there is no second file system")
    cache = other / f"membership-test-{os.getpid()}"
    script = (
        "import torch; from membership.training.cache import Cache; "
        "Cache().save('a', {'w': torch.ones(3)}); print(Cache().load('a')['w'].sum().item())"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": f"{project.root}/src",
        "MEMBERSHIP_CACHE": str(cache),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, b"3.0\n"), done.stderr
        assert [path.name for path in (cache / "models").iterdir()] == ["a.safetensors"]
    finally:
        shutil.rmtree(cache, ignore_errors=True)
