"""What the functions on privacy refuse: a call, and words of the one line."""

import math
from functools import partial

import numpy as np
import pytest

from membership import privacy
from membership.errors import InputError

SIZES = {"n": 256, "n_records": 60_000, "epochs": 60}
SCORE, MEMBER = np.arange(100.0), np.arange(100) % 2 == 0

# Calls that are fine before an argument of theirs is changed.
assess = partial(privacy.assess, n=50, n_records=1000, epochs=5, d=65)
required_noise = partial(
    privacy.required_noise,
    mu=0.1,
    notion="gdp",
    d=65,
    n=40,
    k=65,
    clip=1.0,
    n_records=400,
    steps=100,
)
one_run_epsilon = partial(privacy.one_run_epsilon, score=SCORE, member=MEMBER)
required_sigma = partial(privacy.required_sigma, target="epsilon", value=1.0, **SIZES)


@pytest.mark.parametrize("call", [assess, required_noise, one_run_epsilon, required_sigma])
def test_the_call_without_the_change_is_fine(call):
    assert call() is not None


REFUSED = [
    (partial(assess, n=1), "n = 1"),
    (partial(assess, n=0, d=None), "n = 0"),
    (partial(privacy.assess, n=50, n_records=1000), "epochs = None"),
    (partial(privacy.assess, epochs=5), "n = None"),
    (partial(privacy.assess, rate=0.0, steps=5), "rate = 0"),
    (partial(privacy.assess, rate=1.5, steps=5), "rate = 1.5"),
    (partial(privacy.assess, rate=0.1, steps=0), "steps = 0"),
    (partial(privacy.assess, rate=0.1, steps=2.5), "steps = 2.5"),
    (partial(privacy.assess, rate=0.1, steps=2e9), "at most 1e9 steps"),
    (partial(privacy.assess, rate=0.1, steps=5, d=65), "n = None"),
    (partial(assess, rate=0.1), "rate = 0.1 and n_records = 1000"),
    (partial(assess, steps=7), "epochs = 5 and steps = 7"),
    (partial(assess, n=0.5, d=None, sampling="fixed", adjacency="replace-one"), "n = 0.5: fixed"),
    (partial(assess, delta=1e-101), "delta = 1e-101"),
    (partial(assess, n_records=10), "n_records = 10"),
    (partial(assess, epochs=0), "epochs = 0"),
    (partial(assess, epochs="5"), "epochs = '5'"),
    (partial(assess, n_records="1000"), "n_records = '1000'"),
    (partial(assess, epochs=1e9), "at most 1e9 steps"),
    (partial(assess, d=0), "d = 0"),
    (partial(assess, k=0), "k = 0"),
    (partial(assess, sigma=-1.0), "sigma = -1"),
    (partial(assess, sigma=1e-09), "sigma = 1e-09"),
    (partial(assess, delta=0), "delta = 0"),
    (partial(assess, sampling="cyclic"), "expected one of poisson, fixed, shuffled"),
    (partial(assess, adjacency="edit"), "expected one of add-remove, replace-one"),
    (partial(assess, sampling="fixed"), "no accountant exists for fixed batches"),
    (partial(assess, sampling="shuffled"), "no accountant exists for shuffled batches"),
    (partial(privacy.noise_multiplier, 50, 1.0, None), "clip is missing"),
    (partial(privacy.mip_mu_step, 0, 10, 1), "d = 0"),
    (partial(privacy.mip_mu_step, 5, 1, 1), "n = 1"),
    (partial(privacy.mip_mu_step, 5, 10, 0), "k = 0"),
    (partial(privacy.mip_mu_step, 5, 10, 1, 0.1), "clip is missing"),
    (partial(privacy.mip_mu_step, 5, 10, 1, statistic="best"), "statistic = 'best'"),
    (partial(privacy.mip_mu_spectrum, [1.0, 0.0], 10), "eigenvalues"),
    (partial(privacy.gdp_mu_step, 10, -1.0, 1.0), "tau = -1"),
    (partial(privacy.gdp_mu_step, 10, 1.0, None), "clip is missing"),
    (partial(privacy.composed_mu, -1.0, 3), "mu_step = -1"),
    (partial(privacy.composed_mu, 1.0, 0), "steps = 0"),
    (partial(privacy.composed_mu, "1", 3), "mu_step = '1'"),
    (partial(privacy.composed_mu, math.nan, 3), "mu_step = nan"),
    (partial(privacy.subsampled_mu, None, 10, 50, 3), "mu_step = None"),
    (partial(privacy.mip_mu_step, "10", 20, 10), "d = '10'"),
    (partial(privacy.mip_mu_step, 10, 20, "10"), "k = '10'"),
    (partial(privacy.mip_mu_step, 10, True, 10), "n = True"),
    (partial(privacy.gdp_mu_step, 10, "1", 1.0), "tau = '1'"),
    (partial(privacy.gdp_mu_step, 10, 1.0, "1"), "clip = '1'"),
    (partial(privacy.subsampled_mu, 1.0, 10, 5, 3), "n_records = 5"),
    (partial(privacy.subsampled_mu, 1.0, 10, 50, 3, order="any"), "order = 'any'"),
    (partial(required_noise, mu=0.0), "mu = 0"),
    (partial(required_noise, mu=math.inf), "mu = inf"),
    (partial(required_noise, mu=1e-09), "mu = 1e-09"),
    (partial(required_noise, notion="dp"), "notion = 'dp'"),
    (partial(required_noise, clip=None), "clip is missing"),
    (partial(required_noise, notion="mip", clip=None), "clip is missing"),
    (partial(required_noise, n=1), "n = 1"),
    (partial(required_noise, n="40"), "n = '40'"),
    (partial(required_noise, n_records=3), "n_records = 3"),
    (partial(required_noise, steps=0), "steps = 0"),
    (partial(privacy.epsilon_lower_bound, SCORE, MEMBER, delta=1.0), "delta is 1.0"),
    (partial(privacy.epsilon_lower_bound, SCORE, MEMBER, delta=-0.1), "delta is -0.1"),
    (partial(privacy.epsilon_lower_bound, SCORE, MEMBER, level=1.0), "level is 1.0"),
    (partial(privacy.mu_lower_bound, SCORE[:6], MEMBER[:6]), "at least 4"),
    (partial(privacy.numerical_tradeoff, 2.0, 1.0, 10, 100, 5), "alpha = 2"),
    (partial(privacy.numerical_tradeoff, 0.1, 0.0, 10, 100, 5), "mu_step = 0"),
    (partial(privacy.numerical_tradeoff, 0.1, 16.0, 10, 100, 5), "mu_step = 16"),
    (partial(privacy.numerical_tradeoff, 0.1, 1.0, 10, 5, 5), "n_records = 5"),
    (partial(privacy.numerical_tradeoff, 0.1, 1.0, 10, 50, 0), "steps = 0"),
    (partial(privacy.numerical_tradeoff, 0.1, 1.0, 10, 50, "5"), "steps = '5'"),
    (partial(privacy.numerical_tradeoff, 0.1, "1", 10, 50, 5), "mu_step = '1'"),
    (partial(privacy.numerical_tradeoff, 0.1, 1.0, 10, 100, 5, grid=40), "grid = 40"),
    (partial(privacy.composed_mixture_tradeoff, 0.1, [20.0], 10, 20, 3), "mu_step"),
    (partial(privacy.composed_mixture_tradeoff, 0.1, [1.0, 0.0], 10, 20, 3), "mu"),
    (partial(privacy.gaussian_mixture_tradeoff, 0.1, [1.0, 0.0]), "mu"),
    (partial(privacy.gaussian_mixture_tradeoff, 1.1, [1.0]), "alpha = 1.1"),
    (partial(privacy.constant_rate_tradeoff, 0.1, []), "mu"),
    (partial(one_run_epsilon, delta=1.0), "delta is 1.0"),
    (partial(one_run_epsilon, delta=-0.1), "delta is -0.1"),
    (partial(one_run_epsilon, level=1.0), "level is 1.0"),
    (partial(one_run_epsilon, guesses=0), "guesses = 0"),
    (partial(one_run_epsilon, guesses=101), "guesses = 101: there are 100 records"),
    (partial(one_run_epsilon, guesses=[]), "guesses = \\[\\]"),
    (partial(one_run_epsilon, guesses=[1.5]), "guesses = 1.5"),
    (
        partial(one_run_epsilon, member=np.arange(100) < 10),
        "10 of 100 records are members.*p = 3.1e-17",
    ),
    (partial(one_run_epsilon, member=np.ones(100, bool)), "members only"),
    (partial(one_run_epsilon, score=np.full(100, np.nan)), "NaN"),
    (partial(required_sigma, target="sigma"), "target = 'sigma'"),
    (partial(required_sigma, value=0.0), "epsilon = 0"),
    (partial(required_sigma, value=1000.0), "epsilon = 1000"),
    (partial(required_sigma, target="tpr", value=0.001), "above the false positive rate"),
    (partial(required_sigma, target="tpr", value=0.5, fpr=0.02), "fpr = 0.02"),
    (partial(required_sigma, protect="membership"), "membership privacy has none"),
    (partial(required_sigma, protect="all"), "protect = 'all'"),
    (partial(required_sigma, target="tpr", value=0.001 + 1e-12), "no noise up to"),
    (partial(required_sigma, delta=2.0), "delta = 2"),
    (partial(required_sigma, sampling="shuffled"), "no accountant exists"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 1, 10), "n = 1"),
    (partial(privacy.mip_tradeoff, 0.1, 0, 10, 10), "d = 0"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 10, 0), "k = 0"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 10, -1.0), "k = -1"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 10, 10, -0.1, 1.0), "tau = -0.1"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 10, 10, 0.1), "clip is missing"),
    (partial(privacy.mip_tradeoff, 0.1, 10, 10, 10, 0.1, 0.0), "clip = 0"),
    (partial(privacy.mip_tradeoff, -0.1, 10, 10, 10), "alpha = -0.1"),
    (partial(privacy.mip_tradeoff, [0.5, 1.1], 10, 10, 10), "alpha = 1.1"),
    (partial(privacy.mip_tradeoff, math.nan, 10, 10, 10), "alpha = nan"),
    (
        partial(privacy.mip_tradeoff, "much", 10, 10, 10),
        "alpha must be an array of real numbers, not of words",
    ),
    (partial(privacy.mip_tradeoff, 0.1, math.inf, 10, 10), "d = inf"),
    (partial(privacy.mip_tpr, -0.1, 10, 10, 10), "alpha = -0.1"),
    (partial(privacy.mip_tpr, 0.1, 10, 1, 10), "n = 1"),
    (partial(privacy.mip_tpr, 0.1, 10, 10, 10, 0.1), "clip is missing"),
    (partial(privacy.gaussian_tradeoff, 0.1, -1.0), "mu = -1"),
    (partial(privacy.gaussian_tpr, 2.0, 1.0), "alpha = 2"),
    (partial(privacy.gaussian_auc, "1"), "mu = '1'"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_a_bad_argument_is_one_line_that_names_it(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
