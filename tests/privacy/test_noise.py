import math

import numpy as np
import pytest

from membership import privacy, published
from membership.errors import InputError

CASES = {
    "CIFAR-10": (650, 400, 48_000, 10, 500.0),
    "Purchase": (2580, 795, 54_855, 3, 2000.0),
    "Adult": (1026, 1000, 43_000, 20, 800.0),
}
LEVELS = np.exp(np.linspace(math.log(0.4), math.log(50), 20))


def noise_free(n, n_records, epochs, d):
    step = privacy.mip_mu_step(d, n, d)
    return privacy.subsampled_mu(step, n, n_records, math.ceil(n_records * epochs / n))


def noise(mu, notion, case, statistic="likelihood-ratio"):
    d, n, n_records, epochs, clip = case
    steps = math.ceil(n_records * epochs / n)
    return privacy.required_noise(mu, notion, d, n, d, clip, n_records, steps, statistic=statistic)


@pytest.mark.parametrize("statistic", ["likelihood-ratio", "distance"])
def test_table_5_is_reproduced(statistic):
    printed = published.table("gmip_table5")
    assert len(printed) == 120
    for (dataset, method), rows in printed.groupby(["dataset", "method"], sort=False):
        notion = {"MIP": "mip", "DP": "gdp"}[method]
        found = [noise(mu, notion, CASES[dataset], statistic) for mu in LEVELS]
        np.testing.assert_allclose(found, rows["tau"], atol=0.005)
        np.testing.assert_allclose(LEVELS, rows["mu"], atol=0.005)


@pytest.mark.parametrize("name", CASES)
def test_the_noise_gives_the_level_back(name):
    d, n, n_records, epochs, clip = CASES[name]
    steps = math.ceil(n_records * epochs / n)
    for mu in (0.2, 0.5, 3.0):
        tau = noise(mu, "gdp", CASES[name])
        step = privacy.gdp_mu_step(n, tau, clip)
        assert privacy.subsampled_mu(step, n, n_records, steps) == pytest.approx(mu, rel=1e-9)
    tau = noise(0.4, "mip-alone", CASES[name])
    step = privacy.mip_mu_step(d, n, d, tau, clip)
    assert privacy.subsampled_mu(step, n, n_records, steps) == pytest.approx(0.4, rel=1e-9)


def test_no_noise_where_the_level_is_reached_without():
    assert noise(0.79, "mip", CASES["CIFAR-10"]) == 0.0
    assert noise(0.78, "mip", CASES["CIFAR-10"]) > 0.0
    assert privacy.required_noise(5.0, "mip", 650, 400, 650, None, 48_000, 1200) == 0.0


def test_membership_never_needs_more_than_gdp():
    for case in CASES.values():
        for mu in LEVELS:
            alone, gdp = noise(mu, "mip-alone", case), noise(mu, "gdp", case)
            assert noise(mu, "mip", case) == min(alone, gdp)


@pytest.mark.parametrize("name", CASES)
def test_only_just_below_the_noise_free_level_is_corollary_5_1_below_gdp(name):
    d, n, n_records, epochs, _ = CASES[name]
    free = noise_free(n, n_records, epochs, d)
    for share, cheaper in ((0.9, False), (0.99, False), (0.999, True)):
        mu = share * free
        alone, gdp = noise(mu, "mip-alone", CASES[name]), noise(mu, "gdp", CASES[name])
        assert (0 < alone < gdp) == cheaper
    # No level of Table 5 lies in that window.
    assert not ((free * 0.99 < LEVELS) & (free > LEVELS)).any()


def test_corollary_5_1_just_below_the_noise_free_level_of_cifar():
    mu = 0.995 * noise_free(400, 48_000, 10, 650)
    assert noise(mu, "mip-alone", CASES["CIFAR-10"]) == pytest.approx(1.71, abs=0.005)
    assert noise(mu, "gdp", CASES["CIFAR-10"]) == pytest.approx(1.97, abs=0.005)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"mu": 0.0}, "mu = 0"),
        ({"mu": math.inf}, "mu = inf"),
        ({"mu": 1e-9}, "mu = 1e-09"),
        ({"notion": "dp"}, "notion = 'dp'"),
        ({"clip": None}, "clip is missing"),
        ({"notion": "mip", "clip": None}, "clip is missing"),
        ({"n": 1}, "n = 1"),
        ({"n": "40"}, "n = '40'"),
        ({"n_records": 3}, "n_records = 3"),
        ({"steps": 0}, "steps = 0"),
    ],
)
def test_bad_input_is_named(changed, named):
    good = dict(mu=0.1, notion="gdp", d=65, n=40, k=65, clip=1.0, n_records=400, steps=100)
    with pytest.raises(InputError, match=named):
        privacy.required_noise(**{**good, **changed})
