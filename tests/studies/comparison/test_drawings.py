"""Predictive values at any share of members, from those at one; attacks that fewer cells allow."""

import numpy as np
import pandas as pd

from membership import plots
from membership.exhibits import files
from membership.studies.comparison import drawings, names
from membership.studies.comparison.leaderboard import LOSS_THERE


def test_a_predictive_value_moves_to_another_share_of_members():
    table, _ = files.load("comparison-tab-3", "paper")
    half, tenth = (
        table[table["metric"] == f"PPV where {share}% are members (%)"] for share in (50, 10)
    )
    for end in ("value", "low", "high"):
        moved = drawings._moved(half.assign(share=0.5), end, 0.1)
        np.testing.assert_allclose(moved, tenth[end], rtol=1e-6)


def test_curves_are_of_the_loss_and_of_the_lowest_and_highest_others():
    table, _ = files.load("comparison-tab-3", "paper")
    figure = drawings.worth_of_a_flag(table)
    half = table[table["metric"] == "PPV where 50% are members (%)"]
    others = half[half["attack"] != "LOSS"].groupby("attack")["value"].mean().sort_values()
    rates = table["nominal FPR"].unique()
    assert [axis.get_title() for axis in figure.axes] == [
        f"flagged at {rate} FPR" for rate in rates
    ]
    for axis in figure.axes:
        assert {line.get_label() for line in axis.lines} == {
            "LOSS",
            others.index[0],
            others.index[-1],
        }
        for line in axis.lines:
            assert (np.diff(line.get_ydata()) > 0).all()


def test_attacks_on_fewer_cells_stand_last_beside_the_loss_there():
    rows = [
        ("3 cells", "LiRA", names.AREA, 0.7),
        ("3 cells", "LOSS", names.AREA, 0.6),
        ("2 cells", "QMIA", names.AREA, 0.8),
        ("2 cells", "QMIA", LOSS_THERE, 0.9),
    ]
    table = pd.DataFrame(rows, columns=["cells", "attack", "metric", "value"])
    (axis,) = drawings.leaders(table).axes
    names_of_rows = [label.get_text() for label in axis.get_yticklabels()]
    assert names_of_rows == ["LiRA", "LOSS", "LOSS (2 cells)", "QMIA (2 cells)"]


def test_a_panel_without_attacks_is_drawn_all_the_same():
    row = {"cells": "0 cells", "attack": "none", "knows": "", "metric": names.PARAMETERS}
    figure = drawings.leaders(pd.DataFrame([{**row, "value": 5000.0}]))
    assert plots.save_bytes(figure, "svg")
