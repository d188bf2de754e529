"""Figures for a phone: as wide as one, their text as large as it is drawn."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from membership import plots
from membership.plots import look

SETTINGS = ("Purchase-like: 5 steps", "CIFAR-10", "a set with quite a long name")
ATTACKS = ("LiRA", "IHA, gradient over D for everyone", "LOSS", "a bound", "published")


def numbers() -> pd.DataFrame:
    """Numbers of five attacks in three settings, along an axis of three."""
    index = pd.MultiIndex.from_product([SETTINGS, ATTACKS, (400, 1000, 6000)])
    table = index.to_frame(index=False, name=["panel", "series", "x"])
    value = np.linspace(0.01, 0.9, len(table))
    table = table.assign(value=value, low=value / 2, high=value * 1.1, y=value)
    return table.assign(fpr=value, tpr=value, attack=table["series"], dataset=table["panel"])


def pictures(columns: int) -> pd.DataFrame:
    """Two rows of pictures with a line of text each."""
    cells = [{"row": row, "column": i} for row in ("record", "found") for i in range(columns)]
    text, shape = "member 1, r = 1.00\n99%", "1x2x2"
    return pd.DataFrame(cells).assign(text=text, shape=shape, pixels="0 85 170 255")


KINDS = {
    "lines": lambda: plots.lines_with_intervals(numbers(), "x", panel="panel", log_x=True),
    "rates": lambda: plots.roc_panels(numbers(), floor=1e-3),
    "bars": lambda: plots.bars_with_intervals(numbers().query("x == 400"), by="dataset"),
    "rows": lambda: plots.dots_by_row(numbers().query("x == 400"), "dataset", told=".2f"),
    "rows in panels": lambda: plots.dots_by_row(numbers(), "x", panel="dataset", stems=True),
    "cells": lambda: plots.heat_maps(
        numbers().assign(text="a name\n0.51\n[0.51, 0.52]"), "attack", "x", panel="panel"
    ),
    "levels": lambda: plots.accuracy_by_level(numbers().assign(mu=lambda t: t["x"] / 400)),
    "clouds": lambda: plots.scatter_panels(numbers(), log_x=True),
    "a schematic": lambda: plots.clouds(
        numbers().assign(
            y=1.0, line=0, panel="one", series=lambda t: np.resize(list("abc"), len(t))
        ),
        axes_labels=("along", "across"),
    ),
    "curves": lambda: plots.line_panels(numbers()),
    "ten pictures": lambda: plots.image_grid(pictures(10)),
    "one picture": lambda: plots.image_grid(pictures(1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_as_wide_as_a_phone_and_its_text_large_enough(kind):
    """`tests/rendered/test_figures.py` finds what is cut off or lies on another in a browser."""
    with plots.narrow():
        figure = KINDS[kind]()
    assert figure.get_figwidth() == look.NARROW
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in shown) >= 7
    assert KINDS[kind]().get_figwidth() == look.WIDTH


def test_text_is_text_with_its_font_in_the_file_and_one_to_fall_back_on():
    with plots.narrow():
        drawn = plots.save_bytes(KINDS["lines"](), "svg").decode()
    assert ">LiRA</text>" in drawn
    face = "@font-face{font-family:'Membership Sans';src:url(data:font/woff2;base64,d09GMg"
    assert drawn.count(face) == 1
    named = re.findall(r"font-family:'Membership Sans'(?!;src)([^;\"]*)", drawn)
    assert {*named} == {", sans-serif"}


def test_the_width_is_back_to_that_of_a_page_afterwards():
    with plots.narrow():
        assert look.width() == look.NARROW
    assert look.width() == look.WIDTH


def test_a_panel_left_over_takes_its_row():
    with plots.narrow():
        first, _, last = plots.roc_panels(numbers()).axes
    assert last.get_subplotspec().colspan.stop == 2
    assert first.get_subplotspec().colspan.stop == 1


def test_the_entries_of_a_legend_are_shared_out_evenly():
    table = numbers()
    names = [f"attack {i}" for i in range(6)]
    table = pd.concat([table.assign(series=name) for name in names])
    assert plots.line_panels(table).legends[0]._ncols in (3, 6)
