"""Scores of a target: what each row of a table is, by the attacks' public functions."""

import numpy as np
import pytest

from membership import attacks, metrics
from membership.studies.iha import black_box, ensembles, rows, white_box


@pytest.fixture(scope="module")
def scores(trained, settings):
    return white_box.white_box(trained, 1, settings.damping)


@pytest.fixture(scope="module")
def public(trained, scores):
    """attacks.iha on the same target, with other options as they are given."""
    queries = trained.queries(1)
    arguments = (
        trained.ensemble.module(1),
        trained.task.config.loss_of,
        white_box.training_records(trained, 1),
        white_box.records(trained, queries),
        trained.task.membership[1, queries],
    )

    def score(damping=0.2, **options):
        how = white_box.recipe(trained)
        return attacks.iha(*arguments, **how, damping=damping, **options).score

    return score


def test_queries_are_half_members_and_each_asked_once(trained):
    queries = trained.queries(1)
    assert len(set(queries.tolist())) == len(queries) == 120
    assert trained.task.membership[1, queries].sum() == 60


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("IHA", {}),
        ("IHA, everyone", {"knowledge": "everyone"}),
        ("IHA, everyone less own", {"knowledge": "everyone-less-own"}),
        ("IHA*", {"stationarity": "regularised"}),
        ("IHA*, everyone", {"stationarity": "regularised", "knowledge": "everyone"}),
        ("IHA, damping 0.5", {"damping": 0.5}),
        ("IHA, low rank 0.1", {"damping": 0.1, "conditioning": "low-rank"}),
    ],
)
def test_a_row_is_what_the_attack_of_that_name_gives(scores, public, name, options):
    np.testing.assert_allclose(scores[name], public(**options), rtol=1e-9, atol=1e-12)


def test_the_terms_add_up_to_the_score(scores, trained):
    how = white_box.recipe(trained)
    whole = scores["loss"] / (1 + how["momentum"])
    whole = whole - sum(scores[f"i{k}"] for k in range(1, 5)) / how["learning_rate"]
    np.testing.assert_allclose(scores["IHA"], whole, rtol=1e-9, atol=1e-12)


def test_knowing_every_record_is_the_attack_itself(scores):
    np.testing.assert_allclose(scores["fraction 1"], scores["IHA"], rtol=1e-9)
    np.testing.assert_allclose(scores["fraction, released 1"], scores["IHA"], rtol=1e-9)


def test_a_known_fraction_matters_for_known_members_only(scores, trained):
    """Without the bit the score is that of the control, on the known records' mean gradient."""
    member = trained.task.membership[1, trained.queries(1)]
    honest, released = scores["fraction 0.2"], scores["fraction, released 0.2"]
    np.testing.assert_array_equal(honest[~member], released[~member])
    assert (honest[member] != released[member]).any()


def test_the_size_of_the_others_tells_members_without_looking_at_them(scores, trained):
    member = trained.task.membership[1, trained.queries(1)]
    assert metrics.auc(scores["size of the others"], member) == 1.0


def test_scores_come_from_the_cache_the_second_time(trained, settings, scores, monkeypatch):
    monkeypatch.setattr(white_box, "_scored", None)
    again = white_box.white_box(trained, 1, settings.damping)
    assert all(np.array_equal(again[name], scores[name]) for name in scores)


def test_the_code_counts_without_its_comments_and_docstrings():
    plain = white_box._without_docstrings
    assert plain('def f():\n    """One."""\n    return 1  # a\n') == plain(
        "def f():\n    return 1\n"
    )
    assert plain("def f():\n    return 1\n") != plain("def f():\n    return 2\n")


def test_damping_is_raised_only_where_the_hessian_asks_for_it():
    assert white_box.enough(np.array([-0.01, 1.0]), 0.2) == 0.2
    raised = white_box.enough(np.array([-0.3, 1.0]), 0.2)
    assert raised - 0.3 >= 0.1
    assert white_box.allowed(np.array([-0.05, 1.0]), (0.01, 0.1)) == [0.1]


def test_lira_leaves_the_target_and_its_complement_out(trained):
    scores = black_box.black_box(trained, 1)
    queries = trained.queries(1)
    phi, seen = trained.scaled[:, queries], trained.task.membership[:, queries]
    others = [2, 3, 4, 5]
    expected = attacks.lira(phi[1], phi[others], seen[others])
    np.testing.assert_allclose(scores["LiRA"], expected, rtol=1e-9)
    name = "LiRA, target among its references"
    with_target = [1, 2, 3, 4, 5]
    expected = attacks.lira(phi[1], phi[with_target], seen[with_target])
    np.testing.assert_allclose(scores[name], expected, rtol=1e-9)
    member = trained.task.membership
    assert not (member[1] & member[black_box.complement(1)]).any()
    np.testing.assert_allclose(scores["LOSS"], -ensembles.loss_of(trained.task, phi[1]))


def test_the_loss_is_the_one_that_was_minimised(trained):
    p = 1 / (1 + np.exp(-trained.scaled))
    np.testing.assert_allclose(ensembles.loss_of(trained.task, trained.scaled), (1 - p) ** 2)


def test_accuracy_is_that_of_the_unseen_half(trained):
    unseen = ~trained.task.membership[0]
    right = trained.scaled[0, unseen] > 0
    found = ensembles.utility(trained)["test accuracy (%)"]
    assert found[0] == pytest.approx(100 * right.mean())


def test_rows_are_means_over_targets_within_the_range_of_a_rate():
    rng = np.random.default_rng(0)
    member = [rng.random(50) < 0.5 for _ in range(2)]
    scores = [truth + rng.normal(size=50) for truth in member]
    row = rows.measured({"attack": "x"}, scores, member, ["AUC"])[0]
    both = [metrics.auc(s, m) for s, m in zip(scores, member, strict=True)]
    assert row["value"] == pytest.approx(np.mean(both))
    assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
    assert row["n_repeats"] == 2
