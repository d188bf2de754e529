"""Importing the library starts nothing and ends nobody; what the package starts ends with it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

IMPORTED = """\
import multiprocessing, sys, threading, time

def work():
    import membership.book.studies.bayes_optimal.evidence  # and with it training, attacks, signals
    time.sleep(0.3)  # a watcher looks at once
    sys.exit(threading.active_count() - 1)

if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""
WORKERS = """\
import os, threading
from joblib import delayed
from membership import processes

def threads():
    return os.getpid(), [one.name for one in threading.enumerate()]

if __name__ == "__main__":
    for pid, names in processes.workers(2)(delayed(threads)() for _ in range(2)):
        print(pid != os.getpid() and any("watch" in name for name in names))
    print(len(processes.workers(1)(delayed(threads)() for _ in range(2))))
"""
FILES = """\
import os
import numpy as np
from joblib import delayed
from membership import processes

def folder(x):
    return os.path.dirname(x.filename)

if __name__ == "__main__":
    workers, x = processes.workers(2), np.zeros(400_000)
    first, second = (set(workers(delayed(folder)(x) for _ in range(4))) for _ in range(2))
    print(len(first), len(second), len(first & second))
"""


def run(tmp_path, script, *words):
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, tmp_path / "script.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_that_imports_the_library_lives_on(tmp_path, method):
    done = run(tmp_path, IMPORTED, method)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_workers_of_the_package_watch_their_maker(tmp_path):
    done = run(tmp_path, WORKERS)
    assert (done.stdout.split(), done.stderr) == (["True", "True", "2"], "")


def test_an_array_that_is_handed_on_twice_lies_in_a_file_of_its_own_each_time(tmp_path):
    """The first is removed by a process that nothing waits for."""
    done = run(tmp_path, FILES)
    assert (done.stdout.split(), done.stderr) == (["1", "1", "0"], "")
