"""Runs of several phases and groups of records, against plain sums over a grid in float64."""

import math

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import norm

from membership import privacy
from membership.errors import InputError

PHASES = [
    {"rate": 0.01, "steps": 500, "sigma": 1.0},
    {"rate": 0.004, "steps": 1000, "sigma": 0.8},
]
Z = np.linspace(-9.0, 16.0, 2501)
ONE = {"n": 1.0, "n_records": 4.0, "steps": 1}


def densities(mu, p, group=1):
    """The mixture's masses and those of N(0, 1) on a fine grid of one observation."""
    width = Z[1] - Z[0]
    weights = [comb(group, j) * p**j * (1 - p) ** (group - j) for j in range(group + 1)]
    mixed = sum(w * norm.pdf(Z, j * mu) for j, w in enumerate(weights))
    return mixed * width, norm.pdf(Z) * width


def slow_delta(epsilon, steps):
    """The larger of two orders' deltas: a sum over all pairs of two observations."""
    (one, null), (other, other_null) = (densities(*step) for step in steps)
    joined, out = np.outer(one, other), np.outer(null, other_null)
    e = math.exp(epsilon)
    return max(np.maximum(a - e * b, 0).sum() for a, b in ((joined, out), (out, joined)))


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("delta", [0.05, 1e-3, 1e-5])
def test_two_phases_are_a_sum_over_two_observations(delta, group):
    first, second = ONE | {"sigma": 1.0}, ONE | {"n_records": 10.0, "sigma": 2.0}
    found = privacy.assess(history=[first, second], delta=delta, group=group)
    slow = slow_delta(found.epsilon, [(1.0, 0.25, group), (0.5, 0.1, group)])
    assert slow == pytest.approx(delta, rel=2e-3)
    assert found.steps == 2


def test_a_full_batch_may_be_a_phase():
    first, second = ONE | {"sigma": 1.0}, {"n": 4.0, "n_records": 4.0, "steps": 1, "sigma": 2.0}
    found = privacy.assess(history=[first, second], delta=1e-3)
    assert slow_delta(found.epsilon, [(1.0, 0.25), (0.5, 1.0)]) == pytest.approx(1e-3, rel=2e-3)


@pytest.mark.parametrize(
    ("sampling", "adjacency"),
    [("poisson", "add-remove"), *((s, "replace-one") for s in privacy.SAMPLINGS)],
)
@pytest.mark.parametrize("sizes", [{}, {"d": 65, "k": [40.0, 90.0]}])
def test_a_history_of_equal_phases_is_one_long_phase(sampling, adjacency, sizes):
    scheme = {"sampling": sampling, "adjacency": adjacency, **sizes}
    run = {"n": 100, "n_records": 5000, "sigma": 1.2}
    long = privacy.assess(**run, epochs=12, **scheme)
    parts = [run | {"epochs": epochs} for epochs in (3, 4)]
    for found in (
        privacy.assess(**run, epochs=5, history=parts, **scheme),
        privacy.assess(history=[*parts, run | {"epochs": 5}], **scheme),
    ):
        assert (found.steps, found.epsilon) == (long.steps, long.epsilon)
        assert (found.differential.tpr, found.membership.tpr) == (
            long.differential.tpr,
            long.membership.tpr,
        )
        assert found.differential.limit == pytest.approx(long.differential.limit, rel=1e-12)
        assert found.mixture == pytest.approx(long.mixture, rel=1e-12)


def test_the_order_of_phases_does_not_matter():
    there, back = (privacy.assess(history=h) for h in (PHASES, PHASES[::-1]))
    assert there.epsilon == pytest.approx(back.epsilon, rel=1e-9)
    alone = [privacy.assess(history=[phase]).epsilon for phase in PHASES]
    assert max(alone) < there.epsilon < sum(alone)


def test_full_batches_add_their_squares():
    phases = [{"rate": 1, "steps": 9, "sigma": 10.0}, {"rate": 1, "steps": 16, "sigma": 20.0}]
    found = privacy.assess(history=phases, group=3)
    mu = 3 * math.hypot(0.3, 0.2)
    assert found.differential.limit == pytest.approx(mu, rel=1e-12)
    assert found.differential.mu == pytest.approx(mu, rel=1e-12)
    assert found.epsilon == privacy.gaussian_epsilon(found.differential.mu, 1e-5)
    assert found.differential.auc == privacy.gaussian_auc(found.differential.mu)


