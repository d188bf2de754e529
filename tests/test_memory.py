"""The machine says how much memory it has, whatever the system tells."""

import math
import subprocess
import sys

import pytest

from membership import memory

PEAK = """
import numpy as np
from membership import memory

before = memory.reset_peak()
np.ones(30_000_000).sum()  # 240 MB, given back at once
print(memory.peak() - before)
now = memory.reset_peak()
print(memory.peak() - now)
"""


def test_the_available_memory_is_some(monkeypatch, tmp_path):
    assert memory.available() > 2**20
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "absent")
    assert memory.available() > 2**20


@pytest.mark.skipif(not memory._CLEAR.exists(), reason="only Linux tells")
def test_the_peak_is_counted_anew():
    # In a process of its own: what others gave back may be taken again without being counted.
    told = subprocess.run([sys.executable, "-c", PEAK], check=True, capture_output=True, text=True)
    taken, afterwards = map(float, told.stdout.split())
    assert 200e6 < taken < 400e6
    assert afterwards < 50e6


def test_a_system_that_does_not_tell_gives_no_number(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CLEAR", tmp_path / "absent" / "clear_refs")
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "absent" / "status")
    assert math.isnan(memory.reset_peak())
    assert math.isnan(memory.peak())
