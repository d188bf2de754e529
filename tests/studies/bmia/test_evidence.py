import numpy as np
import pytest

from membership.attacks.bmia import bmia_sampled
from membership.attacks.gaussian_hinge import runner_up, sampled_hinge
from membership.errors import InputError
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import out_of_distribution


def test_targets_are_attacked_with_different_references_first(small):
    first = [small.references(t, 1)[0] for t in range(small.n_targets)]
    assert first == [2, 3]
    assert sorted(small.references(1, 8)) == list(range(2, 10))


def test_no_reference_has_seen_a_query(small):
    seen = small.ensemble.membership[small.n_targets :]
    assert not seen[:, small.world.pool].any()


def test_the_last_layer_answers_as_the_network(small):
    layer = small.layer(2, "queries")
    answers = small.ensemble.logits(small.x)[2].numpy()
    np.testing.assert_allclose(layer.logits, answers, atol=1e-4)
    assert len(small.layer(2, "fit").features) == small.ensemble.membership[2].sum()


def test_draws_have_the_law_of_the_posteriors_covariance(small):
    layer, posterior = small.layer(2, "queries"), small.posterior(2)
    covariance = posterior.covariance(layer.features)
    expected = sampled_hinge(layer.logits, covariance, small.y, 2000, seed=5)
    drawn = small.draws(2, 2000)
    error = (drawn.mean(axis=0) - expected.mean(axis=0)) / np.sqrt(
        (drawn.var(axis=0) + expected.var(axis=0)) / 2000
    )
    assert np.abs(error).max() < 5
    assert np.abs(np.log(drawn.std(axis=0) / expected.std(axis=0))).max() < 0.15


def test_no_draw_has_a_higher_mean_than_the_network(small):
    """The largest of the other logits is at least that of the runner-up."""
    logits, variance = small.difference_moments(2)
    rows = np.arange(len(small.y))
    frozen = logits[rows, small.y] - logits[rows, runner_up(logits, small.y)]
    drawn = small.draws(2, 2000).mean(axis=0)
    assert (drawn <= frozen + 5 * np.sqrt(variance / 2000)).all()


def test_draws_of_some_queries_are_draws_of_those_queries(small):
    chosen = np.array([5, 3, 40])
    whole, part = small.draws(2, 4000), small.draws(2, 4000, queries=chosen)
    sd = whole.std(axis=0)[chosen] / np.sqrt(4000)
    assert (np.abs(part.mean(axis=0) - whole.mean(axis=0)[chosen]) < 6 * sd).all()


def test_bmia_is_algorithm_1(small, settings):
    drawn = small.draws(3, settings.n_samples)
    expected = bmia_sampled(small.signals.hinge[1], drawn)
    np.testing.assert_array_equal(small.bmia(1), expected)


def test_the_same_draws_twice(small):
    first = small.draws(2, 10, "diag")
    np.testing.assert_array_equal(first, small.draws(2, 10, "diag"))


def test_scores_cover_the_papers_rows_and_ours(small):
    found = scores.all_scores(small)
    assert list(found)[:5] == [
        ("Attack-P", 0),
        ("QMIA", 0),
        ("Attack-R", 2),
        ("Attack-R", 4),
        ("Attack-R", 8),
    ]
    assert {name for name, _ in found} >= {"LiRA", "RMIA", "BMIA", "difference"}
    for pairs in found.values():
        for score, member in pairs:
            assert score.shape == member.shape == (len(small.y),)
            assert np.isfinite(score).all()


def test_lira_with_one_variance_ranks_as_the_difference_of_its_own_score(small):
    odds = small.signals.odds
    expected = odds[0] - odds[small.references(0, 4)].mean(axis=0)
    score = scores.lira(small, 0, 4, variance="global")
    np.testing.assert_array_equal(np.argsort(score), np.argsort(expected))


def test_strangers_are_non_members_and_the_pools_others_do_not_count(small):
    x, y = np.zeros((7, 1, 8, 8), dtype=np.float32), np.arange(7)
    found = out_of_distribution(small.world, x, y)
    ((score, member), _) = found.each(lambda t: np.arange(len(found.y), dtype=float))
    assert member.sum() == small.member[0].sum()
    assert (~member).sum() == 7
    assert (score[~member] >= len(small.y)).all()


def test_strangers_of_another_shape_are_refused(small):
    with pytest.raises(InputError, match="ood_dataset has records of shape"):
        out_of_distribution(small.world, np.zeros((3, 1, 9, 9)), np.zeros(3, dtype=int))
