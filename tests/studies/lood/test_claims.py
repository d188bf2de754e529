"""The claims of the chapter: stationarity is decided by the slopes."""

import pandas as pd
import pytest

from membership.studies.lood.claims import CLAIMS, stationary


class _Source:
    def __init__(self, slope):
        self.slope = slope

    def table(self, _):
        key = {"statement": "Theorem 4.1", "case": "RBF", "quantity": "largest slope of KL"}
        return pd.DataFrame([key | {"value": self.slope}])


@pytest.mark.parametrize(
    ("slope", "word"), [(1e-8, "supported"), (1e-5, "undecided"), (1e-2, "undecided")]
)
def test_slopes_decide_stationarity(slope, word):
    assert stationary(_Source(slope)).word == word


def test_the_other_claims_say_what_they_would_take():
    assert len(CLAIMS) == 18
    for claim in CLAIMS:
        if claim.id != "lood-c06":
            found = claim.outcome(_Source(0.0))
            assert found.word == "not tested here"
            assert found.reason.startswith("it takes")
