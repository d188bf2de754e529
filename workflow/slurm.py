"""A SLURM cluster of this one machine for the test of the workflow, taken away at its end."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel")
# A job step reads it there and nowhere else.
CONFIGURATION = Path("/etc/slurm/slurm.conf")
MARK = "# Written by the Membership companion's `make test-slurm`."
TEXT = """{mark}
ClusterName=membership
SlurmctldHost={host}
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
ReturnToService=2
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
NodeName={host} CPUs={cores} RealMemory={megabytes} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def require() -> None:
    """Find SLURM, or install it where that needs no question; else say what would do."""
    if getpass.getuser() != "root":
        sys.exit("test-slurm: starting SLURM takes root; run it in a container, as root")
    if not all(map(shutil.which, PROGRAMS)) and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "slurm-wlm", "munge"]
        subprocess.run(install, env=quiet, stdout=subprocess.DEVNULL, check=False)
    if lacking := [name for name in PROGRAMS if not shutil.which(name)]:
        sys.exit(f"test-slurm: no {', '.join(lacking)}; install Debian's slurm-wlm and munge")
    if CONFIGURATION.exists() and not CONFIGURATION.read_text().startswith(MARK):
        sys.exit(f"test-slurm: {CONFIGURATION} belongs to a cluster; use another machine")


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """Run munge, a controller and a node while the block lasts."""
    for part in ("controller", "node"):
        (folder / part).mkdir(parents=True)
    host, megabytes = socket.gethostname(), os.sysconf("SC_PHYS_PAGES") * 4096 // 2**20
    words = {"mark": MARK, "host": host, "folder": folder, "cores": os.cpu_count()}
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(TEXT.format(**words, megabytes=int(0.9 * megabytes)))
    subprocess.run(["install", "-d", "-o", "munge", "/run/munge"], check=True)
    daemons = []
    try:
        for command in (
            ["runuser", "-u", "munge", "--", "munged", "--foreground"],
            ["slurmctld", "-D"],
            ["slurmd", "-D"],
        ):
            with (folder / f"{command[-2]}.log").open("wb") as log:
                daemons.append(subprocess.Popen(command, stdout=log, stderr=log))
            time.sleep(1)
        _wait_until_idle(folder)
        yield
    finally:
        subprocess.run(["scancel", "--user", "root"], check=False, capture_output=True)
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)
        CONFIGURATION.unlink()


def jobs(state: str) -> dict[str, str]:
    """The comments of the jobs in a state (which Snakemake gives the rule's name), by their ids."""
    form = ["--noheader", "--states", state, "--format", "%i|%k"]
    said = subprocess.run(["squeue", *form], capture_output=True, text=True, check=True).stdout
    return dict(line.strip().split("|", 1) for line in said.splitlines() if line.strip())


def _wait_until_idle(folder: Path, patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        said = subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True).stdout
        if said.strip() == "idle":
            return
        time.sleep(1)
    logs = "\n".join(log.read_text()[-500:] for log in folder.glob("*.log"))
    raise RuntimeError(f"no node within {patience:.0f} s\n{logs}")
