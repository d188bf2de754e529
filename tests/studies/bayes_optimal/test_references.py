"""The number of references, on losses made up."""

from dataclasses import replace

import numpy as np
import pytest

from membership.studies.bayes_optimal import cnn, names, reference_tables, sentences
from membership.studies.bayes_optimal.reference_game import ReferenceGame

ATTRS = {"data": {}, "deviations": [], "sizes": {}, "setup": {"": {}}, "device": "cpu"}


@pytest.fixture(scope="module")
def game():
    rng = np.random.default_rng(0)
    member = rng.random((11, 200)) < 0.5
    loss = 3 * rng.random(200) + rng.gamma(2.0, 0.3, member.shape) + (~member)
    return ReferenceGame(loss, (loss < 2.5).astype(float), member, ATTRS, tuple(range(len(loss))))


@pytest.fixture(scope="module")
def table(game):
    return reference_tables.by_references(game)


def test_with_all_references_it_is_table_2(game, table):
    most = table[table["references"] == 10].set_index(["attack", "metric"])["value"]
    expected = cnn.table_2(game).set_index(["attack", "metric"])["value"]
    for attack in ("MALT", "MAST"):
        for metric in ("attack_accuracy(%)", "auc(%)"):
            assert most[attack, metric] == pytest.approx(expected[attack, metric])
    lead = most["MAST", "attack_accuracy(%)"] - most["MALT", "attack_accuracy(%)"]
    assert most["MAST less MALT", "attack_accuracy(%)"] == pytest.approx(lead)
    assert most["MAST", "peak_accuracy(%)"] >= most["MAST", "attack_accuracy(%)"]


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
    table = reference_tables.by_references(some).set_index(["references", "attack", "metric"])
    expected = cnn.table_2(alone).set_index(["attack", "metric"])
    for attack in ("0-1", "MALT", "MAST", "MAST less MALT"):
        own = (attack, "attack_accuracy(%)")
        found = table.loc[(8, f"{attack}, {reference_tables.FITTED}", own[1])]
        assert found["value"] == pytest.approx(expected.loc[own, "value"])
        assert found["n_repeats"] == 9
    unfit = table.loc[(10, reference_tables.UNFIT, "train_accuracy(%)")]
    assert (unfit["value"], unfit["n_repeats"]) == (0, 2)


def test_where_all_networks_fit_alike_nothing_is_left_out(game, table):
    assert not game.fits.any()
    assert not table["attack"].str.contains(reference_tables.FITTED).any()


def test_every_network_is_a_target_where_the_evidence_has_more(game, table):
    assert not table["attack"].str.contains(reference_tables.EVERY).any()
    few = replace(game, attacked=(0, 1, 2), shadow=np.zeros_like(game.loss))
    found = reference_tables.by_references(few).set_index(["attack", "metric"])
    expected = cnn.table_2(game).set_index(["attack", "metric"])
    key = f"MAST less MALT, {reference_tables.EVERY}", "attack_accuracy(%)"
    lead = expected.loc["MAST less MALT", "attack_accuracy(%)"]
    for column in ("value", "low", "high", "n_repeats"):
        assert found.loc[key, column] == pytest.approx(lead[column])
    assert not any(names.SHADOW in attack for attack, _ in found.index)


def test_fewer_references_are_the_first_ones(game, table):
    assert sorted(table["references"].unique()) == [5, 8, 10]
    target = next(iter(game.targets()))
    fewer = reference_tables._first(target, 5)
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
    assert found[reference_tables.TAU, names.SPREAD].item() == pytest.approx(np.mean(expected))


def test_the_sentence_has_the_paired_leads_at_both_ends(table):
    lead = table[table["attack"] == "MAST less MALT"].set_index(["references", "metric"])
    said = sentences.of_references(table)
    for count in (5, 10):
        row = lead.loc[(count, "attack_accuracy(%)")]
        shown = f"{row['value']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}]"
        assert f"{count} references: {shown} cut at zero" in said
    assert "8 references" not in said


def test_a_histogram_counts_every_record_once(game):
    table = reference_tables.histograms(game)
    found = table[table["metric"] == names.SHARE]
    assert (found.groupby("quantity")["value"].sum() - 100).abs().max() < 1e-9
    bins = reference_tables.BINS
    held = [(one.loss >= 1) & (one.loss < bins[13]) for one in game.targets()]
    members = [one.member[rows].mean() for one, rows in zip(game.targets(), held, strict=True)]
    at = table[(table["quantity"] == "loss") & table["nats"].between(1, bins[13])]
    value = at.set_index("metric")["value"]
    assert value[names.SHARE] == pytest.approx(100 * np.mean([rows.mean() for rows in held]))
    assert value[names.MEMBERS] == pytest.approx(100 * np.mean(members))
    assert len(table[table["metric"] == names.MEMBERS]) < len(bins) - 1


def test_the_sentence_says_whether_the_least_losses_are_members(game):
    table = reference_tables.histograms(game)
    members = table[table["metric"] == names.MEMBERS].sort_values("nats")
    said = sentences.of_histograms(table)
    assert members["value"].idxmax() == members.index[0]
    assert said.endswith(
        f"the least loss {members['value'].iloc[0]:.0f}% are members, the highest share."
    )
    # Where the members are elsewhere, both ends are told.
    table.loc[members.index[1], "value"] = 101.0
    said = sentences.of_histograms(table)
    assert f"about {members['nats'].iloc[1]:.1g} nats 101% are members" in said
    assert said.endswith(f"{members['nats'].iloc[0]:.1g} nats {members['value'].iloc[0]:.0f}%.")
    assert "% of their areas overlap" in sentences.histograms_picture(table)
