"""Scores of a target: what each row of a table is, by the attacks' public functions."""

import numpy as np
import pytest

from membership import attacks, metrics
from membership.attacks.lira import Choice, lira_variants
from membership.book.studies.iha import evaluation, experiment, forms, subjects
from membership.book.studies.iha import scores as of


@pytest.fixture(scope="module")
def scores(evaluations, source):
    """Every score of the second target, from evidence."""
    swept = evaluation.read(source, subjects.SWEPT, subjects.decomposed)[0]
    known = evaluation.read(source, subjects.KNOWN, subjects.subjects)[0]
    return swept.by_target[1] | known.by_target[1] | evaluations[0].by_target[1]


@pytest.fixture(scope="module")
def public(trained, scores):
    """attacks.iha on the same target, with other options as they are given."""
    queries = trained.queries
    arguments = (
        trained.ensemble.module(1),
        trained.task.config.loss_of,
        forms.training_records(trained, 1),
        forms.records(trained, queries),
        trained.task.membership[1, queries],
    )

    def score(damping=0.2, **options):
        how = trained.recipe
        return attacks.iha(*arguments, **how, damping=damping, **options).score

    return score


def test_every_target_is_asked_the_same_records_each_once(trained):
    queries = trained.queries
    assert len(set(queries.tolist())) == len(queries) == 120
    asked = trained.task.membership[:, queries].sum(1)
    assert (asked[::2] + asked[1::2] == 120).all()
    assert (asked > 40).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("IHA", {}),
        ("IHA, everyone", {"knowledge": "everyone"}),
        ("IHA, everyone less own", {"knowledge": "everyone-less-own"}),
        ("IHA*", {"stationarity": "regularised"}),
        ("IHA*, everyone", {"stationarity": "regularised", "knowledge": "everyone"}),
        ("IHA, damping 0.5", {"damping": 0.5}),
        ("IHA*, damping 0.03", {"damping": 0.03, "stationarity": "regularised"}),
        ("IHA, low rank 0.1", {"damping": 0.1, "conditioning": "low-rank"}),
    ],
)
def test_a_row_is_what_the_attack_of_that_name_gives(scores, public, name, options):
    expected = public(**options)
    np.testing.assert_allclose(
        scores[name], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
    )


def test_the_terms_add_up_to_the_score(scores, trained):
    how = trained.recipe
    whole = scores["loss"] / (1 + how["momentum"])
    whole = whole - sum(scores[f"i{k}"] for k in range(1, 5)) / how["learning_rate"]
    np.testing.assert_allclose(scores["IHA"], whole, rtol=1e-9, atol=1e-12)


def test_knowing_every_record_is_the_attack_itself(scores):
    np.testing.assert_allclose(scores["fraction 1"], scores["IHA"], rtol=1e-9)
    np.testing.assert_allclose(scores["fraction, released 1"], scores["IHA"], rtol=1e-9)


def test_a_known_fraction_matters_for_known_members_only(scores, trained):
    """Without the bit the score is that of the control, on the known records' mean gradient."""
    member = trained.task.membership[1, trained.queries]
    honest, released = scores["fraction 0.2"], scores["fraction, released 0.2"]
    np.testing.assert_array_equal(honest[~member], released[~member])
    assert (honest[member] != released[member]).any()


def test_the_size_of_the_others_tells_members_without_looking_at_them(scores, trained):
    member = trained.task.membership[1, trained.queries]
    assert metrics.auc(scores["size of the others"], member) == 1.0


def test_a_damping_that_is_too_small_for_a_target_is_left_out(source):
    outputs, sweep = (source.evidence(f"{kind}-digits-odd") for kind in ("outputs", "sweep"))
    assert evaluation.swept(outputs, sweep).has("IHA, damping 0.01")
    form = sweep["form"].copy()
    form[1, list(sweep["inverse"].values).index("damping 0.01")] = np.nan
    found = evaluation.swept(outputs, sweep.assign(form=form))
    assert not found.has("IHA, damping 0.01")
    assert found.has("IHA, damping 0.03")


@pytest.mark.parametrize("statistic", ["norm", "cosine"])
@pytest.mark.parametrize(
    ("suffix", "knowledge"), [("", "leave-one-out"), (", everyone", "everyone")]
)
def test_the_residual_tests_are_the_attack(scores, trained, statistic, suffix, knowledge):
    expected = attacks.residual(
        trained.ensemble.module(1),
        trained.task.config.loss_of,
        forms.training_records(trained, 1),
        forms.records(trained, trained.queries),
        trained.task.membership[1, trained.queries],
        trained.task.config.weight_decay,
        statistic,
        knowledge=knowledge,
    )
    atol = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(scores[f"residual {statistic}{suffix}"], expected, 1e-6, atol)


