"""The score taken apart: versions that are attacks of the registry, and differences that add up."""

import numpy as np
import pytest

from membership import metrics
from membership.book.studies.iha import against_references, evaluation, score_taken_apart, subjects
from membership.book.studies.iha import scores as of
from membership.book.studies.iha.forms import DECAY


@pytest.fixture(scope="module")
def with_forms(source, settings, evaluations):
    slugs = [one.slug for one in subjects.subjects(settings)]
    return [
        (one, source.evidence(f"white-box-{slug}"), source.evidence(f"sweep-{slug}"))
        for one, slug in zip(evaluations, slugs, strict=True)
    ]


@pytest.fixture(scope="module")
def table(with_forms, settings):
    return score_taken_apart.control_11(*list(zip(*with_forms, strict=True))[:2])


def test_four_versions_are_the_chapters_attacks_and_one_is_the_residual_test(with_forms):
    evaluation, forms, _ = with_forms[0]
    target, kept = evaluation.attrs["targets"][0], of.by_inverse(forms, 0)
    some = [kept[name] for name in ("published", "regularised", "identity")]
    loss, member = of.loss_of(evaluation.outputs, target), evaluation.member[0]
    found = score_taken_apart.versions(*some, loss, member, evaluation.recipe)
    same = {
        (True, False, True, True): "IHA",
        (True, True, True, True): "IHA*",
        (True, False, True, False): "IHA, everyone",
        (False, False, True, True): "IHA, identity",
    }
    for version, name in same.items():
        assert np.allclose(found[version], evaluation.by_target[0][name], rtol=1e-9, atol=0)
    # With all its powers the identity, what is left is the residual test up to a positive factor.
    residual = evaluation.by_target[0]["residual norm"]
    factor = found[False, True, False, True] / residual
    assert (factor > 0).all()
    assert np.allclose(factor, factor[0], rtol=1e-6, atol=0)


def midranks(values):
    """How many are smaller, and half of those that are equal, one by one."""
    return [sum(v < u for v in values) + sum(v == u for v in values) / 2 for u in values]


def test_correlations_with_the_loss_are_those_of_ranks_counted_one_by_one(evaluations):
    table = score_taken_apart.control_21(evaluations)
    one = evaluations[1]
    at = table[table["dataset"] == one.label].set_index(["attack", "records", "metric"])["value"]
    rate, momentum = (one.recipe[name] for name in ("learning_rate", "momentum"))
    ranks, below = [], []
    for scored, member in zip(one.by_target, one.member, strict=True):
        few = [i for i, inside in enumerate(member) if inside]
        score = [
            float(scored["loss"][i]) / (1 + momentum)
            - sum(float(scored[term][i]) for term in ("i1", "i2", "i3", "i4")) / rate
            for i in few
        ]
        both = [midranks(values) for values in (score, [float(scored["loss"][i]) for i in few])]
        ranks.append(np.corrcoef(*both)[0, 1])
        below.append(np.mean([value < 0 for value in score]))
    assert at["IHA[All]", "members", score_taken_apart.RANKS] == pytest.approx(np.mean(ranks))
    assert at["IHA[All]", "members", score_taken_apart.BELOW] == pytest.approx(100 * np.mean(below))
    assert len(at) == 7 * 3 * 2


def test_a_score_that_is_minus_the_loss_is_proportional_to_it():
    loss = np.random.default_rng(0).exponential(size=50)
    every = np.ones(50, dtype=bool)
    assert score_taken_apart.against_loss(-3 * loss, loss, every) == pytest.approx((-1.0, 100.0))
    assert score_taken_apart.against_loss(loss**2, loss, every) == pytest.approx((1.0, 0.0))


def test_a_difference_is_that_of_two_means_over_pairs(table, evaluations):
    row = table[(table["dataset"] == "Digits") & (table["factor"] == "knowledge")].iloc[0]
    assert row["value"] == pytest.approx(row["AUC with it"] - row["AUC without it"])
    each = [
        metrics.auc(s, m)
        for s, m in zip(evaluations[1].scores("IHA*"), evaluations[1].member, strict=True)
    ]
    # Of three targets the first two are one unit.
    assert row["AUC with it"] == pytest.approx(np.mean([np.mean(each[:2]), each[2]]))
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert not table.duplicated(["dataset", "contrast"]).any()
    assert len(table) == 2 * 32


def test_parameters_alone_are_set_beside_the_loss(with_forms, settings, evaluations, source):
    whole = evaluation.read(source, subjects.WHOLE, subjects.whole)
    table = score_taken_apart.control_13(*list(zip(*with_forms, strict=True))[:2], whole)
    row = table[(table["dataset"] == "Digits") & (table["attack"] == "SIF")].iloc[0]
    each = {
        name: [
            metrics.auc(s, m)
            for s, m in zip(evaluations[1].scores(name), evaluations[1].member, strict=True)
        ]
        for name in ("SIF", "LOSS")
    }
    gaps = np.subtract(each["SIF"], each["LOSS"])
    assert row["value"] == pytest.approx(np.mean([gaps[:2].mean(), gaps[2]]))
    (one,) = whole
    decay = table[table["attack"] == f"IHA, {DECAY}"].iloc[0]
    gaps = one.numbers(f"IHA, {DECAY}") - one.numbers("LOSS")
    assert decay["value"] == pytest.approx(gaps.mean())


def test_all_terms_together_are_the_attack(evaluations, settings):
    table = score_taken_apart.table_4(evaluations).set_index(list(of.KEYS))["value"]
    whole = against_references.table_2(evaluations).set_index(list(of.KEYS))["value"]
    for metric in of.METRICS:
        for one in evaluations:
            key = (one.label, "IHA[All]", metric)
            assert table[key] == pytest.approx(whole[one.label, "IHA (Exact)", metric])
