import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import numpy as np
from membership import lood, nngp

x = np.random.default_rng(0).standard_normal((6, 1, 4, 4))
early = {"jax", "torch", "neural_tangents"} & set(sys.modules)
assert not early, early
kernel = nngp.fully_connected(3, "gelu")
library = nngp.fully_connected(3, "gelu", engine="neural-tangents")
assert np.abs(kernel(x) - library(x)).max() < 1e-12
lood.reconstruct(kernel, x[1:], np.ones(5), (x[0], 1.0), 0.1, 0, steps=2, progress=False)
assert "neural_tangents" in sys.modules
assert "tensorflow" not in sys.modules
print("kernels agree")
"""


def test_tensorflow_stays_out_and_jax_comes_late():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "kernels agree\n"
