import numpy as np
import pytest
from scipy import stats

from membership import metrics
from membership.metrics.resampling import record_weights, weighted

T, R = 4, 120


@pytest.fixture
def game():
    """Two attacks on four targets; about a fifth of the records not asked; tied scores."""
    rng = np.random.default_rng(1)
    member = rng.random((T, R)) < 0.4
    first = np.round(rng.standard_normal((T, R)) + 1.2 * member, 1)
    second = np.round(rng.standard_normal((T, R)) + 0.8 * member, 1)
    left_out = rng.random((T, R)) < 0.2
    first[left_out] = second[left_out] = np.nan
    return first, second, member


def mann_whitney(score, member):
    """The AUC, pair by pair."""
    gap = score[member][:, None] - score[~member][None]
    return float(np.mean((gap > 0) + 0.5 * (gap == 0)))


def tpr(score, member, fpr):
    """The TPR, threshold by threshold."""
    found = [0.0]
    for threshold in np.unique(score):
        if np.mean(score[~member] >= threshold) <= fpr:
            found.append(float(np.mean(score[member] >= threshold)))
    return max(found)


@pytest.mark.parametrize(("statistic", "arguments"), [("auc", {}), ("tpr_at_fpr", {"fpr": 0.1})])
def test_weights_give_the_statistic_of_the_repeated_records(game, statistic, arguments):
    score, member = game[0][0], game[2][0]
    asked = ~np.isnan(score)
    weight = next(record_weights((asked & member)[None], (asked & ~member)[None], 50, seed=3))
    assert (weight.sum(axis=0) == R).all()
    assert (weight != weight[:, :1]).any()
    found = weighted(statistic, arguments, score, member)(weight)
    slow = mann_whitney if statistic == "auc" else tpr
    for column, value in zip(weight.T, found, strict=True):
        rows = np.repeat(np.flatnonzero(asked), column[asked].astype(int))
        assert value == pytest.approx(slow(score[rows], member[rows], **arguments), abs=1e-12)


def slow_interval(statistic, scores, coefficients, member, share, seed, number):
    """The estimator with loops over resamples, targets and attacks."""
    asked = ~np.isnan(scores[0])

    def contrast(t, rows):
        rows = rows[asked[t, rows]]
        return sum(
            c * statistic(s[t, rows], member[t, rows])
            for c, s in zip(coefficients, scores, strict=True)
        )

    s = np.array([contrast(t, np.arange(R)) for t in range(T)])
    starred = []
    for weight in record_weights(asked & member, asked & ~member, number, seed):
        for column in weight.T.astype(int):
            rows = np.repeat(np.arange(R), column)
            starred.append([contrast(t, rows) for t in range(T)])
    starred = np.array(starred)
    of_targets = np.var(s, ddof=1) / T
    of_records = np.var(starred.mean(axis=1), ddof=1)
    of_cells = np.var(starred, axis=0, ddof=1).sum() / T**2
    variance = max(
        of_targets + (1 - share) * (of_records - of_cells), of_targets, (1 - share) * of_records
    )
    degrees = variance**2 * (T - 1) / of_targets**2
    half = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
    return s.mean(), s.mean() - half, s.mean() + half, np.sqrt(variance), degrees


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_interval_is_the_estimator_written_out(game, share):
    first, second, member = game
    found = metrics.paired_interval(
        "auc", first, second, member, asked_share=share, resamples=40, seed=5
    )
    expected = slow_interval(mann_whitney, game[:2], (1, -1), member, share, 5, 40)
    assert list(vars(found).values()) == pytest.approx([*expected, T], rel=1e-9)


def test_one_attack_is_the_contrast_with_one_coefficient(game):
    found = metrics.crossed_interval("tpr_at_fpr", game[0], game[2], fpr=0.2, resamples=40, seed=6)
    slow = slow_interval(lambda s, m: tpr(s, m, 0.2), game[:1], (1,), game[2], 0.0, 6, 40)
    assert list(vars(found).values()) == pytest.approx([*slow, T], rel=1e-9)


def test_a_ratio_is_a_contrast(game):
    first, second, member = game
    found = metrics.contrast_interval("auc", [first, second], [1, -1.25], member, resamples=20)
    a, b = (metrics.crossed_interval("auc", s, member, resamples=2).value for s in game[:2])
    assert found.difference == pytest.approx(a - 1.25 * b)


