"""Leave-one-out retraining, and a game in which no score can read the coin."""

import numpy as np
import pytest

from membership import attacks, data, metrics
from membership.exhibits.files import read_back
from membership.exhibits.panels import one_by_one
from membership.exhibits.rows import rank_correlation
from membership.studies.iha import clean_game, leave_one_out, left_out, scores
from membership.studies.iha.experiment import scaled_logits
from membership.studies.iha.left_out import Experiment, small_task


def test_each_model_differs_from_the_base_by_its_own_record(retrained):
    member, groups = retrained.ensemble.membership, retrained.groups
    base = np.arange(member.shape[1]) < len(retrained.base)
    assert (member[groups["targets"]] == base).all()
    for r, (inside, outside) in enumerate(zip(retrained.inside, retrained.outside, strict=True)):
        for model in groups["without"][r]:
            assert np.flatnonzero(member[model] != base).tolist() == [inside]
        for model in groups["with"][r]:
            assert np.flatnonzero(member[model] != base).tolist() == [outside]
    assert base[retrained.inside].all()
    assert not base[retrained.outside].any()
    assert len(np.unique(np.concatenate([g.ravel() for g in groups.values()]))) == len(member)


def test_the_evidence_is_what_the_models_answer(experiment, retrained):
    pool, asked = retrained.task.pool, experiment.outputs["record"].values
    answers = scaled_logits(retrained.ensemble, pool.x[asked], pool.y[asked])
    seen = experiment.outputs["asked"].values
    np.testing.assert_array_equal(experiment.scaled[seen], answers.astype(np.float32)[seen])
    assert np.isnan(experiment.scaled[~seen]).all()
    assert seen[retrained.groups["targets"]].all()
    assert (seen[retrained.groups["with"]].sum(-1) == 1).all()
    member = retrained.ensemble.membership[:, asked]
    np.testing.assert_array_equal(experiment.outputs["member"].values, member)
    assert asked[experiment.outside].tolist() == retrained.outside.tolist()
    assert asked[experiment.inside].tolist() == retrained.inside.tolist()
    assert experiment.outputs.attrs["recipe"]["members"] == len(retrained.base)


def test_no_score_of_the_game_reads_the_coin(experiment):
    """With every membership bit turned round, the scores stay as they are."""
    blind = Experiment(
        experiment.outputs.assign(member=~experiment.outputs["member"]),
        experiment.forms.assign(member=~experiment.forms["member"]),
    )
    truth, coin = leave_one_out.scored(experiment)
    found, _ = leave_one_out.scored(blind)
    assert all(np.array_equal(found[name], truth[name]) for name in truth)
    assert coin.tolist() == [False] * 3 + [True] * 3


def test_the_games_attacks_are_those_on_a_record_outside(experiment, retrained, settings):
    """From evidence as from the model itself, for one model on D and one on D + z."""
    models = retrained.groups["targets"][0], retrained.groups["with"][1, 4]
    task = retrained.task
    config, pool = task.config, task.pool
    scores, _ = leave_one_out.scored(experiment)
    for column, model in zip((0, 4), models, strict=True):
        z = retrained.outside[[1]]
        arguments = (
            retrained.ensemble.module(int(model)),
            config.loss_of,
            (pool.x[retrained.base], pool.y[retrained.base]),
            (pool.x[z], pool.y[z]),
        )
        how = (config.learning_rate, config.momentum, config.weight_decay, settings.damping)
        for name, stationarity in (("IHA", "published"), ("IHA*", "regularised")):
            public = attacks.iha(*arguments, [False], *how, stationarity=stationarity)
            np.testing.assert_allclose(scores[name][1, column], public.score[0], rtol=1e-5)
        public = attacks.sif(*arguments, settings.damping)
        np.testing.assert_allclose(scores["SIF"][1, column], public[0], rtol=1e-6)
        for statistic in ("norm", "cosine"):
            public = attacks.residual(*arguments, [False], config.weight_decay, statistic)
            found = scores[f"residual {statistic}"][1, column]
            np.testing.assert_allclose(found, public[0], rtol=1e-5)


def test_the_targets_are_not_among_the_references(experiment):
    scores, coin = leave_one_out.scored(experiment)
    half = len(coin) // 2
    out = experiment.groups["targets"][:half]
    retrained = experiment.groups["with"][0]
    references = np.concatenate([experiment.groups["references"], retrained[:half]])
    z = experiment.outside[0]
    member = experiment.outputs["member"].values
    for column, model in enumerate([*out, *retrained[half : 2 * half]]):
        assert model not in references
        phi = experiment.scaled[:, [z]]
        expected = attacks.lira(phi[model], phi[references], member[references, z][:, None])
        assert scores["LiRA-L, online"][0, column] == pytest.approx(expected[0])
        assert coin[column] == member[model, z]


def test_pooled_and_record_by_record_are_what_they_are_called():
    rng = np.random.default_rng(1)
    coin = np.array([False, False, True, True])
    score = rng.normal(size=(5, 4)) + coin + np.arange(5)[:, None]
    pooled, each = leave_one_out._rows({}, leave_one_out.redrawn(score, coin, 0), len(score))
    assert pooled["value"] == pytest.approx(metrics.auc(score.ravel(), np.tile(coin, 5)))
    assert each["value"] == pytest.approx(np.mean([metrics.auc(row, coin) for row in score]))
    assert pooled["low"] <= pooled["value"] <= pooled["high"]
    assert each["low"] <= each["value"] <= each["high"]


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
    pooled, each = clean_game.Compared(out, ins).numbers(w, v, u)
    assert each == pytest.approx(mean)
    assert pooled == pytest.approx(mean / 5 + 0.8 * (pair * auc).sum() / pair.sum())


