"""The chapter's bars begin and end where their numbers say."""

import pandas as pd
import pytest

from membership.exhibits import files
from membership.studies.gmip import drawings

PARTS = {
    "predicted at K = d, d parameters": 80.0,
    "rank in the place of d": -5.0,
    "the rest": -3.0,
    "found, GLiR": 72.0,
}


def test_bars_lead_down_from_the_prediction_to_what_is_found():
    table = pd.DataFrame(
        {"data": "X", "steps": "one step", "part": [*PARTS], "value": PARTS.values()}
    )
    figure = drawings.waterfall(table.assign(low=table["value"] - 1, high=table["value"] + 1))
    (axis,) = figure.axes
    bars = sorted(
        tuple(bar[:, 0]) for lines in axis.collections for bar in lines.get_segments() if len(bar)
    )
    assert {(50, 80), (80, 75), (75, 72), (50, 72)} <= set(bars)
    assert [text.get_text() for text in axis.texts] == ["80.0", "-5.0", "-3.0", "72.0"]


@pytest.mark.parametrize(
    ("name", "drawn"), [("15", "price_of_c"), ("17", "promise"), ("6", "spread_of_k")]
)
def test_every_data_set_of_the_table_is_drawn(name, drawn):
    table, _ = files.load(f"gmip-ctl-{name}", "paper")
    figure = getattr(drawings, drawn)(table)
    shown = {label.get_text() for axis in figure.axes for label in axis.get_yticklabels()}
    shown |= {axis.get_title() for axis in figure.axes}
    wanted = {data for data in table["data"].unique() if not data.startswith("simulated")}
    assert wanted <= shown
