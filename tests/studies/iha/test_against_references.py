"""Two attacks together, against records counted one by one."""

import numpy as np
import pytest

from membership import metrics
from membership.studies.iha.against_references import (
    AHEAD,
    FALSE,
    LESS,
    PAIR,
    RATE,
    TRUE,
    control_19,
    together,
)


@pytest.mark.parametrize("ties", [False, True])
def test_both_accuse_what_each_accuses(ties: bool) -> None:
    rng = np.random.default_rng(5)
    member = rng.random(800) < 0.5
    pair = [rng.normal(size=800) + member for _ in range(2)]
    pair = [np.round(score, 1) for score in pair] if ties else pair
    accused = []
    for score in pair:
        outside = score[~member]
        levels = [t for t in outside if (outside > t).mean() <= 0.05]
        accused.append([value > min(levels) for value in score])
    both = [a and b for a, b in zip(*accused, strict=True)]
    false = sum(both[i] for i in range(800) if not member[i]) / (~member).sum()
    true = sum(both[i] for i in range(800) if member[i]) / member.sum()
    numbers = together(pair, member, 0.05)
    assert numbers[FALSE] == pytest.approx(100 * false)
    assert numbers[TRUE] == pytest.approx(100 * true)
    assert numbers[AHEAD] == pytest.approx(100 * (true - false))
    for name, score in zip(PAIR, pair, strict=True):
        alone = metrics.tpr_at_fpr(score, member, false + 1e-9)
        less = numbers[LESS.format(attack=name)]
        assert less == pytest.approx(100 * (true - alone))


def test_an_attack_with_itself_is_that_attack() -> None:
    rng = np.random.default_rng(6)
    member = np.arange(1000) % 2 == 0
    score = rng.normal(size=1000) + member
    numbers = together([score, score], member, 0.05)
    assert numbers[FALSE] == pytest.approx(5.0)
    assert numbers[LESS.format(attack="IHA")] == pytest.approx(0.0)


def test_the_table_has_each_data_set(evaluations) -> None:
    table = control_19(evaluations)
    assert set(table["metric"]) >= {
        FALSE,
        TRUE,
        AHEAD,
    }
    for _, rows in table.groupby("dataset"):
        at = rows.set_index("metric")["value"]
        assert at[AHEAD] == pytest.approx(at[TRUE] - at[FALSE])
        assert 0 <= at[FALSE] <= 100 * RATE
