"""The law of variances is found again, and with many references BaVarIA is LiRA."""

import numpy as np
import pytest

from membership import attacks
from membership.attacks.bavaria import prior_of_variances


def game(models, records):
    """Signals with variances of an inverse-gamma law of 5 degrees."""
    rng = np.random.default_rng(0)
    spread = np.sqrt(5 / rng.chisquare(5, records))
    member = np.array([rng.permutation(models) < models // 2 for _ in range(records)]).T
    middle, shift = rng.normal(0, 2, records), rng.exponential(1, records)
    truth = rng.random(records) < 0.5
    reference = middle + member * shift + spread * rng.standard_normal((models, records))
    target = middle + truth * shift + spread * rng.standard_normal(records)
    return target, reference, member


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
    target, reference, member = game(2_000, records=50)
    for predictive in ("t", "normal"):
        found = attacks.bavaria(target, reference, member, predictive=predictive)
        np.testing.assert_allclose(
            found, attacks.lira(target, reference, member), rtol=0.06, atol=0.06
        )


def test_a_single_model_on_a_side_takes_the_law():
    target, reference, member = game(6, records=200)
    member[:, 0] = [True, False, False, False, False, False]
    assert np.isfinite(attacks.bavaria(target, reference, member)).all()
