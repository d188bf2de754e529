"""Error rates and predicted densities, one panel a setting."""

import numpy as np
import pandas as pd
import pytest

from membership.errors import InputError
from membership.plots.rates import (
    accuracy_by_level,
    densities_with_thresholds,
    prediction_bands,
    roc_panels,
)


def example(panels=4):
    fpr = np.linspace(0.001, 1, 20)
    return pd.concat(
        pd.DataFrame(
            {
                "panel": f"panel {i}",
                "series": name,
                "fpr": fpr,
                "tpr": fpr**power,
                "low": fpr**power * 0.9,
                "high": np.minimum(fpr**power * 1.1, 1),
            }
        )
        for i in range(panels)
        for name, power in (("attack", 0.5), ("bound", 0.4))
    )


def test_trade_off_functions_fall():
    table = example(1).assign(fnr=lambda t: 1 - t["tpr"]).drop(columns=["low", "high"])
    (axis,) = roc_panels(table, y="fnr", y_label="false negative rate").axes
    chance = next(line for line in axis.lines if line.get_label() == "random scores")
    np.testing.assert_allclose(chance.get_ydata(), [1, 0])
    assert not axis.collections


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: roc_panels(t.drop(columns="fpr")), "fpr"),
        (lambda t: roc_panels(t.iloc[:0]), "empty"),
        (lambda t: roc_panels(t, floor=1.0), "floor = 1"),
    ],
)
def test_bad_input_is_named(change, named):
    with pytest.raises(InputError, match=named):
        change(example(1))


def test_accuracy_has_one_panel_a_data_set_and_logarithmic_levels():
    table = pd.DataFrame(
        {"dataset": d, "series": s, "mu": mu, "value": 80.0, "low": 79.0, "high": 81.0}
        for d in ("one", "two")
        for s in ("GMIP", "GDP")
        for mu in (0.4, 4.0, 40.0)
    )
    figure = accuracy_by_level(table)
    assert [axis.get_title() for axis in figure.axes] == ["one", "two"]
    for axis in figure.axes:
        assert axis.get_xscale() == "log"
        assert len(axis.containers) == 2
    with pytest.raises(InputError, match="mu"):
        accuracy_by_level(table.drop(columns="mu"))


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


@pytest.mark.parametrize(
    ("draw", "table"), [(prediction_bands, bands()), (densities_with_thresholds, densities())]
)
def test_missing_columns_are_named(draw, table):
    with pytest.raises(InputError, match="series"):
        draw(table.drop(columns="series"))
    with pytest.raises(InputError, match="empty"):
        draw(table.iloc[:0])
