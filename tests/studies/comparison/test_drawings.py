"""Predictive values at any share of members, from those at one."""

import numpy as np

from membership.exhibits import files
from membership.studies.comparison import drawings


def test_a_predictive_value_moves_to_another_share_of_members():
    table, _ = files.load("comparison-tab-3", "paper")
    half, tenth = (
        table[table["metric"] == f"PPV where {share}% are members (%)"] for share in (50, 10)
    )
    for end in ("value", "low", "high"):
        moved = drawings._moved(half.assign(share=0.5), end, 0.1)
        np.testing.assert_allclose(moved, tenth[end], rtol=1e-6)


def test_a_curve_an_attack_and_a_panel_a_rate():
    table, _ = files.load("comparison-tab-3", "paper")
    figure = drawings.worth_of_a_flag(table)
    rates = table["nominal FPR"].unique()
    assert [axis.get_title() for axis in figure.axes] == [
        f"flagged at {rate} FPR" for rate in rates
    ]
    for axis in figure.axes:
        assert {line.get_label() for line in axis.lines} == set(table["attack"])
        for line in axis.lines:
            assert (np.diff(line.get_ydata()) > 0).all()
