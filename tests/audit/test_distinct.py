"""The table of units beside a slow one, where not every record was asked of each target."""

import numpy as np
import pandas as pd
import pytest

from membership.attacks import ScoreTable
from membership.audit import distinct


def test_a_units_score_is_the_mean_of_its_records_that_were_asked() -> None:
    rng = np.random.default_rng(4)
    unit = np.array([f"p{i}" for i in rng.integers(0, 9, 60)])
    inside = rng.random((3, 9)) < 0.5
    member = inside[:, np.unique(unit, return_inverse=True)[1]]
    asked = rng.random((3, 60)) < 0.7
    asked[1, unit == "p2"] = False
    score = {name: np.where(asked, rng.normal(size=(3, 60)), np.nan) for name in ("a", "b")}
    found = distinct.by_unit(ScoreTable(np.arange(60), member, score, (0, 1, 2)), unit)
    assert found.record.tolist() == sorted(set(unit))
    for name, one in score.items():
        by_hand = pd.DataFrame(one.T).groupby(unit).mean().to_numpy().T
        assert found.score[name] == pytest.approx(by_hand, nan_ok=True)
        assert np.isnan(found.score[name][1, 2])
    assert (found.member == inside & ~np.isnan(found.score["a"])).all()
