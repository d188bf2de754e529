import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from membership import evidence
from membership.book.studies.bmia import toy
from membership.book.studies.bmia.settings import Settings


def test_the_toy_is_the_same_with_one_thread_and_with_two(monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 20)
    monkeypatch.setattr(toy, "STEPS_BY_PROFILE", {"tiny": 20})
    monkeypatch.setattr(toy, "TEST", 200)
    settings, tables, digests = Settings.from_values({"profile": "tiny"}), [], []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            tables.append(toy.figure_1(settings))
            digests.append(evidence.digest(toy.gather(settings)))
    assert tables[0].equals(tables[1])
    assert tables[0].attrs["note"] == tables[1].attrs["note"]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("answers", toy.ANSWERS, ids=["regression", "quantiles"])
def test_networks_fitted_together_are_those_fitted_alone(answers):
    rng = np.random.default_rng(0)
    x = np.stack([toy.drawn(rng, 30)[0] for _ in range(3)])
    y = np.sin(x)
    together = toy._fit(x, y, *answers, [4, 5, 6], 20)
    (alone,) = toy._fit(x[1:2], y[1:2], *answers, [5], 20)
    query = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(toy._answer(together[1], query), toy._answer(alone, query))


@pytest.mark.slow
def test_the_band_over_all_weights_is_widest_where_there_are_no_records(monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 600)
    monkeypatch.setattr(toy, "TEST", 500)
    table = toy.figure_1(Settings.from_values({"profile": "tiny"}))
    width = table.assign(width=table["high"] - table["low"]).query("series != 'data'")
    middle = width[width["x"].abs() < 0.04].set_index("series")["width"]
    assert middle["Laplace, all weights"] > middle["Laplace, last layer"]
    assert middle["Laplace, all weights"] > 2 * middle["quantile regression"]


def test_the_toys_evidence_is_the_marginal_density_of_the_data():
    """Against the normal density of y itself, for a model that is linear."""
    rng = np.random.default_rng(0)
    design, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    noise, precision = 0.3, 2.0
    gram = design.T @ design
    mode = np.linalg.solve(gram / noise + precision * np.eye(3), design.T @ y / noise)
    evidence = toy.Evidence(
        np.linalg.eigvalsh(gram), ((y - design @ mode) ** 2).sum(), (mode**2).sum(), 12
    )
    covariance = noise * np.eye(12) + design @ design.T / precision
    _, log_det = np.linalg.slogdet(covariance)
    direct = (12 * np.log(2 * np.pi) + log_det + y @ np.linalg.solve(covariance, y)) / 2
    assert evidence.negative_log(np.log([noise, precision])) == pytest.approx(direct)
