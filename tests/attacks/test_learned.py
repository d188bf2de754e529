"""QMIA, and the shadow attack on answers whose law is known."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from membership import attacks, metrics, training
from membership.errors import InputError
from membership.training.quantile_regression import BOOSTED_LEVELS, PINBALL_LEVELS

HEADS = ["gaussian", "pinball", "boosted"]
SMALL = {"hidden": (16,), "epochs": 3, "trees": 10}
MODELS, RECORDS = 9, 400


def world(n, seed):
    """Features, and the mean, spread and value of a non-member's score given them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 4))
    mean, sigma = 3 * x[:, 0], np.exp(x[:, 1] / 2)
    return x, mean, sigma, mean + sigma * rng.standard_normal(n)


@pytest.fixture(scope="module")
def fits():
    x, _, _, score = world(4000, 0)
    options = {"hidden": (64, 64), "epochs": 30}
    return {head: training.fit_qmia(x, score, head, **options) for head in HEADS}


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
def test_thresholds_are_those_of_the_true_distribution(fits, head):
    x, mean, sigma, score = world(4000, 1)
    for rate in (0.1, 0.05, 0.01):
        found = fits[head].threshold(x, rate)
        assert np.corrcoef(found, mean + sigma * norm.isf(rate))[0, 1] > 0.9
        # Two points for the fit and four standard errors of the queries.
        error = np.sqrt(rate * (1 - rate) / 4000)
        assert abs((score > found).mean() - rate) < 0.02 + 4 * error


@pytest.mark.parametrize("head", HEADS)
def test_the_attack_is_nearly_that_with_the_true_distribution(fits, head):
    x, mean, sigma, score = world(4000, 2)
    member = np.arange(4000) % 2 == 0
    score = score + 1.5 * sigma * member
    exact = metrics.auc((score - mean) / sigma, member)
    found = metrics.auc(fits[head].score(x, score), member)
    assert exact - 0.03 < found < exact + 0.01
    assert metrics.auc(score, member) < found - 0.1


@pytest.mark.parametrize("head", HEADS)
def test_score_and_threshold_agree_and_nothing_saturates(fits, head):
    x = world(50, 3)[0]
    for rate in (0.9, 0.5, 0.07, 0.01, 1e-3, 1e-5):
        expected = norm.isf(rate) if head == "gaussian" else -np.log(rate)
        found = fits[head].score(x, fits[head].threshold(x, rate))
        assert found == pytest.approx(np.full(50, expected), abs=1e-6)
    ladder = np.concatenate([-np.logspace(6, -2, 40), np.logspace(-2, 6, 40)])
    for record in x:
        score = fits[head].score(np.tile(record, (80, 1)), ladder)
        assert np.isfinite(score).all()
        assert (np.diff(score) > 0).all()


@pytest.mark.parametrize("head", HEADS)
def test_one_call_is_fit_and_score_and_repeats_itself(head):
    x, _, _, score = world(300, 4)
    query, _, _, target = world(40, 5)
    found = attacks.qmia(x, score, query, target, head, seed=3, **SMALL)
    fit = training.fit_qmia(x, score, head, seed=3, **SMALL)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(fit.score(query, target), found)
    order = np.arange(40)[::-1]
    # A matrix product may round another way where a record stands elsewhere.
    assert fit.score(query[order], target[order]) == pytest.approx(found[order], abs=1e-4)
    other = attacks.qmia(x, score, query, target, head, seed=4, **SMALL)
    assert (other != found).any()


@pytest.mark.parametrize("head", HEADS)
def test_units_of_score_and_features_do_not_matter(head):
    x, _, _, score = world(300, 6)
    query, _, _, target = world(40, 7)
    expected = attacks.qmia(x, score, query, target, head, **SMALL)
    # Powers of two keep every rounding.
    found = attacks.qmia(x * 8, score / 4, query * 8, target / 4, head, **SMALL)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("head", HEADS)
def test_features_that_say_nothing_leave_the_marginal_attack(head):
    score = np.random.default_rng(8).standard_normal(600)
    nothing, target = np.full((600, 2), 0.1), np.linspace(-4, 4, 30)
    found = attacks.qmia(nothing, score, nothing[:30], target, head, **SMALL)
    assert (np.diff(found) > 0).all()
    fit = training.fit_qmia(nothing, score, head, **SMALL)
    assert fit.threshold(nothing[:1], 0.1) == pytest.approx(np.quantile(score, 0.9), abs=0.2)


