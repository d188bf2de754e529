"""What the guesses give on a network whose answers are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership import evidence, metrics
from membership.book.exhibits.tidy import tidy
from membership.book.studies.my_paper.claims import CLAIMS
from membership.book.studies.my_paper.overfitting import gap_and_advantage, table_1

# Losses 0.1, 0.3 and 2 of members (mean 0.8), and 0.2, 1 and 3 of others; wrong above log 2.
LOSS = np.array([[0.1, 0.3, 2.0, 0.2, 1.0, 3.0]])
MEMBER = np.array([[True, True, True, False, False, False]])


@pytest.fixture
def outputs():
    return evidence.dataset(
        "outputs",
        {
            "log_odds": -np.log(np.expm1(LOSS)),
            "correct": np.log(2) > LOSS,
            "member": MEMBER,
        },
        set="three and three",
        data={},
        recipe={},
        deviations=[],
        targets=[0],
        width=8,
        device="cpu",
    )


def test_the_threshold_finds_two_members_and_accuses_one_other(outputs):
    found = table_1([outputs]).set_index("metric")["value"]
    assert found.to_dict() == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 3, "advantage": 1 / 3}
    )


def test_being_right_is_worth_the_gap(outputs):
    found = gap_and_advantage([outputs]).set_index("metric")["value"]
    assert found.to_dict() == pytest.approx({"advantage": 1 / 3, "advantage - gap": 0.0})


@pytest.mark.parametrize(
    ("dataset", "advantages", "outcome"),
    [
        ("cifar10", [0.29, 0.3, 0.31], "supported"),
        ("cifar10", [-0.001, 0.0, 0.001], "contradicted"),
        ("digits", [0.29, 0.3, 0.31], "supported on substitute data"),
    ],
)
def test_the_paper_s_data_decide_its_claim_and_others_do_not(dataset, advantages, outcome):
    key = {"dataset": dataset, "width": 128, "metric": "advantage"}
    table = tidy([key | metrics.summary(np.array(advantages))], {})
    (claim,) = [one for one in CLAIMS if one.id == "my-paper-c01"]
    assert claim.outcome(SimpleNamespace(table=lambda exhibit: table)).mark == outcome
