"""``python -m benchmarks`` names what it has when asked for what it has not."""

import subprocess
import sys

import pytest

from membership import paths


@pytest.mark.slow
def test_an_unknown_benchmark_is_named():
    command = [sys.executable, "-m", "benchmarks", "warp"]
    done = subprocess.run(command, cwd=paths.project_root(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "no benchmark warp" in done.stderr