def slow_evidence(score, quantile, level):
    """-log(1 - level) at one score: a line between two quantiles, or beyond all of them."""
    evidence = [-np.log(1 - q) for q in level]
    if score < quantile[0] or score > quantile[-1]:
        end, middle = (0 if score < quantile[0] else len(level) - 1), len(level) // 2
    else:
        end = next(i for i in range(1, len(level)) if score <= quantile[i])
        middle = end - 1
    slope = (evidence[end] - evidence[middle]) / (quantile[end] - quantile[middle])
    return evidence[end] + slope * (score - quantile[end])


def test_interpolation_of_the_level():
    rng = np.random.default_rng(9)
    level = np.array([0.5, 0.75, 0.9, 0.95, 0.99])
    quantile = np.sort(rng.standard_normal((200, 5)), axis=1)
    fit = training.ConditionalQuantiles(1, level, lambda x: quantile)
    score = 2 * rng.standard_normal(200)
    expected = [slow_evidence(s, q, level) for s, q in zip(score, quantile, strict=True)]
    assert fit.score(np.zeros((200, 1)), score) == pytest.approx(np.array(expected))
    for i in range(5):
        at = fit.score(np.zeros((200, 1)), quantile[:, i])
        assert at == pytest.approx(np.full(200, -np.log(1 - level[i])))


def test_levels_rise_and_have_finite_quantiles():
    for levels in (PINBALL_LEVELS, BOOSTED_LEVELS):
        assert (np.diff(levels) > 0).all()
        assert 0 < levels[0] < levels[-1] < 1
    assert PINBALL_LEVELS[-1] == pytest.approx(1 - 1e-4)


def test_bad_input_to_a_fit(fits):
    for fit in fits.values():
        with pytest.raises(InputError, match="x has 3 features; give 4"):
            fit.score(np.zeros((2, 3)), np.zeros(2))
        with pytest.raises(InputError, match="x has 2 records and target_score 3"):
            fit.score(np.zeros((2, 4)), np.zeros(3))
        with pytest.raises(InputError, match="fpr is 1"):
            fit.threshold(np.zeros((2, 4)), 1)


def answers(seed=0, classes=2):
    """Members' answers one above the others', with the roles exchanged in every other class."""
    rng = np.random.default_rng(seed)
    member = rng.random((MODELS, RECORDS)) < 0.5
    label = np.arange(RECORDS) % classes
    sign = np.where(label % 2, -1.0, 1.0)
    first = sign * (member - 0.5) + rng.standard_normal(member.shape)
    return np.stack([first, rng.standard_normal(member.shape)], axis=-1), label, sign, member


def test_it_finds_the_probability_that_can_be_computed():
    """Of two normal laws one apart, the log-odds of membership are the answer itself."""
    output, label, sign, member = answers()
    score = attacks.shadow(output[0], label, output[1:], member[1:])
    exact = expit(sign * output[0, :, 0])
    assert np.abs(score - exact).mean() < 0.06
    assert np.corrcoef(score, exact)[0, 1] > 0.95


def test_it_finds_members_in_the_middle_where_no_threshold_does():
    """Of normal laws of spread 0.3 and 2, the best interval is right on 82%, a threshold on 68%."""
    output, label, _, member = answers(classes=1)
    inside = np.where(member, 0.3, 2.0) * output[..., 1]
    score = attacks.shadow(inside[0][:, None], label, inside[1:][..., None], member[1:])
    assert np.mean((score > 0.5) == member[0]) > 0.76
    assert max(np.mean((inside[0] > cut) == member[0]) for cut in inside[0]) < 0.74


def test_each_class_has_its_own_attack_model():
    output, label, _, member = answers()
    both = attacks.shadow(output[0], label, output[1:], member[1:])
    for one in range(2):
        rows = label == one
        alone = attacks.shadow(output[0, rows], label[rows], output[1:, rows], member[1:, rows])
        np.testing.assert_array_equal(both[rows], alone)


def test_a_class_of_members_only_has_nothing_to_learn_from():
    output, label, _, member = answers()
    member[1:, label == 1] = True
    score = attacks.shadow(output[0], label, output[1:], member[1:])
    assert (score[label == 1] == 1).all()
    assert np.ptp(score[label == 0]) > 0.1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers():
    output, label, _, member = answers()
    one, same, other = (
        attacks.shadow(output[0], label, output[1:], member[1:], seed=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
