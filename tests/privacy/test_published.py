"""Values that other accountants publish, against ours.

Microsoft: `msr_values` of Opacus' own test of its copy of prv_accountant, "computed from
github.com/microsoft/prv_accountant" (pytorch/opacus, opacus/tests/prv_accountant.py), delta 1e-6.
Opacus: opacus/tests/accountants_test.py. Google: dp_accounting/pld/pld_privacy_accountant_test.py
(google/differential-privacy). PRV's and Google's are numerical compositions as ours; Opacus' Rényi
accountant is a bound, which no exact one exceeds, and its Gaussian one is the limit.
"""

import math

import pytest

from membership import privacy

# sigma, rate, steps: epsilon at delta 1e-6. What that accountant returns is the upper end of what
# it encloses, its estimate and its `eps_error` (opacus/accountants/prv.py).
EPS_ERROR = 0.01
MICROSOFT = [
    (0.8, 0.001, 100, 0.270403364058),
    (3.0, 0.001, 100, 0.021520093439),
    (0.8, 0.05, 100, 6.741051939414),
    (2.0, 0.05, 100, 1.283637379624),
    (0.8, 0.2, 100, 24.333664177923),
    (3.0, 0.2, 100, 3.381220510222),
    (1.5, 0.001, 1000, 0.099820660231),
    (0.8, 0.05, 1000, 19.525842805384),
    (3.0, 0.05, 1000, 2.527574326060),
    (0.8, 0.001, 20_000, 1.296009257570),
    (3.0, 0.001, 20_000, 0.194031030687),
    (0.8, 0.05, 20_000, 140.655209760074),
    (2.0, 0.05, 20_000, 24.421718570323),
    (1.5, 0.001, 50_000, 0.704218384556),
    (3.0, 0.05, 50_000, 24.942005643144),
    (0.8, 0.001, 100_000, 2.924622119350),
    (3.0, 0.001, 100_000, 0.443671720881),
]


@pytest.mark.parametrize(("sigma", "rate", "steps", "epsilon"), MICROSOFT)
def test_microsofts_values(sigma, rate, steps, epsilon):
    found = privacy.assess(rate=rate, steps=steps, sigma=sigma, delta=1e-6)
    assert found.epsilon < epsilon
    assert found.epsilon == pytest.approx(epsilon - EPS_ERROR, rel=1e-3, abs=4e-4)


@pytest.mark.parametrize(
    ("run", "epsilon", "delta", "digits"),
    [
        # test_gaussian_basic: sigma sqrt 3, one step and two more.
        ({"rate": 1, "steps": 3, "sigma": math.sqrt(3)}, 1.0, 0.126936, 1e-6),
        # test_poisson_subsampled_gaussian and test_self_composed_subsampled_gaussian.
        ({"rate": 0.2, "steps": 3, "sigma": 0.5}, 1.0, 0.15594, 1e-5),
        (
            {"history": [{"rate": 0.2, "steps": t, "sigma": 0.5} for t in (1, 2)]},
            1.0,
            0.15594,
            1e-5,
        ),
    ],
)
def test_googles_values(run, epsilon, delta, digits):
    level = privacy.assess(**run).differential
    assert level.delta_at(epsilon) == pytest.approx(delta, abs=digits)
    assert level.epsilon_at(delta) == pytest.approx(epsilon, abs=1e-3)


def test_opacus_values():
    run = {"rate": 0.04, "steps": 2250, "delta": 1e-5}
    found = privacy.assess(**run, sigma=1.5)
    # test_gdp_accountant: the limit of many steps, 6.59 to 6.6; there 90 // 0.04 is 2249.
    limit = privacy.assess(**run | {"steps": 2249}, sigma=1.5).differential.limit
    assert 6.59 < privacy.gaussian_epsilon(limit, 1e-5) < 6.6
    # test_rdp_accountant: an upper bound.
    assert 0.9 * 7.32911117143 < found.epsilon < 7.32911117143
    # test_get_noise_multiplier_rdp_epochs and _steps: noise that is enough, and a little more.
    for steps, sigma in ((2250, 1.416), (2000, 1.3562)):
        least = privacy.required_sigma("epsilon", 8.0, **run | {"steps": steps})
        assert 0.9 * sigma < least < sigma