def test_noise_is_found_beside_a_history():
    run = {"rate": 0.004, "steps": 1000}
    sigma = privacy.required_sigma("epsilon", 2.0, **run, history=PHASES[:1])
    found = privacy.assess(**run, sigma=sigma, history=PHASES[:1])
    assert found.epsilon == pytest.approx(2.0, rel=1e-6)
    assert found.sigma == sigma
    with pytest.raises(InputError, match="a history that has not spent it"):
        privacy.required_sigma("epsilon", 0.5, **run, history=PHASES[:1])


def test_a_larger_group_is_promised_less():
    run = {"rate": 0.004, "steps": 3000, "sigma": 1.1}
    found = [privacy.assess(**run, group=k) for k in (1, 2, 4)]
    one = found[0]
    for each, k in zip(found[1:], (2, 4), strict=True):
        # In the limit of many steps its level is k times as high, and a bit more.
        assert 1 < each.differential.limit / (k * one.differential.limit) < 1.1
        assert each.differential.mu == pytest.approx(each.differential.limit, rel=0.1)
        assert each.membership == each.differential


@pytest.mark.slow
@pytest.mark.parametrize("group", [1, 4])
def test_dp_accounting_has_the_same_histories_and_groups(group):
    pytest.importorskip("dp_accounting")
    ours, theirs = (f(history=PHASES, group=group) for f in (privacy.assess, privacy.established))
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=1e-3)
    assert ours.differential.tpr == pytest.approx(theirs.tpr, rel=1e-2)


REFUSED = [
    ({"history": [{**PHASES[0], "epoch": 3}]}, r"history\[0\]: unknown 'epoch'; a phase has n, "),
    ({"history": [PHASES[0], {**PHASES[1], "steps": 0}]}, r"history\[1\]: steps = 0: give a whole"),
    ({"history": [{"rate": 0.1, "sigma": 1.0}]}, r"history\[0\]: epochs = None"),
    ({"history": [{**PHASES[0], "sigma": -1.0}]}, r"history\[0\]: sigma = -1"),
    ({"history": [(1.0, 0.1, 5)]}, r"history\[0\] = \(1.0, 0.1, 5\): give a phase as a dict"),
    ({"history": PHASES[0]}, "give a list of phases"),
    ({"history": "0.1"}, "give a list of phases"),
    ({"history": 3}, "history = 3: give a list of phases"),
    ({"history": PHASES, "sigma": 1.1}, "sigma = 1.1: without a run beside the history"),
    ({"history": PHASES, "steps": 3}, "n = None"),
    ({"history": PHASES, "d": 65}, r"history\[0\]: n = None"),
    ({"history": [PHASES[0] | {"steps": 7e8}] * 2}, "history: 1.4e\\+09 steps in all"),
    ({"history": PHASES, "group": 0}, "group = 0: give a whole number of records, 1 to 100"),
    ({"history": PHASES, "group": 2.5}, "group = 2.5"),
    ({"history": PHASES, "group": 2, "d": 65}, "group = 2 and d = 65"),
    ({"history": PHASES, "group": 2, "adjacency": "replace-one"}, "group = 2: no accountant here"),
    ({"n": 9, "n_records": 90, "epochs": 1, "d": 5, "k": [1.0, 0.0]}, "k = 0.0"),
    ({"n": 9, "n_records": 90, "epochs": 1, "d": 5, "k": [1.0] * 201}, "k: 201 values; give 1 to"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_cannot_be_composed_is_refused_in_a_line(given, said):
    with pytest.raises(InputError, match=said) as refused:
        privacy.assess(**given)
    assert "\n" not in str(refused.value)


def test_a_group_of_replaced_records_has_full_and_shuffled_batches():
    shuffled = {"sampling": "shuffled", "adjacency": "replace-one", "sigma": 20.0}
    found = privacy.assess(100, 5000, 9, group=2, **shuffled)
    assert found.differential.mu == pytest.approx(2 * 2 * 3 / 20.0, rel=1e-12)
