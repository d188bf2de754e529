import numpy as np
import pytest

from membership.studies.bmia import toy, toy_seeds


@pytest.mark.parametrize("answers", toy.ANSWERS, ids=["regression", "quantiles"])
def test_networks_fitted_together_are_those_fitted_alone(answers, monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 20)
    rng = np.random.default_rng(0)
    x = np.stack([toy.draw_x(rng, 30) for _ in range(3)])
    y = np.sin(x)
    together = toy_seeds._fit(x, y, *answers, [4, 5, 6], 20)
    alone = toy._fit(x[1], y[1], *answers, 5)
    query = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(toy._answer(together[1], query), toy._answer(alone, query))


def test_control_11_has_both_readings(source):
    table = source.table("bmia-ctl-11")
    rows = table.set_index(["reading", "model", "metric"])["value"]
    for reading in toy_seeds.READINGS:
        wide, narrow = (
            rows[reading, name, toy_seeds.RATIO]
            for name in ("Laplace, all weights", "quantile regression")
        )
        excess = rows[reading, "Laplace, all weights", toy_seeds.EXCESS]
        assert excess == pytest.approx(wide - narrow)
