import numpy as np
import pytest
from scipy.special import expit

from membership import attacks, metrics
from membership.attacks.bmia import bmia_from_moments
from membership.book.studies.bmia import equal_budgets, evidence, posteriors, scores


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-12")


def rate(table, attack, n):
    part = table[(table["attack"] == attack) & (table["n_reference"] == n)]
    return part.set_index("metric")["value"]


def test_regressed_quantiles_need_no_reference(table, source, seen, variants):
    found = rate(table, "QMIA, quantiles", 0)
    (name,) = evidence.files((evidence.QMIA,), source.settings)
    score = source.evidence(name)["score"].values.astype(float)
    each = [metrics.auc(score[t], seen.member[t]) for t in seen.targets]
    assert found[equal_budgets.AUC] == pytest.approx(100 * np.mean(each))


def test_rmias_score_is_a_step_function_of_its_ratio():
    rng = np.random.default_rng(0)
    odds, held = rng.normal(0, 2, (4, 300)), rng.normal(0, 2, (4, 100))
    asked, population = expit(odds), expit(held)
    share = attacks.rmia(asked[0], asked[1:], population[0], population[1:])
    order = np.argsort(equal_budgets.ratio(odds[0], odds[1:], 0.3))
    assert (np.diff(share[order]) >= 0).all()


def test_a_posterior_is_worth_the_references_at_which_the_gain_is_nothing():
    sizes = [1, 2, 4, 8]
    gains = np.log2(sizes)[:, None] - 1.5 + np.array([-0.01, 0.0, 0.01])
    found = equal_budgets.worth(sizes, gains)
    assert found["low"] <= found["value"] <= found["high"]
    assert np.log2(found["value"]) == pytest.approx(1.5, abs=0.02)
    # Half the width: Student's 97.5% quantile times the standard error, at one unit an octave.
    assert np.log2(found["high"] / found["low"]) / 2 == pytest.approx(
        4.303 * 0.01 / 3**0.5, abs=0.02
    )


@pytest.mark.parametrize(("level", "end"), [(5.0, 1.0), (-5.0, 8.0)])
def test_what_the_sizes_do_not_reach_ends_at_them(level, end):
    gains = np.full((4, 3), level) + np.array([-0.1, 0.0, 0.1])
    found = equal_budgets.worth([1, 2, 4, 8], gains)
    assert list(found.values()) == pytest.approx([end] * 3)


def test_the_full_posterior_is_compared_on_its_own_queries(table, source, seen, variants):
    asked, pairs = posteriors.full_posterior(seen, variants)
    found = rate(table, scores.FULL, 1)
    assert found[equal_budgets.AUC] == pytest.approx(np.mean(scores.auc(pairs)))
    for name, words in (
        ("bmia", equal_budgets.LESS_BMIA),
        ("difference", equal_budgets.LESS_PLAIN),
    ):
        other = scores.auc(asked.attack(name))
        expected = np.mean(np.subtract(scores.auc(pairs), other))
        assert found[f"{equal_budgets.AUC}, {words}"] == pytest.approx(expected)
    one = source.table("bmia-tab-1").set_index(["attack", "metric"])["value"]
    assert one[scores.FULL, equal_budgets.AUC] == pytest.approx(found[equal_budgets.AUC])


def test_posteriors_are_compared_on_the_same_queries(table, source, seen, variants):
    asked, n = seen.on(variants["record"].values), source.settings.n_samples
    full, kron, diagonal, few, validated = (
        np.array(scores.auc(posteriors.scored(asked, variants, name)))
        for name in ("full", f"kron, {n}", f"diag, {n}", "diag, 10", "validation")
    )
    for attack, words, less in (
        (scores.FULL, "less the diagonal's", full - diagonal),
        ("BMIA, diagonal posterior", "less BMIA's", diagonal - kron),
        ("BMIA, diagonal posterior", "less its own with the fewest samples", diagonal - few),
        ("BMIA, prior by validation", "less BMIA's", validated - kron),
    ):
        assert rate(table, attack, 1)[f"auc(%), {words}"] == pytest.approx(less.mean())


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def value(source):
    table = source.table("bmia-ctl-15")
    return table.set_index(["attack", "n_reference", "metric"])["value"]


def test_bmia_has_its_one_reference(many, value):
    rates = []
    for target in many.targets:
        score = bmia_from_moments(many.hinge[target], *many.moments(many.first(target)))
        rates.append(100 * metrics.tpr_at_fpr(score, many.member[target], 0.01))
    assert value["BMIA", 1, equal_budgets.RATE] == pytest.approx(np.mean(rates))
