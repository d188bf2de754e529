"""What is said of costs, on made-up times."""

import pandas as pd
import pytest

from membership.errors import InputError
from membership.published import outcomes
from membership.studies.bmia import cost_tests, times


def table(share, n_repeats=3, error=0.01):
    """Ratios of one data set, with the interval of so many timings."""
    ratios = {times.SHARE: share, times.LIRA: (1 + share) / 8}
    row = {"dataset": "CIFAR-10", "attack": "BMIA, KFAC, 200 samples", "n_reference": 1}
    return pd.DataFrame(
        [
            row | {"metric": k, "value": v, "low": v - error, "high": v + error}
            for k, v in ratios.items()
        ]
    ).assign(n_repeats=n_repeats)


class Made:
    def __init__(self, made):
        self.made = made

    def table(self, exhibit):
        assert exhibit == "bmia-ctl-10"
        return self.made


@pytest.mark.parametrize(
    ("share", "word"),
    [
        (0.05, outcomes.SUPPORTED),
        (0.13, outcomes.CONTRADICTED),
        (0.095, outcomes.UNDECIDED),
    ],
)
def test_inference_is_weighed_against_one_training(share, word):
    assert cost_tests.cheap_inference(Made(table(share))).word == word


def test_two_timings_are_too_few():
    with pytest.raises(InputError, match="it takes 3 timings; there are 2"):
        cost_tests.cheap_inference(Made(table(0.05, n_repeats=2)))