def test_the_registered_attacks_read_this_evidence(source, scores):
    """The same names and labels as the registry's; its scores are the chapter's."""
    evidence = [source.evidence(f"{kind}-digits-odd") for kind in ("outputs", "white-box")]
    found = attacks.scores(*evidence, target=1)
    names = {"sif": "SIF", "iha": "IHA", "iha-star": "IHA*", "residual": "residual norm"}
    names |= {"loss": "LOSS", "lira": "LiRA"}
    for name, own in names.items():
        np.testing.assert_allclose(found.score[name], scores[own], rtol=1e-9, err_msg=name)
    np.testing.assert_array_equal(found.member, evidence[1]["member"].values[1])


def test_lira_leaves_the_target_and_its_complement_out(scores, trained, source):
    queries = trained.queries
    phi = (
        experiment.scaled_logits(
            trained.ensemble, trained.task.pool.x[queries], trained.task.pool.y[queries]
        )
        .astype(np.float32)
        .astype(float)
    )
    seen = trained.task.membership[:, queries]
    others = [2, 3, 4, 5]
    expected = attacks.lira(phi[1], phi[others], seen[others])
    np.testing.assert_allclose(scores["LiRA"], expected, rtol=1e-9)
    name = "LiRA, target among its references"
    with_target = [1, 2, 3, 4, 5]
    choice = {name: Choice()}
    signals = phi[1], phi[with_target], seen[with_target]
    expected = lira_variants(*signals, choice, even=False)[name]
    np.testing.assert_allclose(scores[name], expected, rtol=1e-9)
    assert source.evidence("outputs-digits-odd").attrs["complements"] == [1, 0, 3]
    assert not (trained.task.membership[0] & trained.task.membership[1]).any()


def test_the_loss_is_the_one_that_was_minimised(scores, trained):
    queries = trained.queries
    pool = trained.task.pool
    scaled = experiment.scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries])[1]
    expected = (1 - 1 / (1 + np.exp(-scaled))) ** 2
    np.testing.assert_allclose(-scores["LOSS"], expected, rtol=1e-5)


def test_accuracy_is_that_of_the_unseen_half(trained):
    unseen = ~trained.task.membership[0]
    pool = trained.task.pool
    right = experiment.scaled_logits(trained.ensemble, pool.x[unseen], pool.y[unseen])[0] > 0
    found = experiment.utility(trained)["test accuracy (%)"]
    assert found[0] == pytest.approx(100 * right.mean())


def test_rows_are_means_over_targets_within_the_range_of_a_rate():
    rng = np.random.default_rng(0)
    member = [rng.random(50) < 0.5 for _ in range(4)]
    scores = [truth + rng.normal(size=50) for truth in member]
    row = of.measured({"attack": "x"}, scores, member, ["AUC"])[0]
    both = [metrics.auc(s, m) for s, m in zip(scores, member, strict=True)]
    assert row["value"] == pytest.approx(np.mean(both))
    assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
    # A model and its complement are one unit.
    assert row["n_repeats"] == 2


@pytest.mark.parametrize(("sizes", "models"), [((5, 4), 4), ((5, 3), (5, 4))])
def test_weighted_numbers_are_those_of_all_pairs_one_by_one(sizes, models):
    """Against every pair of scores, with ties, as the weights of a bootstrap ask for.

    Weights of the models without the record are one for all records, or (R, K) where sets differ.
    """
    rng = np.random.default_rng(2)
    out, ins = rng.integers(6, size=(5, 4)), rng.integers(2, 8, size=sizes)
    w, v, u = rng.integers(3, size=5), rng.integers(1, 4, sizes), rng.integers(1, 4, models)
    wins = (ins[:, :, None, None] > out) + 0.5 * (ins[:, :, None, None] == out)
    parts = v / v.sum(1, keepdims=True), np.broadcast_to(u / u.sum(-1, keepdims=True), out.shape)
    auc = np.einsum("risj,ri,sj->rs", wins, *parts)
    pair = np.outer(w, w) * (1 - np.eye(5))
    mean = (w * auc.diagonal()).sum() / w.sum()
    pooled, each = of.Compared(out, ins).numbers(w, v, u)
    assert each == pytest.approx(mean)
    assert pooled == pytest.approx(mean / 5 + 0.8 * (pair * auc).sum() / pair.sum())


def test_one_record_drawn_alone_is_compared_with_itself():
    out, ins = np.array([[0.0, 1.0], [5.0, 6.0]]), np.array([[0.5, 2.0], [7.0, 8.0]])
    found = of.Compared(out, ins).numbers(np.array([2, 0]), np.ones((2, 2)), np.ones(2))
    assert found == pytest.approx((0.75, 0.75))
