"""Where the numbers of a report change: rates that are carried, and groups that share an error."""

import numpy as np
import pytest

from membership.audit import Scored, audit

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("non_members", "measured"),
    [(99, []), (100, [0.1]), (999, [0.1]), (1000, [0.01, 0.1]), (10_000, [0.001, 0.01, 0.1])],
)
def test_ten_expected_false_positives_carry_a_rate(non_members: int, measured: list) -> None:
    member = np.arange(non_members + 200) < 200
    rates = audit(Scored(RNG.normal(size=member.size), member))["tpr_at_fpr"]
    assert [rate["fpr"] for rate in rates if rate["measured"]] == measured


@pytest.mark.parametrize("many", [0, 1, 2, 8])
def test_groups_share_the_error_of_the_level(many: int) -> None:
    member = np.arange(200) % 2 == 0
    group = np.arange(200) // 2 % many if many else None
    report = audit(Scored(RNG.normal(size=200), member, group=group), level=0.9)
    assert len(report["groups"]) == many
    assert max(many, 1) * (1 - report["group_level"]) == pytest.approx(0.1)
