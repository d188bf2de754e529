"""A chapter on a SLURM cluster of one machine: the same bytes as a plain run, one job cancelled.

`make test-slurm` runs it. It takes root, writes /etc/slurm/slurm.conf where there is none, and
removes it at the end.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import slurm

ROOT = Path(__file__).resolve().parents[1]
CHAPTER, SHARES = "comparison", 2
SNAKEMAKE = ROOT / ".venv" / "cluster" / "bin" / "snakemake"
NEEDED = (
    "_config.yml",
    "_toc.yml",
    "book",
    "data",
    "notebooks",
    "results/paper",
    "src",
    "workflow",
)


def copy(folder: Path) -> Path:
    """What git tracks and does not ignore of the project, so that the user's files are safe."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *NEEDED]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    folder.mkdir()
    taken = ["cp", "--parents", "-t", str(folder), *filter(None, names.decode().split("\0"))]
    subprocess.run(taken, cwd=ROOT, check=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """One thread for all, and the copy's own package and cache."""
    own = {"PYTHONPATH": str(folder / "src"), "MEMBERSHIP_CACHE": str(folder / ".cache")}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}


def membership(folder: Path, *words: str) -> None:
    """Run a command in a copy."""
    command = [sys.executable, "-m", "membership", *words]
    subprocess.run(command, cwd=folder, env=environment(folder), stdout=sys.stderr, check=True)


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen]:
    """The workflow of the chapter up to its page; it does not outlive the block."""
    run = subprocess.Popen(
        [
            SNAKEMAKE,
            *("--snakefile", "workflow/Snakefile", "--profile", "workflow/profiles/slurm"),
            *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3"),
            *("--seconds-between-status-checks", "2", "--latency-wait", "5"),
            *("--config", "profile=tiny", "plan=plan.json", "cores=1"),
            f"membership={sys.executable} -m membership",
            "--",
            f"book/chapters/{CHAPTER}.ipynb",
        ],
        cwd=folder,
        env=environment(folder),
    )
    try:
        yield run
    finally:
        run.kill()


def cancel_one(patience: float = 120.0) -> str:
    """Cancel the first job that is running; its rule."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        for job, comment in slurm.jobs("RUNNING").items():
            subprocess.run(["scancel", job], check=True)
            return comment
        time.sleep(0.2)
    raise RuntimeError("no job was seen running")


def digests(folder: Path) -> dict[str, str]:
    """What a run leaves and holds no seconds: evidence in the cache, exhibits."""
    results = folder / "results/tiny" / CHAPTER
    pieces = json.loads((folder / "plan.json").read_text())["pieces"]
    timed = {
        name for one in pieces if one["timed"] for name in (Path(one["file"]).stem, one["evidence"])
    }
    records = [json.loads(file.read_text()) for file in results.glob("*.json")]
    timed |= {record["id"] for record in records if record["timing"]}
    # The manifest holds the digests of all the others.
    timed.add("run")
    files = [*(folder / ".cache/evidence").iterdir(), *results.iterdir()]
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file() and file.name.partition(".")[0] not in timed
    }


def main() -> None:
    """Run the chapter both ways and compare."""
    slurm.require()
    with tempfile.TemporaryDirectory(prefix="membership-slurm-") as made:
        plain, shared = (copy(Path(made) / name) for name in ("plain", "shared"))
        for folder in (plain, shared):
            sized = ("--profile", "tiny", "--shares", str(SHARES))
            membership(folder, "plan", CHAPTER, *sized, "--json", "plan.json")
        membership(plain, "run", CHAPTER, "--profile", "tiny", "--quiet")
        with slurm.cluster(Path(made) / "slurm"), started(shared) as run:
            cancelled = cancel_one()
            code = run.wait()
        if code:
            sys.exit(f"test-slurm: the workflow ended with code {code}")
        compare(plain, shared, cancelled)


def compare(plain: Path, shared: Path, cancelled: str) -> None:
    """Say how many files are equal byte by byte; exit 1 where one is not."""
    ours, theirs = digests(plain), digests(shared)
    differ = sorted(
        name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)
    )
    print(f"one job ({cancelled}) was cancelled and done again")
    print(f"{len(ours) - len(differ)} of {len(ours)} files equal byte by byte")
    if differ:
        sys.exit("test-slurm: these differ: " + ", ".join(differ))


if __name__ == "__main__":
    main()
