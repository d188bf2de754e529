"""One attack's row, and what is said of an attack that has none."""

import pytest

from membership.errors import InputError
from membership.studies.comparison import leaderboard


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