def test_other_statistics_are_computed_on_resampled_records(game):
    arguments = {"resamples": 10, "seed": 2}
    fast = metrics.crossed_interval("auc", game[0], game[2], **arguments)
    repeated = metrics.crossed_interval(mann_whitney, game[0], game[2], **arguments)
    assert vars(fast) == pytest.approx(vars(repeated))
    better = metrics.crossed_interval("accuracy", game[0], game[2], threshold=0.5, **arguments)
    asked = ~np.isnan(game[0])
    right = [np.mean((game[0] >= 0.5)[t, asked[t]] == game[2][t, asked[t]]) for t in range(T)]
    assert better.value == pytest.approx(np.mean(right))


def test_a_rising_transform_changes_nothing_and_a_swap_negates(game):
    first, second, member = game
    found = metrics.paired_interval("auc", first, second, member, resamples=50)
    again = metrics.paired_interval("auc", np.exp(first), 3 * second - 7, member, resamples=50)
    assert found == again
    swapped = metrics.paired_interval("auc", second, first, member, resamples=50)
    assert (swapped.difference, swapped.low, swapped.high) == pytest.approx(
        (-found.difference, -found.high, -found.low)
    )
    assert swapped.standard_error == pytest.approx(found.standard_error)
    assert metrics.paired_interval("auc", first, first, member, resamples=50).standard_error == 0


def test_the_order_of_records_and_targets_does_not_matter(game):
    first, second, member = game
    found = metrics.paired_interval("auc", first, second, member, resamples=4_000)
    order = np.random.default_rng(0).permutation(R)
    permuted = metrics.paired_interval(
        "auc", first[::-1, order], second[::-1, order], member[::-1, order], resamples=4_000
    )
    assert permuted.difference == pytest.approx(found.difference, abs=1e-12)
    # A standard deviation of 4,000 resamples is known to 1.1%; allow four times that.
    assert permuted.standard_error == pytest.approx(found.standard_error, rel=0.045)


def test_records_that_nobody_was_asked_weigh_nothing(game):
    first, second, member = game
    found = metrics.paired_interval("auc", first, second, member, resamples=30)
    wide = [np.c_[s, np.full((T, 50), np.nan)] for s in (first, second)]
    assert found == metrics.paired_interval(
        "auc", *wide, np.c_[member, np.ones((T, 50))], resamples=30
    )


def test_a_target_and_its_complement_are_one_unit(game):
    first, _, member = game
    doubled = np.r_[first, first]
    found = metrics.crossed_interval(
        "auc", doubled, np.r_[member, member], units=[*"abcd"] * 2, resamples=30
    )
    assert vars(found) == pytest.approx(
        vars(metrics.crossed_interval("auc", first, member, resamples=30))
    )
    assert found.units == T


def test_one_unit_speaks_of_this_model_alone(game):
    one = metrics.crossed_interval("auc", game[0][:1], game[2][:1], resamples=2_000)
    assert one.degrees_of_freedom == np.inf
    asked = ~np.isnan(game[0][0])
    low, high = metrics.interval("auc", game[0][0, asked], game[2][0, asked])
    # The percentiles resample each class apart and are known to about 7% of their width.
    assert one.high - one.low == pytest.approx(high - low, rel=0.2)


def test_resamples_without_a_class_are_drawn_again():
    member = np.zeros((1, 6), bool)
    member[0, :2] = True
    blocks = list(record_weights(member, ~member, 500, seed=0))
    assert sum(block.shape[1] for block in blocks) == 500
    # Drawn once, (2/3)^6 = 9% of the resamples would have no member.
    assert all((block[:2].sum(axis=0) > 0).all() for block in blocks)
    score = np.arange(6.0)[None]
    assert np.isfinite(metrics.crossed_interval("auc", score, member).standard_error)


def crossed_game(rng, n_targets, n_records, *, record, target):
    """Scores with effects of records, targets and cells; the mean difference of AUC is known."""
    member = rng.random((n_targets, n_records)) < 0.5
    shared = record * rng.standard_normal(n_records)
    gain = target * rng.standard_normal((2, n_targets, 1))
    noise = rng.standard_normal((2, n_targets, n_records))
    first = shared + noise[0] + member * (0.8 + gain[0])
    second = noise[1] + member * (0.5 + gain[1])
    at = [
        stats.norm.cdf(m / np.sqrt(2 * (1 + r**2) + target**2))
        for m, r in ((0.8, record), (0.5, 0.0))
    ]
    return first, second, member, at[0] - at[1]


