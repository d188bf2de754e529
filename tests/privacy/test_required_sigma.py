import pytest

from membership import privacy

SIZES = {"n": 256, "n_records": 60_000, "epochs": 60}
REPLACED = {"adjacency": "replace-one"}
SCHEMES = [{}, REPLACED, *({**REPLACED, "sampling": name} for name in ("fixed", "shuffled"))]


def back(sigma, d=None, **scheme):
    return privacy.assess(**SIZES, d=d, sigma=sigma, **scheme)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme",
    [{}, REPLACED, {**REPLACED, "sampling": "fixed"}, {**REPLACED, "sampling": "shuffled"}],
)
def test_the_noise_gives_the_target_back(scheme):
    sigma = privacy.required_sigma("epsilon", 2.0, **SIZES, **scheme)
    assert back(sigma, **scheme).epsilon == pytest.approx(2.0, rel=1e-7)
    sigma = privacy.required_sigma("mu", 0.7, **SIZES, **scheme)
    assert back(sigma, **scheme).differential.mu == pytest.approx(0.7, rel=1e-7)
    sigma = privacy.required_sigma("tpr", 0.05, fpr=0.01, **SIZES, **scheme)
    assert back(sigma, **scheme).differential.tpr[1] == pytest.approx(0.05, rel=1e-7)


def test_where_the_limit_holds_it_is_the_papers_noise():
    scheme = {**REPLACED, "sampling": "fixed"}
    sigma = privacy.required_sigma("mu", 0.4, 400, 48_000, 10, **scheme)
    tau = privacy.required_noise(0.4, "gdp", 650, 400, 650, 500.0, 48_000, 1200)
    assert sigma * 500.0 / 400 == pytest.approx(tau, rel=2e-3)


@pytest.mark.slow
def test_membership_may_need_no_noise():
    sizes = {**SIZES, "d": 65, "protect": "membership"}
    free = back(0.0, d=65).membership
    assert privacy.required_sigma("mu", 1.01 * free.mu, **sizes) == 0.0
    sigma = privacy.required_sigma("mu", 0.9 * free.mu, **sizes)
    assert back(sigma, d=65).membership.mu == pytest.approx(0.9 * free.mu, rel=1e-7)


@pytest.mark.parametrize("value", [1e-3, 50.0])
def test_extreme_targets_are_reached(value):
    sigma = privacy.required_sigma("epsilon", value, **SIZES)
    assert back(sigma).epsilon == pytest.approx(value, rel=1e-6)
