"""The leaderboards: who is in which panel, in what order, and one attack's row."""

import pandas as pd
import pytest

from membership import attacks, plots
from membership.book.studies.comparison import leaderboard, names
from membership.errors import InputError


@pytest.mark.slow
def test_a_row_is_the_one_of_the_leaderboard(source):
    found = leaderboard.row(source, "lira")
    board = source.table("comparison-tab-1")
    own = board[board["attack"] == "LiRA"].reset_index(drop=True)
    assert found["metric"].tolist() == own["metric"].tolist()
    assert found["value"].tolist() == pytest.approx(own["value"].tolist())


@pytest.mark.slow
def test_a_name_that_is_none_and_an_attack_without_evidence_are_said(source):
    with pytest.raises(InputError, match="unknown attack 'lyra'; did you mean 'lira'"):
        leaderboard.row(source, "lyra")
    with pytest.raises(InputError, match=r"'glir': the bench lacks steps\.distance"):
        leaderboard.row(source, "glir")


@pytest.mark.slow
def test_panels_are_never_mixed(source):
    known = {one.display: one for one in attacks.registry().values()}
    first = set(source.table("comparison-tab-1")["attack"])
    second = set(source.table("comparison-tab-2")["attack"])
    assert not first & second
    assert not any(known[name].leave_one_out for name in first)
    assert all(known[name].leave_one_out for name in second)


@pytest.mark.slow
def test_no_attack_is_behind_one_that_knows_more(source):
    table = source.table("comparison-tab-1")
    known = {one.display: one.name for one in attacks.registry().values()}
    for row in table.itertuples():
        best = known[getattr(row, "best of no more knowledge".replace(" ", "_"), row.attack)]
        assert leaderboard._known(best) <= leaderboard._known(known[row.attack])
    behind = table[table["metric"] == leaderboard.BEHIND]
    assert (behind["value"] >= 0).all()


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
def test_the_leader_need_not_have_been_timed(source):
    table = source.table("comparison-tab-1")
    untimed = table[table["metric"] != "processor seconds"]
    assert leaderboard.references_said(untimed) == leaderboard.references_said(table)


def test_attacks_on_fewer_cells_stand_last_beside_the_loss_there():
    rows = [
        ("3 cells", "LiRA", names.AREA, 0.7),
        ("3 cells", "LOSS", names.AREA, 0.6),
        ("2 cells", "QMIA", names.AREA, 0.8),
        ("2 cells", "QMIA", leaderboard.LOSS_THERE, 0.9),
    ]
    table = pd.DataFrame(rows, columns=["cells", "attack", "metric", "value"])
    (axis,) = leaderboard.board_drawn(table).axes
    names_of_rows = [label.get_text() for label in axis.get_yticklabels()]
    assert names_of_rows == ["LiRA", "LOSS", "LOSS (2 cells)", "QMIA (2 cells)"]


def test_a_panel_without_attacks_is_drawn_all_the_same():
    row = {"cells": "0 cells", "attack": "none", "knows": "", "metric": names.PARAMETERS}
    figure = leaderboard.board_drawn(pd.DataFrame([{**row, "value": 5000.0}]))
    assert plots.save_bytes(figure, "svg")
