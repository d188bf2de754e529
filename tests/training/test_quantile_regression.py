"""The regression of scores on records that nobody has trained on, where the law is known."""

import numpy as np
import pytest

from membership.training import fit_qmia


@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_a_normal_law_is_passed_as_often_as_its_threshold_says(spread):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6000, 2))
    score = x[:, 0] + spread * rng.normal(size=6000)
    model = fit_qmia(x[:2000], score[:2000], "gaussian", seed=0)
    for rate in (0.05, 0.2):
        above = (score[2000:] > model.threshold(x[2000:], rate)).mean()
        # Four standard errors of 4,000 records, and what 2,000 leave open of mean and spread.
        assert above == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / 4000) + 0.015)
