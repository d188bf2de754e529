"""The records of the clean game one by one."""

import numpy as np
import pytest

from membership import data, metrics
from membership.exhibits import rows
from membership.exhibits.files import read_back
from membership.exhibits.panels import one_by_one
from membership.studies.iha import leave_one_out, small_game
from membership.studies.iha.left_out import small_task


@pytest.fixture(scope="module")
def some(source):
    return leave_one_out.experiments(source)


@pytest.fixture(scope="module")
def table(some, settings):
    return small_game.control_10(some, settings)


def test_the_value_is_the_auc_among_the_models_of_one_record(some, table):
    for one in some:
        scores, trained_on = small_game.scored(one)
        for r, record in enumerate(one.outputs.attrs["outside"]):
            for name in small_game.ATTACKS:
                part = table[(table["dataset"] == one.label) & (table["attack"] == name)]
                (said,) = part.loc[part["record"] == record, "value"]
                assert said == pytest.approx(metrics.auc(scores[name][r], trained_on))


def test_each_attack_has_every_record_once_best_first(some, table):
    for _, part in table.groupby(["dataset", "attack"]):
        assert part["column"].tolist() == list(range(1, len(part) + 1))
        assert part["value"].is_monotonic_decreasing
        assert part["record"].is_unique
    assert len(table) == sum(len(one.outside) for one in some) * len(small_game.ATTACKS)


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
    found = one_by_one(small_game.one_by_one(read_back(table)))
    digits = table[table["dataset"] == "Digits"]
    assert found["measures"] == list(small_game.ATTACKS)
    assert len(found["records"]) == digits["record"].nunique()
    best = digits[(digits["attack"] == "IHA") & (digits["column"] == 1)]["record"].item()
    (shown,) = [one for one in found["records"] if one["label"].endswith(f" {best}")]
    assert shown["ranks"][found["measures"].index("IHA")] == 1


def test_the_sentence_has_the_rank_correlation_and_its_interval():
    value, low, high = rows.rank_correlation([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5]).values()
    assert low < value < high
    assert value == pytest.approx(1 - 6 * 2 / (6 * 35))
    same, low, high = rows.rank_correlation([1, 2, 3], [1, 2, 3]).values()
    assert -1 <= low <= same <= high + 1e-6 <= 1 + 1e-6
