"""The law of variances is found again, and BaVarIA is LiRA at both of its ends."""

import numpy as np
import pytest
from scipy import stats

from membership import attacks, metrics
from membership.attacks.bavaria import prior_of_variances


def game(models, degrees, records=4_000, seed=0):
    """Signals with variances of an inverse-gamma law, one if `degrees` is infinite."""
    rng = np.random.default_rng(seed)
    spread = np.ones(records)
    if np.isfinite(degrees):
        spread = np.sqrt(degrees / rng.chisquare(degrees, records))
    member = np.array([rng.permutation(models) < models // 2 for _ in range(records)]).T
    middle, shift = rng.normal(0, 2, records), rng.exponential(1, records)
    truth = rng.random(records) < 0.5
    reference = middle + member * shift + spread * rng.standard_normal((models, records))
    target = middle + truth * shift + spread * rng.standard_normal(records)
    return target, reference, member, truth


@pytest.mark.parametrize(("degrees", "own"), [(6.0, 3), (30.0, 15), (2.0, 1)])
def test_the_law_of_variances_is_found_again(degrees, own):
    rng, n = np.random.default_rng(1), 100_000
    true = degrees * 2.5 / rng.chisquare(degrees, n)
    found = prior_of_variances(true * rng.chisquare(own, n) / own, np.full(n, float(own)))
    # Over seeds the two estimates have relative standard deviations of at most 2% and 1%.
    assert found == pytest.approx((degrees, 2.5), rel=0.08)


def test_one_common_variance_has_a_law_of_infinite_degrees():
    # Estimates that vary less than those of one variance do.
    degrees, variance = prior_of_variances(np.array([1.0, 1.01, 0.99]), np.full(3, 2.0))
    assert degrees == np.inf
    assert variance == pytest.approx(np.exp(np.log(2 / 2) - -0.5772156649) * 1.0, rel=1e-3)


def test_with_many_references_it_is_lira():
    target, reference, member, _ = game(2_000, 5.0, records=50)
    for predictive in ("t", "normal"):
        found = attacks.bavaria(target, reference, member, predictive=predictive)
        np.testing.assert_allclose(
            found, attacks.lira(target, reference, member), rtol=0.06, atol=0.06
        )


def test_where_all_variances_are_one_it_is_lira_with_one():
    target, reference, member, _ = game(8, np.inf)
    found = attacks.bavaria(target, reference, member, predictive="normal")
    known = attacks.lira(target, reference, member, variance="global")
    assert stats.spearmanr(found, known).statistic > 0.999


def test_few_references_gain_over_both_kinds_of_lira():
    target, reference, member, truth = game(8, 5.0, records=20_000)
    found = attacks.bavaria(target, reference, member)
    rate = metrics.tpr_at_fpr(found, truth, 0.01)
    for variance in ("per-record", "global"):
        other = attacks.lira(target, reference, member, variance=variance)
        # The standard error of a rate is 0.003.
        assert rate > metrics.tpr_at_fpr(other, truth, 0.01) + 0.01


def test_a_single_model_on_a_side_takes_the_law():
    target, reference, member, _ = game(6, 5.0, records=200)
    member[:, 0] = [True, False, False, False, False, False]
    assert np.isfinite(attacks.bavaria(target, reference, member)).all()