@pytest.mark.slow
@pytest.mark.parametrize(("record", "target"), [(1.0, 0.0), (0.0, 0.4), (1.0, 0.4)])
def test_95_percent_intervals_cover(record, target):
    rng = np.random.default_rng(7)
    runs, covered = 200, 0
    for seed in range(runs):
        first, second, member, truth = crossed_game(rng, 5, 200, record=record, target=target)
        found = metrics.paired_interval("auc", first, second, member, resamples=100, seed=seed)
        covered += found.low <= truth <= found.high
    # Four standard errors of 200 runs at 95% are 6.2 points; above, the rule may be cautious.
    assert covered / runs >= 0.888


def test_t_over_targets_alone_would_not_cover():
    """Where records carry most of the variance, five targets that share them agree too well."""
    rng = np.random.default_rng(8)
    ours = theirs = 0
    for seed in range(100):
        member = np.tile(rng.random(200) < 0.5, (5, 1))
        score = rng.standard_normal(200) + 0.2 * rng.standard_normal((5, 200)) + member
        truth = stats.norm.cdf(1 / np.sqrt(2 * 1.04))
        found = metrics.crossed_interval("auc", score, member, resamples=100, seed=seed)
        ours += found.low <= truth <= found.high
        alone = metrics.crossed_interval("auc", score, member, asked_share=1.0, resamples=100)
        theirs += alone.low <= truth <= alone.high
    assert ours >= 85 > 60 > theirs


@pytest.mark.parametrize(("statistic", "how"), [("auc", {}), ("tpr_at_fpr", {"fpr": 0.1})])
def test_what_is_resampled_once_adds_up_to_the_contrast(statistic, how):
    rng = np.random.default_rng(7)
    member = rng.random((4, 120)) < 0.5
    first, second = (rng.normal(size=member.shape) + k * member for k in (1.0, 0.5))
    options = {"resamples": 40, "seed": 3, **how}
    one, other = (
        metrics.resampled(statistic, score, member, **options) for score in (first, second)
    )
    expected = metrics.paired_interval(statistic, first, second, member, **options)
    found = (one + other * -1.0).interval()
    for name, value in vars(expected).items():
        assert getattr(found, name) == pytest.approx(value)


@pytest.mark.parametrize("targets", [1, 3])
def test_each_number_is_that_of_resampled(targets: int) -> None:
    rng = np.random.default_rng(2)
    member = rng.random((targets, 90)) < 0.5
    asked = rng.random((targets, 90)) < 0.9
    scores = {
        "rounded": np.where(asked, np.round(rng.normal(size=member.shape) + member, 1), np.nan),
        "plain": np.where(asked, rng.normal(size=member.shape) + member, np.nan),
    }
    told: list[int] = []
    how = {"fprs": (0.1, 0.3), "resamples": 50, "seed": 4}
    found = metrics.resampled_rates(scores, member, **how, done=told.append)
    assert sum(told) == 50
    for name, score in scores.items():
        for key, one in found[name].items():
            further = {} if key == "auc" else {"fpr": key}
            statistic = "auc" if key == "auc" else "tpr_at_fpr"
            wanted = metrics.resampled(statistic, score, member, resamples=50, seed=4, **further)
            np.testing.assert_allclose(one.value, wanted.value)
            np.testing.assert_allclose(one.under, wanted.under)


def test_one_target_may_come_without_its_axis():
    rng = np.random.default_rng(0)
    member = rng.random(200) < 0.5
    a, b = (factor * member + rng.normal(size=200) for factor in (1.0, 0.5))
    a[3] = b[3] = np.nan
    found = metrics.paired_interval("auc", a, b, member)
    assert found == metrics.paired_interval("auc", a[None], b[None], member[None])
    assert found == metrics.paired_interval("auc", a[None], b, member)
    assert found.difference == pytest.approx(
        metrics.auc(*(one[~np.isnan(a)] for one in (a, member)))
        - metrics.auc(*(one[~np.isnan(a)] for one in (b, member)))
    )
    one = metrics.crossed_interval("tpr_at_fpr", a, member, fpr=0.1)
    assert one == metrics.crossed_interval("tpr_at_fpr", a[None], member[None], fpr=0.1)
