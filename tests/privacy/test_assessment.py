import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from membership import privacy
from membership.book.cli import calculator
from membership.privacy import numerical

PAPER = {"sampling": "fixed", "adjacency": "replace-one"}
SIZES = {"n": 256, "n_records": 60_000, "epochs": 60}


def test_the_papers_levels_without_noise():
    # Printed by the notebook that the authors released.
    for sizes, mu in (
        (dict(n=400, n_records=48_000, epochs=10, d=650), 0.7865955046430421),
        (dict(n=795, n_records=54_855, epochs=3, d=2580), 1.4470370595554225),
        (dict(n=1000, n_records=43_000, epochs=20, d=1026), 1.1921696789742704),
    ):
        found = privacy.assess(**sizes, **PAPER)
        assert found.membership.limit == pytest.approx(mu, rel=1e-12)
        assert found.membership.mu == pytest.approx(found.membership.limit, rel=0.03)
        assert found.membership.limit_holds
        assert found.differential.mu == found.differential.step == found.epsilon == math.inf
        assert found.membership_one_sided < found.membership.mu


def test_with_noise_the_smaller_level_counts():
    tau = privacy.required_noise(0.4, "gdp", 650, 400, 650, 500.0, 48_000, 1200)
    sigma = privacy.noise_multiplier(400, tau, 500.0)
    found = privacy.assess(400, 48_000, 10, 650, sigma=sigma, **PAPER)
    assert found.steps == 1200
    assert found.differential.limit == pytest.approx(0.4, rel=1e-9)
    assert found.membership.mu == found.differential.mu
    assert found.effective_batch_size == pytest.approx(400 + (tau * 400 / 500) ** 2)


def test_the_clipping_norm_matters_through_the_multiplier_alone():
    for clip in (0.1, 7.0):
        sigma = privacy.noise_multiplier(50, 0.3 * clip, clip)
        found = privacy.assess(50, 1000, 5, 65, k=90.0, sigma=sigma)
        assert found.membership.step == pytest.approx(
            privacy.mip_mu_step(65, 50, 90.0, 0.3 * clip, clip), rel=1e-12
        )
        assert found.differential.step == pytest.approx(
            privacy.gdp_mu_step(50, 0.3 * clip, clip) / 2, rel=1e-12
        )


def test_a_susceptible_record_is_worse_off():
    typical, extreme = (privacy.assess(50, 1000, 5, 65, k=k) for k in (None, 300.0))
    assert extreme.membership.mu > typical.membership.mu
    assert typical == privacy.assess(50, 1000, 5, 65, k=65)


def test_without_a_dimension_membership_is_what_differential_privacy_implies():
    found = privacy.assess(**SIZES, sigma=1.1)
    assert found.membership == found.differential


def test_few_steps_get_the_numerical_level():
    """Ten steps: in the limit .282 % at 0.1 % false positives, and in truth .529 %."""
    both = privacy.assess(100, 10_000, 0.1, 400, **PAPER)
    found = both.membership
    assert 100 * found.tpr[0] == pytest.approx(0.529, abs=5e-4)
    assert 100 * privacy.gaussian_tpr(0.001, found.limit) == pytest.approx(0.282, abs=5e-4)
    assert not found.limit_holds
    shown = privacy.gaussian_tpr(0.001, both.membership_one_sided)
    assert shown == pytest.approx(found.tpr[0], rel=1e-9)


SCHEMES = [("poisson", a) for a in privacy.ADJACENCIES] + [
    (s, "replace-one") for s in ("fixed", "shuffled")
]
SOME = st.fixed_dictionaries(
    {
        "n": st.integers(2, 2000),
        "n_records": st.integers(2000, 100_000),
        "epochs": st.floats(0.1, 30),
        "d": st.integers(1, 3000) | st.none(),
        "sigma": st.floats(0.3, 30) | st.just(0.0),
        "scheme": st.sampled_from(SCHEMES),
    }
)


def of(sizes):
    sampling, adjacency = sizes["scheme"]
    rest = {name: value for name, value in sizes.items() if name != "scheme"}
    return privacy.assess(**rest, sampling=sampling, adjacency=adjacency)


