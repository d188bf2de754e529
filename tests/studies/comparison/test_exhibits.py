"""Every exhibit of a tiny run: it is drawn, it says something, its numbers hang together."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from membership import attacks, data, metrics
from membership.exhibits import declared
from membership.studies.comparison import leaderboard, scores, sentences

EXHIBITS = declared("comparison")


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_every_exhibit_says_something_and_is_drawn(exhibit, source):
    table = source.table(exhibit.id)
    assert exhibit.says(table).endswith(".")
    assert "nan" not in exhibit.says(table)
    assert table.attrs["sizes"]
    assert not table.duplicated(list(table.columns[: list(table.columns).index("value")])).any()
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)
        plt.close(exhibit.draw(table))


@pytest.mark.slow
def test_panels_are_never_mixed(source):
    known = {one.display: one for one in attacks.registry().values()}
    first = set(source.table("comparison-tab-1")["attack"])
    second = set(source.table("comparison-tab-2")["attack"])
    assert not first & second
    assert not any(known[name].leave_one_out for name in first)
    assert all(known[name].leave_one_out for name in second)


@pytest.mark.slow
def test_the_third_panel_has_no_attack_of_the_others(source):
    table = source.table("comparison-ctl-5")
    others = [source.table(f"comparison-tab-{one}")["attack"] for one in (1, 2)]
    assert not set(table["what"]) & set(pd.concat(others))
    own = source.table("comparison-fig-4").query("predictor == 'LOOD, KL at the record'")
    assert set(table["dataset"]) > set(own["dataset"])
    assert (table.loc[table["metric"] == "AUC", "value"] < 1).all()


@pytest.mark.slow
def test_pictures_are_of_the_records_that_they_are_said_to_be(source):
    table = source.table("comparison-fig-5").query("record != ''")
    levels = np.rint(255 * data.deduplicate(data.load("digits")).x).astype(int)
    for one in table.itertuples():
        assert [int(part) for part in one.pixels.split()] == levels[
            int(one.record)
        ].ravel().tolist()


@pytest.mark.slow
def test_no_attack_is_behind_one_that_knows_more(source):
    table = source.table("comparison-tab-1")
    known = {one.display: one.name for one in attacks.registry().values()}
    for row in table.itertuples():
        best = known[getattr(row, "best of no more knowledge".replace(" ", "_"), row.attack)]
        assert leaderboard._known(best) <= leaderboard._known(known[row.attack])
    behind = table[table["metric"] == leaderboard.BEHIND]
    assert (behind["value"] >= 0).all()


@pytest.mark.slow
def test_an_average_over_cells_is_that_of_their_targets(source, seen, settings):
    found = scores.contrast(scores.plain(seen), {"lira": 1.0}, "auc", settings)
    each = [
        metrics.auc(score, member)
        for one in seen
        for score, member in zip(one.table.score["lira"], one.table.member, strict=True)
    ]
    assert found["value"] == pytest.approx(np.mean(each))
    assert found["low"] < found["value"] < found["high"]
    assert found["n_repeats"] == settings.n_targets


def test_what_references_add_is_paired_and_the_models_accuracy_stands_beside(source, seen):
    table = source.table("comparison-fig-1")
    for one in seen:
        rows = table[(table["dataset"] == one.set) & (table["target"] == one.target)]
        value = rows.set_index(["attack", "metric"])["value"]
        lead = value["LiRA", "AUC"] - value["LOSS", "AUC"]
        assert value["LiRA less LOSS", "AUC gained"] == pytest.approx(lead)
        right = one.outputs["correct"].values & one.outputs["member"].values
        members = one.outputs["member"].values.sum(axis=1)
        share = 100 * (right.sum(axis=1) / members)[one.targets].mean()
        assert value["(model)", "accuracy on members (%)"] == pytest.approx(share)


@pytest.mark.slow
def test_canaries_are_in_no_other_table(seen):
    one = seen[0]
    assert one.table.member.shape[1] == int((~one.canary).sum())
    assert one.everyone.member.shape[1] == one.canary.size


@pytest.mark.slow
def test_fewer_references_are_pairs_and_cost_less(seen, source):
    one = seen[0]
    for place in range(len(one.targets)):
        rows = one.outputs["member"].values[scores._start(one.references, place, 2)]
        assert (rows[0] ^ rows[1]).all()
    times = source.evidence(f"times-{one.cell.word}")
    assert leaderboard.references_of("loss", one) == 0
    assert leaderboard.references_of("lira", one, 4) == 4
    assert leaderboard.references_of("bmia-closed", one) == 2
    assert leaderboard.seconds_of("lira", one, times, 2) < leaderboard.seconds_of(
        "lira", one, times
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bmia-closed", "bmia-mixture", "qmia", "iha", "matt"])
def test_what_an_attack_costs_does_not_hang_on_its_name(seen, source, name, monkeypatch):
    one, known = seen[0], attacks.registry()
    times = source.evidence(f"times-{one.cell.word}")
    more = xr.Dataset({"part": ("case", ["score: renamed"]), "seconds": ("case", [0.5])})
    parts = dict(zip(times["part"].values, times["seconds"].values, strict=True))
    seconds, used = leaderboard.seconds_of(name, one, times), leaderboard.references_of(name, one)
    renamed = replace(known[name], name="renamed")
    monkeypatch.setattr(attacks, "registry", lambda: {**known, "renamed": renamed})
    with_more = xr.concat([times[["part", "seconds"]], more], "case")
    assert leaderboard.references_of("renamed", one) == used
    assert leaderboard.seconds_of("renamed", one, with_more) == pytest.approx(
        seconds - parts[f"score: {name}"] + 0.5
    )


@pytest.mark.slow
def test_nobody_is_its_own_reference_nor_its_complements(seen):
    one, chosen = seen[0], ("loss", "attack-r")
    table = one.every_model(chosen)
    assert len(table.member) == len(one.targets) + len(one.references)
    # Attack-R by all references but the last pair, by hand.
    order = one.references[:-2]
    seen_by = one.one_model(one.targets[0], chosen, order)
    np.testing.assert_array_equal(table.score["attack-r"][0], seen_by["attack-r"])


@pytest.mark.slow
def test_the_leader_need_not_have_been_timed(source):
    table = source.table("comparison-tab-1")
    untimed = table[table["metric"] != "processor seconds"]
    assert sentences.of_references(untimed) == sentences.of_references(table)