def test_one_record_drawn_alone_is_compared_with_itself():
    out, ins = np.array([[0.0, 1.0], [5.0, 6.0]]), np.array([[0.5, 2.0], [7.0, 8.0]])
    found = clean_game.Compared(out, ins).numbers(np.array([2, 0]), np.ones((2, 2)), np.ones(2))
    assert found == pytest.approx((0.75, 0.75))


def test_the_interval_allows_for_the_shared_models_of_the_base():
    """With many records and two models on D', one much the lower, these decide the value."""
    rng = np.random.default_rng(3)
    base = np.repeat([[-9.0, 9.0]], 60, axis=0)
    score = np.concatenate([base, rng.normal(size=(60, 2))], axis=1)
    numbers = leave_one_out.redrawn(score, np.array([False, False, True, True]), 0)
    for row in leave_one_out._rows({}, numbers, len(score)):
        assert (row["low"], row["value"], row["high"]) == pytest.approx((0.0, 0.5, 1.0))


def test_agreement_with_the_truth_is_the_rate_of_right_decisions(experiment, settings):
    played = leave_one_out.protocol(experiment, settings)
    table = leave_one_out.table_5([played]).set_index(["attack", "metric"])["value"]
    score, member = played.scores["IHA"], played.member
    called = np.stack([scores.called(s, member, 0.3) for s in score])
    tpr, tnr = called[:, member].mean(), (~called[:, ~member]).mean()
    assert table["IHA vs GT", "agreement on members @FPR 0.3"] == pytest.approx(tpr)
    assert table["GT vs IHA", "agreement on non-members @FPR 0.3"] == pytest.approx(tnr)
    assert tnr >= 0.7


def test_differences_of_the_protocol_are_those_of_its_numbers(experiment, settings):
    played = leave_one_out.protocol(experiment, settings)
    table = leave_one_out.control_8([played]).set_index(["attack", "metric"])
    for first, second in leave_one_out.LEADS:
        row = table.loc[f"{first} less {second}", leave_one_out.PAIRED]
        auc = [table.loc[name, "AUC"]["value"] for name in (first, second)]
        assert row["value"] == pytest.approx(auc[0] - auc[1])
        assert row["low"] <= row["value"] <= row["high"]


def test_references_of_a_member_have_not_seen_it(experiment, settings):
    """The L-attack of the protocol, by hand for one member and one non-member."""
    played = leave_one_out.protocol(experiment, settings)
    target = experiment.groups["targets"][0]
    member = experiment.outputs["member"].values
    for column, rows in (
        (0, experiment.groups["without"][0]),
        (len(experiment.inside), experiment.groups["references"]),
    ):
        assert not member[rows, column].any()
        expected = attacks.attack_r(
            experiment.loss[[target], column], experiment.loss[rows, column][:, None]
        )
        assert played.scores["L-attack"][0, column] == pytest.approx(expected[0])


@pytest.fixture(scope="module")
def some(source):
    return left_out.experiments(source)


@pytest.fixture(scope="module")
def table(some, settings):
    return leave_one_out.control_10(some, settings)


def test_the_value_is_the_auc_among_the_models_of_one_record(some, table):
    for one in some:
        scores, trained_on = leave_one_out.scored(one)
        for r, record in enumerate(one.outputs.attrs["outside"]):
            for name in leave_one_out.ATTACKS:
                part = table[(table["dataset"] == one.label) & (table["attack"] == name)]
                (said,) = part.loc[part["record"] == record, "value"]
                assert said == pytest.approx(metrics.auc(scores[name][r], trained_on))


def test_each_attack_has_every_record_once_best_first(some, table):
    for _, part in table.groupby(["dataset", "attack"]):
        assert part["column"].tolist() == list(range(1, len(part) + 1))
        assert part["value"].is_monotonic_decreasing
        assert part["record"].is_unique
    assert len(table) == sum(len(one.outside) for one in some) * len(leave_one_out.ATTACKS)


def test_pictures_are_those_of_the_embedded_records(some, table, settings):
    digits = table[table["dataset"] == "Digits"]
    pool = small_task("digits", settings).pool
    for row in digits.to_dict("records"):
        x, y = pool.x[row["record"]], pool.y[row["record"]]
        assert row["label"] == f"digit {y}"
        levels = np.array(row["pixels"].split(), float).reshape(x.shape)
        np.testing.assert_allclose(levels / 255, x, atol=0.5 / 255 + 1e-6)
    whole = data.load("digits")
    assert {tuple(x.ravel()) for x in pool.x} <= {tuple(x.ravel()) for x in whole.x}
    assert set(table.loc[table["dataset"] != "Digits", "pixels"]) == {""}


def test_a_reader_sees_each_pictured_record_with_all_attacks(table):
    found = one_by_one(leave_one_out.one_by_one(read_back(table)))
    digits = table[table["dataset"] == "Digits"]
    assert found["measures"] == list(leave_one_out.ATTACKS)
    assert len(found["records"]) == digits["record"].nunique()
    best = digits[(digits["attack"] == "IHA") & (digits["column"] == 1)]["record"].item()
    (shown,) = [one for one in found["records"] if one["label"].endswith(f" {best}")]
    assert shown["ranks"][found["measures"].index("IHA")] == 1


def test_the_sentence_has_the_rank_correlation_and_its_interval():
    value, low, high = rank_correlation([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5]).values()
    assert low < value < high
    assert value == pytest.approx(1 - 6 * 2 / (6 * 35))
    same, low, high = rank_correlation([1, 2, 3], [1, 2, 3]).values()
    assert -1 <= low <= same <= high + 1e-6 <= 1 + 1e-6