@given(SOME)
@settings(max_examples=25)
def test_levels_are_in_order(sizes):
    found = of(sizes)
    one_sided, both = found.membership_one_sided, found.membership
    assert one_sided <= both.mu <= found.differential.mu
    assert all(a <= b for a, b in zip(both.tpr, found.differential.tpr, strict=True))
    for level in (both, found.differential):
        at_level = privacy.gaussian_tpr(privacy.RATES, level.mu)
        # A level is read off rates up to one in a million below 1.
        assert (np.array(level.tpr) <= at_level + 1.01e-6).all()


def test_fixed_batches_promise_least_and_adding_most():
    epsilon = {scheme: of({**SIZES, "sigma": 1.1, "scheme": scheme}).epsilon for scheme in SCHEMES}
    assert sorted(epsilon.values()) == list(epsilon.values())


def test_the_command_offers_what_there_is():
    for name in ("SAMPLINGS", "ADJACENCIES", "PROTECTIONS"):
        assert getattr(calculator, name) == getattr(privacy, name)


def is_in_order(better, worse):
    """Up to what the grids differ in."""
    pairs = [(better.epsilon, worse.epsilon)]
    for name in ("differential", "membership"):
        one, other = getattr(better, name), getattr(worse, name)
        pairs += [(one.mu, other.mu), *zip(one.tpr, other.tpr, strict=True)]
    return all(a <= b * (1 + 1e-3) for a, b in pairs)


@pytest.mark.slow
@given(SOME, st.floats(1.1, 3))
@settings(max_examples=15)
def test_more_noise_is_more_privacy_and_more_steps_are_less(sizes, more):
    found = of(sizes)
    assert is_in_order(of({**sizes, "sigma": more * (sizes["sigma"] or 0.3)}), found)
    assert is_in_order(found, of({**sizes, "epochs": more * sizes["epochs"]}))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_smaller_delta_asks_for_a_larger_epsilon(scheme):
    deltas = (0.1, 1e-3, 1e-5, 1e-9, 9e-10, 1e-12, 1e-20, 1e-50, 1e-100)
    few = {"n": 50, "n_records": 1000, "epochs": 4, "sigma": 1.5, "scheme": scheme}
    found = [of({**few, "delta": delta}).epsilon for delta in deltas]
    assert sorted(found) == found
    assert np.isfinite(found).all()


# The level of one step at a full batch, in units of 1 / sigma.
FULL = [(*scheme, 1 if scheme[1] == "add-remove" else 2) for scheme in SCHEMES]


@pytest.mark.parametrize(("sampling", "adjacency", "norms"), FULL)
@pytest.mark.parametrize(("steps", "sigma"), [(1, 1.0), (100, 1.0), (10**6, 1e3), (10**9, 2e4)])
def test_a_full_batch_is_one_normal_test(sampling, adjacency, norms, steps, sigma):
    scheme = {"sampling": sampling, "adjacency": adjacency}
    found = privacy.assess(100, 100, steps, sigma=sigma, **scheme)
    mu = norms * math.sqrt(steps) / sigma
    assert found.differential.mu == found.differential.limit == pytest.approx(mu, rel=1e-12)
    assert found.epsilon == privacy.gaussian_epsilon(found.differential.mu, 1e-5)
    np.testing.assert_allclose(found.differential.tpr, privacy.gaussian_tpr(privacy.RATES, mu))
    assert found.differential.limit_holds
    if mu < 20:
        back = privacy.required_sigma("mu", mu, 100, 100, steps, **scheme)
        assert back == pytest.approx(sigma, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "n_records", "epochs", "sigma", "scheme", "mu"),
    [
        # A referee's, read off three rates of the composition; the limits are 1.790, 1.322, 1.939.
        (100, 10_000, 10, 0.6, ("poisson", "replace-one"), 1.560),
        (4, 1000, 4, 0.5, ("poisson", "replace-one"), 1.153),
        (200, 1000, 4, 1.0, ("poisson", "replace-one"), 1.724),
    ],
)
def test_the_level_of_large_batches_is_the_compositions(n, n_records, epochs, sigma, scheme, mu):
    sizes = {"n": n, "n_records": n_records, "epochs": epochs, "sigma": sigma, "scheme": scheme}
    found = of(sizes).differential
    shown = ndtri(found.tpr) - ndtri(privacy.RATES)
    assert shown.max() == pytest.approx(mu, abs=1e-3)
    # The rates between and beyond those three show more; what they show, no rate exceeds.
    assert found.mu >= shown.max()
    pair = numerical.Pair("exchanged", 1 / sigma, n / n_records)
    fine = numerical.compose([(pair, of(sizes).steps)], 20)
    rates = np.linspace(0.001, 0.999, 999)
    excess = ndtri(numerical.tpr(fine, rates)) - ndtri(rates)
    assert excess.max() == pytest.approx(found.mu, rel=5e-4)


