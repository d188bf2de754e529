"""Table 2's game on simulated losses, where the right answer is known, and on tiny networks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from membership import attacks, evidence, metrics
from membership.book import published
from membership.book.exhibits import declared
from membership.book.studies.bayes_optimal import (
    names,
    network_tables,
    networks,
    posterior,
)
from membership.book.studies.bayes_optimal.evidence import sources
from membership.book.studies.bayes_optimal.names import ACCURACY, AUC
from membership.book.studies.bayes_optimal.settings import Settings
from membership.errors import InputError

RATE = "TPR@1%FPR(%)"
ATTRS = {"data": {}, "deviations": ["made up"], "sizes": {}, "setup": {"": {}}, "device": "cpu"}


def simulated(n_models=7, n_records=600, seed=0):
    """Losses of difficulty + noise, lower by one for members."""
    rng = np.random.default_rng(seed)
    member = rng.random((n_models, n_records)) < 0.5
    difficulty = 3 * rng.random(n_records)
    loss = difficulty + rng.gamma(2.0, 0.3, member.shape) + (~member)
    return networks.ReferenceGame(
        loss, (loss < 2.5).astype(float), member, ATTRS, tuple(range(len(loss)))
    )


def test_a_target_is_never_among_its_own_reference_models():
    game = simulated()
    for row, target in enumerate(game.targets()):
        assert target.reference_loss.shape[0] == len(game.loss) - 1
        assert not any(np.isin(target.loss, other).all() for other in target.reference_loss)
        assert np.isin(target.loss, game.loss[row]).all()


def test_every_queried_record_has_reference_models_of_both_kinds():
    for target in simulated(n_models=4).targets():
        inside = target.reference_member.sum(0)
        assert inside.min() >= 1
        assert inside.max() <= 2
        assert 0 < len(target.loss) < 600


def test_which_records_are_queried_says_nothing_about_the_target():
    """Exact: it depends on the other models' masks only, so flipping the target's changes none."""
    game = simulated(n_models=4)
    flipped = game.member.copy()
    flipped[0] = ~flipped[0]
    other = replace(game, member=flipped)
    first, second = next(iter(game.targets())), next(iter(other.targets()))
    assert np.array_equal(first.loss, second.loss)
    assert np.array_equal(first.member, ~second.member)


def test_table_2_agrees_with_a_loop_over_targets():
    game = simulated()
    rows = network_tables.table_2(game).set_index(["attack", "metric"])
    # Records differ in difficulty, so that thresholds of their own help.
    assert rows.loc[("MAST", AUC), "low"] > rows.loc[("MALT", AUC), "high"]
    table = rows["value"]
    # Equation 41 with a balanced prior.
    gap = table["(model)", names.TRAIN] - table["(model)", names.TEST]
    assert table["0-1", ACCURACY] == pytest.approx(50 + gap / 2)
    malt, mast = [], []
    for row in range(len(game.loss)):
        others = [m for m in range(len(game.loss)) if m != row]
        seen = game.member[others]
        kept = [r for r in range(600) if 0 < seen[:, r].sum() < len(others)]
        pooled_score = -game.loss[np.ix_(others, kept)].ravel()
        threshold = metrics.best_threshold(pooled_score, game.member[np.ix_(others, kept)].ravel())
        truth = game.member[row, kept]
        malt.append(metrics.balanced_accuracy(-game.loss[row, kept], truth, threshold=threshold))
        score = attacks.mast(
            game.loss[row, kept],
            game.loss[np.ix_(others, kept)],
            tau="best-separating",
            reference_member=game.member[np.ix_(others, kept)],
        )
        mast.append(metrics.balanced_accuracy(score, truth, threshold=0.0))
    assert table["MALT", ACCURACY] == pytest.approx(100 * np.mean(malt))
    assert table["MAST", ACCURACY] == pytest.approx(100 * np.mean(mast))


def test_the_shadow_attack_stands_in_table_2_as_its_score_is():
    rng = np.random.default_rng(1)
    game = simulated()
    chance = np.clip(0.3 * game.member + rng.random(game.member.shape) - 0.1, 0, 1)
    told = {"networks": {"attacks": {"shadow attack": "of less"}}}
    game = replace(game, shadow=chance, attrs=game.attrs | {"setup": told})
    table = network_tables.table_2(game)
    assert table.attrs["deviations"] == ["made up", "shadow attack: of less"]
    value = table.set_index(["attack", "metric"])["value"]
    right = [
        ((one.shadow >= 0.5) == one.member)[one.member == side].mean()
        for one in game.targets()
        for side in (False, True)
    ]
    assert value["shadow attack", ACCURACY] == pytest.approx(100 * np.mean(right))
    for metric in (names.ACCURACY, names.PEAK, names.OTHER, names.AUC, RATE):
        for first, second in (("MALT", "shadow attack"), ("MALT", "0-1"), ("MAST", "MALT")):
            lead = value[first, metric] - value[second, metric]
            assert value[f"{first} less {second}", metric] == pytest.approx(lead)


def test_temperature_moves_mast_from_the_least_loss_to_the_mean():
    target = next(iter(simulated().targets()))
    outside = np.where(target.reference_member, np.nan, target.reference_loss)
    cold, hot = target.mast("log-mean-exp", 1e-4), target.mast("log-mean-exp", 1e6)
    np.testing.assert_allclose(cold, np.nanmin(outside, 0) - target.loss, atol=1e-3)
    np.testing.assert_allclose(hot, np.nanmean(outside, 0) - target.loss, atol=1e-5)
    table = posterior.temperatures(simulated())
    sweep = table[table["series"] == "MAST on the networks"]
    assert sweep["temperature"].min() == pytest.approx(0.01)
    assert sweep["value"].between(50, 100).all()


def test_the_averages_keep_networks_and_gaussian_game_apart():
    gaussian = pd.DataFrame(
        {"tau": ["mean"], "metric": [AUC], "value": [1.0], "low": [0.0], "high": [2.0]}
    ).assign(n_repeats=3, n_reference=20, standard_error=0.5, degrees_of_freedom=2)
    game = simulated()
    table = network_tables.averages(game, {"Gaussian game": gaussian})
    assert table[table["game"] == "Gaussian game"]["attack"].tolist() == ["MAST, mean"]
    networks = table[table["game"] == "networks"]
    assert networks["attack"].nunique() == 5
    # Over all reference models the mean does not ask who saw the record.
    scores = [(t.reference_loss.mean(0) - t.loss, t.member) for t in game.targets()]
    expected = np.mean([roc_auc_score(member, score) for score, member in scores])
    found = networks.set_index(["attack", "metric"])["value"]
    assert found["MAST, mean (IN and OUT)", AUC] == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        ({"n_reference": "30"}, "", "Adam"),
        ({"n_reference": "29"}, "29 reference models instead of 30", "29 reference models"),
        ({"n_reference": "30", "cnn_epochs": "2"}, "another recipe: epochs 2", "2 epochs"),
        ({"n_reference": "30", "cnn_records": "100"}, "a smaller training set", "100 members"),
    ],
)
def test_what_differs_from_the_paper_is_said_and_judged(change, reason, said):
    settings = Settings.from_strings({"profile": "paper", **change})
    dataset = type("Named", (), {"name": "cifar10", "digest": "", "x": np.zeros((2, 3, 8, 8))})()
    origin = networks.origin(settings, dataset)
    stated = published.setup("bayes_optimal")["Table 2"]
    found = published.comparability(stated, origin["setup"], attack="MAST")
    assert len(found) == bool(reason)
    assert "".join(found).startswith(reason)
    assert any(said in deviation for deviation in origin["deviations"])


def gathered(tmp_path, **changes):
    values = {"profile": "tiny", "cnn_records": "40", "cnn_epochs": "1", "n_reference": "4"}
    settings = Settings.from_strings(values | changes)
    found = sources(settings)["networks"]()
    return evidence.load(evidence.save(tmp_path / "networks.evidence", found))


@pytest.mark.slow
def test_networks_are_trained_on_random_halves_and_queried_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    found = gathered(tmp_path)
    game = networks.game(found)
    assert game.loss.shape == game.member.shape == game.correct.shape == (5, 80)
    probability = 1 / (1 + np.exp(-found["log_odds"].values.astype(float)))
    np.testing.assert_allclose(game.loss, -np.log(probability), rtol=1e-6)
    assert (game.member.sum(1) == 40).all()
    assert game.attrs["setup"]["networks"]["members"] == 40
    assert game.attrs["sizes"]["Reference models"] == "4 (paper: 30)"
    assert ((game.shadow >= 0) & (game.shadow <= 1)).all()
    assert evidence.digest(gathered(tmp_path)) == evidence.digest(found)


def test_the_first_networks_are_the_targets_and_all_others_their_references(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    every = networks.game(gathered(tmp_path))
    monkeypatch.setattr(networks, "TARGETS", 2)
    found = gathered(tmp_path)
    game = networks.game(found)
    assert game.attacked == (0, 1)
    assert game.attrs["sizes"]["Target models, each of them"] == "2"
    assert np.isnan(game.shadow[2:]).all()
    np.testing.assert_array_equal(game.shadow[:2], every.shadow[:2])
    for one, same in zip(game.targets(), list(every.targets())[:2], strict=True):
        np.testing.assert_array_equal(one.loss, same.loss)
        assert one.reference_loss.shape[0] == 4
    assert len(list(game.targets())) == 2


def test_tabular_records_get_a_network_without_convolutions(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 5)).astype(np.float32), np.arange(90) % 3
    np.savez(tmp_path / "mine.npz", x=x, y=y)
    found = gathered(tmp_path, dataset=str(tmp_path / "mine.npz"))
    assert found["log_odds"].shape == (5, 80)
    assert any("tabular" in deviation for deviation in found.attrs["deviations"])


def test_a_data_set_too_small_for_table_2_is_refused():
    settings = Settings.from_strings({"profile": "tiny", "cnn_records": "5000"})
    with pytest.raises(InputError, match="1,797 records"):
        sources(settings)["networks"]()


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ([80.0, 70.0, 60.0], "at the lowest, an end of the sweep"),
        ([60.0, 70.0, 80.0], "at the highest, an end of the sweep"),
        ([60.0, 80.0, 70.0], "at 1."),
    ],
)
def test_a_best_temperature_is_one_between_the_ends(values, where):
    sweep = pd.DataFrame({"series": "MAST on the networks", "temperature": [0.01, 1, 100]})
    said = posterior.temperatures_said(sweep.assign(value=values))
    assert said.endswith(f"it is largest {where}" + ("" if where.endswith(".") else "."))
    assert f"{values[0]:.1f}% at T = 0.01 and {values[-1]:.1f}% at T = 100" in said


@pytest.fixture(scope="module")
def game():
    return simulated(n_models=11, n_records=200)


@pytest.fixture(scope="module")
def table(game):
    return network_tables.by_references(game)


def test_with_all_references_it_is_table_2(game, table):
    most = table[table["references"] == 10].set_index(["attack", "metric"])["value"]
    expected = network_tables.table_2(game).set_index(["attack", "metric"])["value"]
    for attack in ("MALT", "MAST"):
        for metric in (ACCURACY, AUC):
            assert most[attack, metric] == pytest.approx(expected[attack, metric])
    lead = most["MAST", ACCURACY] - most["MALT", ACCURACY]
    assert most["MAST less MALT", ACCURACY] == pytest.approx(lead)
    assert most["MAST", names.PEAK] >= most["MAST", ACCURACY]


def test_networks_that_do_not_fit_are_left_out_as_targets_and_references(game):
    correct = np.where(game.member, 1.0, game.correct)
    correct[[2, 7]] = np.where(game.member[[2, 7]], 0.0, 1.0)
    some = replace(game, correct=correct)
    kept = np.delete(np.arange(11), [2, 7])
    alone = replace(
        some,
        loss=game.loss[kept],
        correct=correct[kept],
        member=game.member[kept],
        attacked=tuple(range(9)),
    )
    assert some.fits.tolist() == [row not in (2, 7) for row in range(11)]
    table = network_tables.by_references(some).set_index(["references", "attack", "metric"])
    expected = network_tables.table_2(alone).set_index(["attack", "metric"])
    for attack in ("0-1", "MALT", "MAST", "MAST less MALT"):
        own = (attack, ACCURACY)
        found = table.loc[(8, f"{attack}, {network_tables.FITTED}", own[1])]
        assert found["value"] == pytest.approx(expected.loc[own, "value"])
        assert found["n_repeats"] == 9
    unfit = table.loc[(10, network_tables.UNFIT, "train_accuracy(%)")]
    assert (unfit["value"], unfit["n_repeats"]) == (0, 2)


def test_every_network_is_a_target_where_the_evidence_has_more(game, table):
    assert not game.fits.any()
    assert not table["attack"].str.contains(f"{network_tables.EVERY}|{network_tables.FITTED}").any()
    few = replace(game, attacked=(0, 1, 2), shadow=np.zeros_like(game.loss))
    found = network_tables.by_references(few).set_index(["attack", "metric"])
    expected = network_tables.table_2(game).set_index(["attack", "metric"])
    key = f"MAST less MALT, {network_tables.EVERY}", ACCURACY
    lead = expected.loc["MAST less MALT", ACCURACY]
    for column in ("value", "low", "high", "n_repeats"):
        assert found.loc[key, column] == pytest.approx(lead[column])
    assert not any(names.SHADOW in attack for attack, _ in found.index)


def test_fewer_references_are_the_first_ones(game, table):
    assert sorted(table["references"].unique()) == [5, 8, 10]
    target = next(iter(game.targets()))
    fewer = network_tables._first(target, 5)
    assert fewer.reference_loss.shape[0] == 5
    assert (fewer.reference_member.any(0) & ~fewer.reference_member.all(0)).all()
    assert len(fewer.loss) < len(target.loss)


def test_the_spread_of_thresholds_is_that_of_a_loop(game, table):
    expected = []
    for target in game.targets():
        tau = target.mast("best-separating") + target.loss
        spread = [np.subtract(*np.percentile(v, [75, 25])) for v in (tau, target.loss)]
        expected.append(spread[0] / spread[1])
    found = table.set_index(["attack", "metric"])["value"]
    assert found[network_tables.TAU, names.SPREAD].item() == pytest.approx(np.mean(expected))


def test_the_sentence_has_the_paired_leads_at_both_ends(table):
    lead = table[table["attack"] == "MAST less MALT"].set_index(["references", "metric"])
    (exhibit,) = (one for one in declared("bayes_optimal") if one.id == "bayes-optimal-ctl-12")
    said = exhibit.says(table)
    for count in (5, 10):
        row = lead.loc[(count, ACCURACY)]
        assert f"by {row['value']:+.1f} points with {count} references" in said
    assert "8 references" not in said


def test_a_histogram_counts_every_record_once(game):
    table = network_tables.histograms(game)
    found = table[table["metric"] == names.SHARE]
    assert (found.groupby("quantity")["value"].sum() - 100).abs().max() < 1e-9
    bins = network_tables.BINS
    held = [(one.loss >= 1) & (one.loss < bins[13]) for one in game.targets()]
    members = [one.member[rows].mean() for one, rows in zip(game.targets(), held, strict=True)]
    at = table[(table["quantity"] == "loss") & table["nats"].between(1, bins[13])]
    value = at.set_index("metric")["value"]
    assert value[names.SHARE] == pytest.approx(100 * np.mean([rows.mean() for rows in held]))
    assert value[names.MEMBERS] == pytest.approx(100 * np.mean(members))
    assert len(table[table["metric"] == names.MEMBERS]) < len(bins) - 1


def test_the_sentence_says_whether_the_least_losses_are_members(game):
    table = network_tables.histograms(game)
    members = table[table["metric"] == names.MEMBERS].sort_values("nats")
    said = network_tables.histograms_said(table)
    assert members["value"].idxmax() == members.index[0]
    assert said.endswith(
        f"the least loss {members['value'].iloc[0]:.0f}% are members, the most of all."
    )
    # Where the members are elsewhere, both ends are told.
    table.loc[members.index[1], "value"] = 101.0
    said = network_tables.histograms_said(table)
    assert f"about {members['nats'].iloc[1]:.1g} nats 101% are members" in said
    assert said.endswith(f"the least loss {members['value'].iloc[0]:.0f}%.")
    assert "% of their areas overlap" in network_tables.histograms_described(table)
