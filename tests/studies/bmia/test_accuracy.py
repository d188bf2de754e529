import numpy as np
import pandas as pd
import pytest

from membership.studies.bmia import accuracy, retraining


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-16")


def test_every_network_of_every_set_stands_once(table, settings):
    assert not table.duplicated(["dataset", "network", "members", "metric"]).any()
    networks = set(table["network"])
    assert networks >= {*settings.architectures, "mlp-32"}
    assert set(table["dataset"]) == {"digits", "Purchase-like (simulated)"}


def test_the_gain_is_that_of_control_1(table, source):
    other = source.table("bmia-ctl-1").set_index(["attack", "metric"])["value"]
    own = table[(table["dataset"] == "digits") & (table["network"] == "mlp-32")]
    found = own.set_index("metric")["value"]
    assert found[accuracy.RATE] == pytest.approx(other["BMIA", accuracy.RATE])
    assert found[accuracy.AUC] == pytest.approx(other["BMIA", accuracy.AUC])


def test_the_mechanism_is_that_of_control_5(table, source):
    other = source.table("bmia-ctl-5").set_index("quantity")["value"]
    own = table[(table["dataset"] == "digits") & (table["network"] == "mlp-32")]
    found = own.set_index("metric")["value"]
    name = retraining.SD_AND_SCORE
    assert found[name] == pytest.approx(other[name])


def test_accuracies_are_shares(table, seen):
    held = 100 * (seen.outputs["held_hinge"].values[seen.targets] > 0).mean()
    digits = table[(table["dataset"] == "digits") & (table["network"] == "mlp-32")]
    assert digits[accuracy.TEST].to_list() == pytest.approx([held] * len(digits))
    rows = table[table["metric"].isin([accuracy.ON_OTHERS, accuracy.ON_MEMBERS])]
    assert rows["value"].between(0, 100).all()
    own = rows[rows["metric"] == accuracy.ON_OTHERS]
    np.testing.assert_allclose(own["value"], own[accuracy.TEST])


def test_the_note_orders_the_gains():
    rows = [
        {"dataset": "a", "network": str(n), "members": 1, "metric": metric, "value": value}
        for n in range(4)
        for metric, value in ((accuracy.ON_OTHERS, n), (accuracy.RATE, -n))
    ]
    note = accuracy._orders(pd.DataFrame(rows))
    assert note.endswith("with: accuracy on other records (%) -1.00 (4 networks).")
    assert accuracy._orders(pd.DataFrame(rows[:4])) == ""


def test_the_picture_has_both_gains(table):
    figure = accuracy.draw(table)
    assert len(figure.axes) == 2
