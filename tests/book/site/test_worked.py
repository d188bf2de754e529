"""The cases that chapters work by hand, each worked once more from what it is about."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from membership.book.site import substitutions, worked
from membership.errors import InputError


def test_the_loss_decides_between_two_models():
    case = worked.case("two models")
    weights = {name: math.exp(-case[f"loss, {name}"]) for name in ("first", "second")}
    for name, weight in weights.items():
        drawn = weight / sum(weights.values())
        assert case[f"with the record, {name}"] == pytest.approx(drawn)
        assert case[f"member, {name}"] == pytest.approx(drawn / (drawn + 0.5))
        # The theorem: the log-odds are the threshold less the loss.
        odds = math.log(case[f"member, {name}"] / (1 - case[f"member, {name}"]))
        assert odds == pytest.approx(case["threshold"] - case[f"loss, {name}"])


def test_newton_steps_lead_to_the_minima():
    case, others = worked.case("one weight"), np.array([-4.0, -3, -2, -1, 0, 1, 2, 3, 4])
    w = case["weight"]
    # Sums of gradients over ten, for the record and nine others of mean 0, with the Hessian 1.
    without, added = (w - others).sum() / 10, (w - 1) / 10
    assert case["step without"] == pytest.approx(abs(without))
    assert case["step with"] == pytest.approx(abs(without + added))
    assert case["step with"] < case["step without"]
    assert case["difference of squares"] == pytest.approx(
        10 * ((without + added) ** 2 - without**2)
    )


@pytest.mark.parametrize("n", [500, 5000])
def test_a_step_hides_an_average_record(n):
    case, mu = worked.case("one step"), math.sqrt(2 * 650 / (2 * n + 1))
    assert case[f"mu, {n}"] == pytest.approx(mu)
    assert case[f"TPR, {n}"] == pytest.approx(stats.norm.sf(stats.norm.isf(0.1) - mu))


@pytest.mark.parametrize("query", [0.0, 0.5, 1.0])
def test_the_fog_is_that_of_two_refitted_processes(query):
    def predicted(x, y):
        kernel = np.exp(-0.5 * np.subtract.outer(x, x) ** 2) + 0.1 * np.eye(len(x))
        cross = np.exp(-0.5 * (query - np.array(x)) ** 2)
        solved = np.linalg.solve(kernel, cross)
        return stats.norm(solved @ y, math.sqrt(1 - solved @ cross))

    without, with_record = predicted([1.0], [0.0]), predicted([1.0, 0.0], [0.0, 1.0])
    kl, _ = integrate.quad(
        lambda f: without.pdf(f) * (without.logpdf(f) - with_record.logpdf(f)), -12, 12, limit=500
    )
    assert worked.number("fog", str(query)) == pytest.approx(kl, rel=1e-6)


def test_under_normalisation_nearer_the_mean_tells_a_hundred_times_more():
    far, near, nearest = (worked.number("normalised", at) for at in ("0.1", "0.01", "0.001"))
    assert near / far == pytest.approx(100, rel=0.15)
    assert nearest / near == pytest.approx(100, rel=0.05)


def test_a_hotter_draw_tells_less():
    for temperature in (1, 4):
        weight = math.exp(-1 / temperature)
        assert worked.number("tempered", str(temperature)) == pytest.approx(1 / (1 + weight))


def test_three_rulers_disagree():
    case = worked.case("three rulers")
    assert case["high, wall"] == pytest.approx(case["high, floor"])
    assert case["far, wall"] < case["far, floor"]
    assert case["steep, wall"] > case["steep, floor"]


def test_a_page_asks_by_name():
    assert substitutions.worked("one step", "mu, 500", ".2f") == "1.14"
    with pytest.raises(InputError, match="no worked case 'fogg'; there are two models"):
        worked.number("fogg", "0.0")
    with pytest.raises(InputError, match=r"the case 'fog' has no '2'; it has 0\.0, 0\.5"):
        worked.number("fog", "2")
