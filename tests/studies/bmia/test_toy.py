import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from membership.studies.bmia import toy
from membership.studies.bmia.settings import Settings


def test_figure_1_is_the_same_with_one_thread_and_with_two(monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 20)
    monkeypatch.setattr(toy, "TEST", 200)
    settings, found = Settings.from_values({"profile": "tiny"}), []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(toy.figure_1(settings))
    assert found[0].equals(found[1])
    assert found[0].attrs["note"] == found[1].attrs["note"]


@pytest.mark.slow
def test_the_band_of_all_weights_is_the_wide_one_in_the_middle(monkeypatch):
    monkeypatch.setattr(toy, "TEST", 200)
    table = toy.figure_1(Settings.from_values({"profile": "tiny"}))
    middle = table[(table["series"] != "data") & (table["x"].abs() < 1)]
    width = (middle["high"] - middle["low"]).groupby(middle["series"]).mean()
    assert width.idxmax() == "Laplace, all weights"
    assert np.isfinite(width).all()


@pytest.mark.parametrize("answers", toy.ANSWERS, ids=["regression", "quantiles"])
def test_networks_fitted_together_are_those_fitted_alone(answers, monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 20)
    rng = np.random.default_rng(0)
    x = np.stack([toy.drawn(rng, 30)[0] for _ in range(3)])
    y = np.sin(x)
    together = toy._fit_all(x, y, *answers, [4, 5, 6], 20)
    alone = toy._fit(x[1], y[1], *answers, 5)
    query = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(toy._answer(together[1], query), toy._answer(alone, query))


def test_control_11_has_both_readings(source):
    table = source.table("bmia-ctl-11")
    rows = table.set_index(["reading", "model", "metric"])["value"]
    for reading in toy.READINGS:
        wide, narrow = (
            rows[reading, name, toy.RATIO]
            for name in ("Laplace, all weights", "quantile regression")
        )
        excess = rows[reading, "Laplace, all weights", toy.EXCESS]
        assert excess == pytest.approx(wide - narrow)
