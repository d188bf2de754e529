"""Each step and what it is compared with run; a power law is found with its interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from benchmarks import _growth, growth

SMALLEST = {"weights": 250, "models": 2, "records": 200}


@pytest.mark.slow
@pytest.mark.parametrize("step", growth.STEPS, ids=lambda step: step.name)
def test_both_sides_of_a_step_run(step):
    for set_up in (step.ours, step.plain):
        work, times = set_up(SMALLEST[step.unit])
        work()
        assert times >= 0.5
    assert len(step.sizes) == 3
    assert list(step.sizes) == sorted(step.sizes)


@given(st.floats(0, 4), st.floats(1e-3, 1e3))
def test_an_exact_power_is_found(power, scale):
    sizes = (100, 200, 400)
    found = _growth.exponent(sizes, [[scale * n**power] * 3 for n in sizes])
    assert found == pytest.approx((power,) * 3, abs=1e-6)


def test_the_interval_covers_the_power_as_often_as_it_says():
    rng, sizes, covered = np.random.default_rng(0), (100, 200, 400), 0
    for _ in range(500):
        seconds = [list(n**1.5 * np.exp(rng.normal(0, 0.1, 3))) for n in sizes]
        _, low, high = _growth.exponent(sizes, seconds)
        covered += low <= 1.5 <= high
    assert abs(covered / 500 - _growth.LEVEL) < 0.04


def test_too_few_repeats_have_no_interval():
    assert math.isnan(_growth.exponent((1, 2), [[1.0], [2.0]])[1])


@pytest.mark.slow
def test_a_step_is_measured_in_processes_of_its_own():
    step = growth.STEPS[[one.name for one in growth.STEPS].index("LiRA")]
    small = _growth.Step("LiRA", "records", (200, 800), step.ours, step.plain, step.peer)
    row = _growth.measured(small, repeats=2)
    assert row["size"] == "800 records"
    assert row["seconds"] > 0
    assert 0.05 < row["GB"] < 8
    assert row["low"] < row["exponent"] < row["high"]
    assert row["times"] > 0


def test_the_table_fits_a_terminal():
    rows = [
        {"step": step.name, "size": f"{step.sizes[-1]:,} {step.unit}", "seconds": 123.4, "GB": 1.2}
        | {"exponent": 1.9, "low": 1.0, "high": 2.8, "times": 1234.5, "against": step.peer}
        for step in growth.STEPS
    ]
    made = _growth.shown(rows)
    table = Table(*made.columns)
    for row in made.itertuples(index=False):
        table.add_row(*row)
    assert Console(width=200).measure(table).maximum <= 80