@pytest.mark.parametrize(
    ("p", "sigma", "steps", "delta", "epsilon", "mu"),
    [
        (1e-4, 0.8, 10**6, 1e-7, 0.9127, 0.1954),
        (1e-3, 2.0, 10**6, 1e-5, None, 0.5333),
        (1e-3, 1.0, 10**6, 1e-6, 6.694, None),
    ],
)
def test_the_grid_grows_with_the_steps(p, sigma, steps, delta, epsilon, mu):
    """A referee's numbers on 2^22 points."""
    found = privacy.assess(1e6 * p, 1e6, steps * p, sigma=sigma, delta=delta)
    assert found.steps == steps
    if epsilon:
        assert found.epsilon == pytest.approx(epsilon, rel=5e-4)
    if mu:
        assert found.differential.mu == pytest.approx(mu, rel=5e-4)
    assert found.differential.limit_holds


@pytest.mark.parametrize(
    ("sizes", "is_cut_off"),
    [
        ({"sigma": 0.06}, True),
        ({"sigma": 1e-3, "adjacency": "replace-one"}, True),
        ({"sigma": 0.0}, False),
        ({"sigma": 0.07}, False),
        ({"sigma": 0.07, "n": 60_000}, False),
        ({"sigma": 0.1, "n": 59_000, "epochs": 9e8}, True),
    ],
)
def test_a_cut_off_is_called_one(sizes, is_cut_off):
    level = privacy.assess(**{**SIZES, **sizes}).differential
    assert level.is_cut_off is is_cut_off
    assert math.isinf(level.mu) is (is_cut_off or sizes["sigma"] == 0)


def test_batches_of_one_and_fewer():
    one, fewer = (privacy.assess(n, 10_000, n, sigma=1.0) for n in (1, 0.5))
    assert one.steps == fewer.steps == 10_000
    assert 0 < fewer.epsilon < one.epsilon < 0.05


@pytest.mark.parametrize(("sampling", "adjacency"), SCHEMES)
@pytest.mark.parametrize("d", [None, 65])
def test_rate_and_steps_are_batches_and_epochs(sampling, adjacency, d):
    scheme = {"sampling": sampling, "adjacency": adjacency, "sigma": 1.3, "d": d}
    given = privacy.assess(250, 10_000, 5, **scheme)
    logged = {"rate": 0.025, "steps": 200, **({} if d is None else {"n": 250})}
    found = privacy.assess(**logged, **scheme)
    assert found.differential == given.differential
    assert found.membership.mu == pytest.approx(given.membership.mu, rel=1e-12)
    assert (found.steps, found.epsilon) == (200, given.epsilon)


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.001), (2.0, 0.01)])
def test_replaced_among_coins_the_limit_is_of_the_distance_of_two_mixtures(sigma, rate):
    """One that holds the record, one another, as far on the other side: from N(0, 1) alike."""
    how = {"sampling": "poisson", "adjacency": "replace-one"}
    found = privacy.assess(rate=rate, steps=50_000, sigma=sigma, **how).differential

    def apart(x):
        joined, other = (norm.pdf(x, side / sigma) - norm.pdf(x) for side in (1, -1))
        return (rate * (joined - other)) ** 2 / norm.pdf(x)

    square, _ = quad(apart, -12, 12)
    assert found.limit == pytest.approx(np.sqrt(50_000 * square), rel=1e-6)
    assert found.mu == pytest.approx(found.limit, rel=0.03)


@pytest.mark.parametrize(("sigma", "steps"), [(0.5, 5), (0.5, 20), (0.3, 5)])
def test_coins_tell_no_more_than_all_records_at_every_step(sigma, steps):
    """Where the limit of many steps says that they tell twice as much."""
    found = privacy.assess(rate=0.6, steps=steps, sigma=sigma).differential
    at_full_batch = np.sqrt(steps) / sigma
    assert 0.5 * at_full_batch < found.mu < at_full_batch < found.limit / 2
