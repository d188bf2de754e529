"""The clean game at scale: no score reads the coin, and numbers are what they are called."""

import numpy as np
import pytest
from scipy.stats import norm

from membership import attacks, metrics
from membership.book.studies.iha import clean_game, neighbours, subjects


@pytest.fixture(scope="module")
def found(settings):
    return neighbours.pairs(subjects.Subject(subjects.EMBEDDED), settings)


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_no_score_reads_the_coin(found, half):
    """With the sides of the models played exchanged, each keeps its score."""
    played = slice(1 - half, None, 2)
    turned = found.copy(deep=True)
    for name in ("answer", "form"):
        turned[name][:, :, played] = found[name].values[:, ::-1, played]
    before, after = clean_game.scored(found), clean_game.scored(turned)
    for name in clean_game.FROM:
        np.testing.assert_array_equal(after[name][half], before[name][half][:, ::-1])


def test_references_are_never_played_with_themselves(found):
    """What a played model is does not move the others' scores."""
    other = found.copy(deep=True)
    other["answer"][0, 1, 3] = 9.0
    before, after = clean_game.scored(found), clean_game.scored(other)
    changed = after["loss ratio, one variance"] != before["loss ratio, one variance"]
    # Played by itself against the first half; a reference of all that are played in the other.
    assert changed[0].sum() == 1
    assert changed[0][0, 1, 1]
    assert changed[1][0].all()
    assert not changed[1][1:].any()


def test_the_ratio_is_that_of_two_normal_laws():
    rng = np.random.default_rng(7)
    references, played = rng.normal(size=(4, 2, 6, 1)), rng.normal(size=(4, 2, 5, 1))
    score = clean_game.likelihood_ratio(played, references)
    for r in range(4):
        without, with_z = references[r, :, :, 0]
        spread = np.sqrt((without.var(ddof=1) + with_z.var(ddof=1)) / 2)
        laws = norm(with_z.mean(), spread), norm(without.mean(), spread)
        expected = laws[0].logpdf(played[r, ..., 0]) - laws[1].logpdf(played[r, ..., 0])
        np.testing.assert_allclose(score[r], expected)


def test_one_sided_is_the_offline_attack():
    rng = np.random.default_rng(10)
    without, played = rng.normal(size=(4, 6)), rng.normal(size=(4, 2, 5))
    score = clean_game.above(played, without)
    for r in range(4):
        reference = np.repeat(without[r][:, None], 10, axis=1)
        expected = attacks.lira(played[r].ravel(), reference, mode="offline")
        np.testing.assert_allclose(score[r].ravel(), expected)


def test_the_projection_reaches_the_best_auc_of_two_normal_laws():
    """Weights of one covariance, means d standard deviations apart: Phi(d / root 2)."""
    rng = np.random.default_rng(8)
    size, move = 6, np.array([0.4, -0.2, 0.5, 0.1, 0.0, 0.3])
    spread = np.geomspace(0.2, 2.0, size)
    weights = rng.normal(size=(1, 2, 60_000, size)) * spread
    weights[:, 1] += move
    along = weights @ (move / spread**2)
    half = weights.shape[2] // 2
    u, refs = along[..., :half, None], along[..., half:, None]
    best = norm.cdf(np.sqrt(np.sum((move / spread) ** 2)) / np.sqrt(2))
    score = clean_game.likelihood_ratio(u, refs)[0]
    # The standard error of an AUC of two samples of 30,000 is below 0.0024.
    assert metrics.auc(score.ravel(), np.repeat([False, True], half)) == pytest.approx(
        best, abs=0.01
    )
    both = clean_game.likelihood_ratio(weights[:, :, :half], weights[:, :, half:])[0]
    assert metrics.auc(both.ravel(), np.repeat([False, True], half)) == pytest.approx(
        best, abs=0.01
    )
    one = clean_game.likelihood_ratio(weights[:, :, :half, :1], weights[:, :, half:, :1])[0]
    assert metrics.auc(one.ravel(), np.repeat([False, True], half)) < best - 0.01


@pytest.mark.slow
def test_where_the_two_worlds_are_one_the_auc_is_one_half():
    """Models shared by the records of a set, seeds shared by records, references or none."""
    rng = np.random.default_rng(9)
    group = np.repeat(np.arange(5), 30)
    own = rng.normal(size=(150, 2, 16)) + rng.normal(size=(5, 2, 16))[group]
    signal = 2 * own + 3 * rng.normal(size=(150, 1, 1))
    ratio = [
        clean_game.likelihood_ratio(*(signal[:, :, i::2, None] for i in pair))
        for pair in ((1, 0), (0, 1))
    ]
    plain = [signal[:, :, i::2] for i in (1, 0)]
    for scores in (np.stack(ratio), np.stack(plain)):
        each = clean_game.numbers(scores, group)
        error = each.std(0, ddof=1) / np.sqrt(5)
        assert (np.abs(each.mean(0) - 0.5) < 5 * error).all()
        assert (error < 0.05).all()


def test_the_sets_are_the_units(found, settings):
    table = clean_game.four([found]).set_index(["attack", "metric"])
    sets = len(set(found.attrs["others"]))
    assert (table["n_repeats"] == sets).all()
    each = clean_game.all_numbers(found)
    apart = each["IHA"] - each["LOSS"]
    row = table.loc[("IHA less LOSS", clean_game.DIFFERENCES[0])]
    assert row["standard_error"] == pytest.approx(apart[:, 0].std(ddof=1) / np.sqrt(sets))


def test_numbers_are_means_over_the_halves(found):
    scores = clean_game.scored(found)["IHA"]
    group = np.array(found.attrs["others"])
    found = clean_game.numbers(scores, group)
    member = np.broadcast_to(np.array([False, True])[:, None], scores[0].shape[1:])
    for place in np.unique(group):
        some = [half[group == place] for half in scores]
        pooled = [metrics.auc(one.ravel(), np.tile(member.ravel(), len(one))) for one in some]
        each = [np.mean([metrics.auc(r.ravel(), member.ravel()) for r in one]) for one in some]
        np.testing.assert_allclose(found[place], [np.mean(pooled), np.mean(each)])
