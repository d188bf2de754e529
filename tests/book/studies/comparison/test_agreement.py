"""Overlaps, and groups of members by who finds them."""

import numpy as np
import pytest

from membership import data
from membership.book.studies.comparison import agreement
from membership.metrics.roc import flagged
from tests.book.studies.comparison.conftest import scored


def test_overlaps_have_their_closed_forms():
    a = np.array([True, True, False, False])
    same = agreement.of_flags(a, a)
    assert same[agreement.JACCARD] == same[agreement.KAPPA] == 1
    assert agreement.of_flags(a, ~a)[agreement.JACCARD] == 0
    assert agreement.of_flags(a, ~a)[agreement.KAPPA] == -1
    assert same[agreement.BY_CHANCE] == pytest.approx(0.25 / 0.75)
    rng = np.random.default_rng(0)
    flags = rng.random((2, 100_000)) < 0.05
    found = agreement.of_flags(*flags)
    assert found[agreement.JACCARD] == pytest.approx(found[agreement.BY_CHANCE], abs=0.005)
    assert found[agreement.KAPPA] == pytest.approx(0, abs=0.01)
    assert agreement.of_flags(a & False, a & False)[agreement.KAPPA] == 0


def test_groups_are_disjoint_and_as_large_as_independence_says():
    rng = np.random.default_rng(0)
    member = rng.random((2, 200_000)) < 0.5
    rates = np.array([0.3, 0.2, 0.1, 0.05])
    flags = (rng.random((4, *member.shape)) < rates[:, None, None]) & member
    groups = agreement.groups(flags)
    assert sum(group.astype(int) for group in groups.values()).max() == 1
    assert not any((group & ~member).any() for group in groups.values())
    expected = agreement.by_chance(flags, member)
    assert expected[0] == pytest.approx(np.full(2, rates.prod()), rel=0.1)
    for group, share in zip(groups.values(), expected, strict=True):
        seen = group.sum(axis=1) / member.sum(axis=1)
        assert seen == pytest.approx(share, abs=0.002)


def test_flagged_records_keep_the_rate():
    table = scored(1.0, (1, 1000))
    score, member = table.score["loss"][0], table.member[0]
    for rate in agreement.RATES:
        found = flagged(score, member, rate)
        assert (found & ~member).sum() <= rate * (~member).sum()
        assert (found & ~member).sum() > rate * (~member).sum() - 1


@pytest.mark.slow
def test_pictures_are_of_the_records_that_they_are_said_to_be(source):
    table = source.table("comparison-fig-5").query("record != ''")
    levels = np.rint(255 * data.deduplicate(data.load("digits")).x).astype(int)
    for one in table.itertuples():
        assert [int(part) for part in one.pixels.split()] == levels[
            int(one.record)
        ].ravel().tolist()
