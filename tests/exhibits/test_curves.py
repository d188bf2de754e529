import pandas as pd

from membership.exhibits.curves import curves


def table(**more):
    rows = {"panel": "MNIST", "series": ["LiRA", "LiRA", "LOSS", "LOSS"], "fpr": [0.1, 0.01] * 2}
    return pd.DataFrame({**rows, "tpr": [0.5, 0.123456, 0.1, 0.01], **more})


def test_the_curves_of_each_panel_in_order_of_their_rates():
    (panel,) = curves(table())["panels"]
    assert panel == {
        "name": "MNIST",
        "fpr": [0.01, 0.1],
        "curves": [{"name": "LiRA", "value": [0.123, 0.5]}, {"name": "LOSS", "value": [0.01, 0.1]}],
    }
    apart = curves(table(fpr=[0.1, 0.01, 0.1, 0.02]))["panels"][0]
    assert [one["fpr"] for one in apart["curves"]] == [[0.01, 0.1], [0.02, 0.1]]


def test_intervals_are_given_where_every_point_has_one():
    whole = curves(table(low=0.0, high=1.0))["panels"][0]["curves"][0]
    assert (whole["low"], whole["high"]) == ([0, 0], [1, 1])
    assert "low" not in curves(table(low=[0, 0, None, 0], high=1.0))["panels"][0]["curves"][1]
    exact = table().assign(low=lambda t: t["tpr"], high=lambda t: t["tpr"])
    assert "low" not in curves(exact)["panels"][0]["curves"][0]


def test_a_trade_off_function_has_another_rate_and_other_tables_have_no_curves():
    assert curves(table())["rate"] == "true positive rate"
    assert curves(table().rename(columns={"tpr": "fnr"}))["rate"] == "false negative rate"
    assert curves(table().drop(columns="tpr")) is None
    assert curves(table().drop(columns="panel")) is None
