import numpy as np
import pandas as pd
import pytest

from membership.errors import InputError
from membership.plots.predictions import densities_with_thresholds, prediction_bands


def bands():
    x = np.linspace(-1, 1, 5)
    parts = [{"series": name, "x": x, "value": x, "low": x - 1, "high": x + 1} for name in "ab"]
    data = {"series": "data", "x": x, "value": -x, "low": -x, "high": -x}
    return pd.concat([pd.DataFrame(part) for part in [data, *parts]])


def densities():
    x = np.linspace(0, 1, 5)
    return pd.concat(
        pd.DataFrame(
            {
                "dataset": dataset,
                "series": name,
                "hinge": x,
                "density": x,
                "threshold": 0.5,
                "target": 0.7,
            }
        )
        for dataset in ("one", "two")
        for name in ("LiRA", "BMIA")
    )


def test_a_panel_a_model_over_the_same_records():
    figure = prediction_bands(bands())
    assert [axis.get_title() for axis in figure.axes] == ["a", "b"]
    for axis in figure.axes:
        np.testing.assert_allclose(axis.lines[0].get_ydata(), -np.linspace(-1, 1, 5))
        assert len(axis.collections) == 1


def test_densities_have_thresholds_and_the_score():
    figure = densities_with_thresholds(densities())
    for axis in figure.axes:
        # Two densities with a threshold each, and the target's score.
        assert len(axis.lines) == 5
        np.testing.assert_allclose(axis.lines[-1].get_xdata(), 0.7)


@pytest.mark.parametrize(
    ("draw", "table"), [(prediction_bands, bands()), (densities_with_thresholds, densities())]
)
def test_missing_columns_are_named(draw, table):
    with pytest.raises(InputError, match="series"):
        draw(table.drop(columns="series"))
    with pytest.raises(InputError, match="empty"):
        draw(table.iloc[:0])
