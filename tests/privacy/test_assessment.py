import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membership import privacy
from membership.cli import calculator

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
        assert found.membership.mu == pytest.approx(found.membership.limit, rel=0.01)
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
    found = privacy.assess(100, 10_000, 0.1, 400, **PAPER).membership
    assert 100 * found.tpr[0] == pytest.approx(0.529, abs=5e-4)
    assert 100 * privacy.gaussian_tpr(0.001, found.limit) == pytest.approx(0.282, abs=5e-4)
    assert not found.limit_holds
    assert privacy.gaussian_tpr(0.001, found.mu) == pytest.approx(found.tpr[0], rel=1e-9)


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
    assert both.limit <= both.mu
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


@pytest.mark.slow
@given(SOME, st.floats(1.1, 3))
@settings(max_examples=15)
def test_more_noise_is_more_privacy(sizes, more):
    less, better = of(sizes), of({**sizes, "sigma": more * (sizes["sigma"] or 0.3)})
    assert better.epsilon <= less.epsilon * (1 + 1e-6)
    assert better.differential.mu <= less.differential.mu * (1 + 1e-6)
