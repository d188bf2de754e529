"""Searches for queries: none above the record, and the records found."""

import numpy as np
import pytest

from membership.book.studies.lood import evidence, queries, reconstruction
from membership.book.studies.lood.evidence.searches import Searches, _nearest_others

ESCAPES = ("process-normalised", "process-at-mean")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def searches(gathered):
    return gathered(evidence.SEARCHES)


def test_no_query_tells_more_than_the_record(searches, gathered):
    table = queries.optimality(gathered("process-attempts"), searches)
    kinds = set(table["queries"])
    assert kinds == {
        "one, random",
        "one, optimised",
        "three, random",
        "three, optimised",
        "reconstructions",
    }
    assert table["kernel"].nunique() >= 3
    assert table["value"].max() < 1e-10


def test_a_query_above_the_record_would_be_seen(searches, gathered):
    attempts = gathered("process-attempts").copy(deep=True)
    attempts["value"][7] = 2 * attempts["at_record"][7]
    assert queries.optimality(attempts, searches)["value"].max() >= 1


def test_the_record_is_not_the_only_best_query_or_not_the_best(gathered):
    table = queries.escapes(*(gathered(name) for name in ESCAPES))
    value = table.set_index(["query", "metric"])["value"]
    for factor in (0.1, 2, 10):
        part = value[f"{factor:g} times the record"]
        assert part["KL over the record's, farthest from 1"] == pytest.approx(1, abs=1e-8)
        assert part["mean distance over the record's"] == pytest.approx(factor**2)
    assert value["-1 times the record"]["KL over the record's, farthest from 1"] < 0.5
    by_case = table.set_index(["case", "metric"])["value"]
    for each in ("channel", "pixel"):
        part = by_case[f"normalisation by the data, of each {each}"]
        assert part["records with a better query (%)"] == 100
        assert part["largest KL over the record's"] > 1 + queries.GAIN
    # In grey levels, and where the kernel is not zero at the mean, there is a bound.
    assert value[queries.IN_LEVELS, "smallest KL over the record's"] > 0
    others = [name for name in value.index.levels[0] if name.startswith("the mean of D',")]
    assert len(others) == 2
    assert all(np.isfinite(value[name, "largest KL over the record's"]) for name in others)


def test_beside_the_mean_of_the_data_every_record_leaks_without_bound(gathered, records):
    found = gathered("process-at-mean")
    ratio = found["kl"].values / found["kl_at_record"].values[:, None]
    assert len(ratio) == len(records)
    assert (ratio[:, -1] > 30 * ratio[:, -2]).all()
    second = found["kl_directly"].values
    np.testing.assert_allclose(found["kl"].values[: len(second)], second, rtol=1e-5)
    assert (np.diff(found["variance"].values, axis=1) < 0).all()


def test_the_curve_of_figure_10_is_that_of_the_mean(gathered):
    table = queries.figure_10(*(gathered(name) for name in ESCAPES))
    shown, curves = table[table["pixels"] != ""], table[table["pixels"] == ""]
    assert set(shown["row"]) == {"record", "better query"}
    least = curves[curves["series"].str.startswith("smallest")].set_index("step")["kl"]
    found = gathered("process-at-mean")
    ratio = found["kl"].values / found["kl_at_record"].values[:, None]
    assert least[1e-3] == pytest.approx(ratio[:, 3].min())


def test_a_query_found_under_normalisation_has_its_kl_by_a_second_path(gathered):
    found = gathered("process-normalised")
    for name in ("", "pixel_"):
        np.testing.assert_allclose(found[f"{name}kl"], found[f"{name}kl_directly"], rtol=1e-6)


def test_a_search_finds_its_record(records, settings):
    made = Searches(records.first(40), settings)
    seen, found = made.whole, made.recover("RBF", 0, steps=300)
    assert found.correlation > 0.95
    assert 0.95 < found.ratio <= 1 + 1e-10
    kept, targets = seen.without(0)
    assert len(kept) == len(targets) == 39
    np.testing.assert_allclose(seen.seen(seen.x), records.first(40).dataset.x, atol=1e-6)


def test_records_searched_for_together_end_where_they_do_alone(
    records, settings, tmp_path, monkeypatch
):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    made = Searches(records.first(40), settings)
    for kernel in ("RBF", made.main):
        together = made.of(kernel)
        assert [found.row for found in together] == [0, 1]
        for found in together:
            alone = made.recover(kernel, found.row)
            # A climb multiplies rounding.
            np.testing.assert_allclose(found.outcome.values, alone.outcome.values, rtol=1e-4)
            np.testing.assert_allclose(found.outcome.start, alone.outcome.start)
            np.testing.assert_allclose(
                found.outcome.history[:3], alone.outcome.history[:3], rtol=1e-6
            )
            assert found.outcome.target == pytest.approx(alone.outcome.target, rel=1e-8)
            assert found.correlation == pytest.approx(alone.correlation, abs=1e-3)


def test_one_search_in_detail(searches):
    history = reconstruction.figure_9(searches)
    curves = history[history["pixels"] == ""]
    starts = curves[curves["series"].str.startswith("start")]
    shown = history.loc[history["text"] == "step 0", "kl"].item()
    assert shown == starts.loc[starts["step"] == 0, "kl"].max()
    target = curves.loc[curves["series"] == "at the record", "kl"].iloc[0]
    assert (starts["kl"] <= target * (1 + 1e-9)).all()


def test_success_is_counted(searches):
    table = reconstruction.success([searches])
    shares = table[table["metric"].str.contains("%")]
    assert shares["value"].between(0, 100 + 1e-9).all()
    assert (shares["low"] <= shares["value"]).all()
    by_metric = table.groupby("metric")["value"]
    assert by_metric.get_group("largest relative excess over the record").max() < 1e-10


def test_a_start_ends_at_its_record_or_at_another(searches):
    made = searches.copy(deep=True)
    made["end_correlation"][:] = 0.95
    made["end_nearest"][:] = made["row"].values[:, None]
    found = reconstruction.success([made]).set_index(["kernel", "metric"])["value"]
    assert (found[:, reconstruction.OF_STARTS] == 100).all()
    made["end_nearest"][:] = 7.0
    table = reconstruction.success([made])
    found = table.set_index(["kernel", "metric"])["value"]
    assert (found[:, reconstruction.OF_STARTS] == 0).all()
    assert (found[:, reconstruction.ELSEWHERE] == 100).all()
    kernel = str(made["search"].values[0])
    rank = (made["exposure"].sel(of=kernel) <= made["exposure"].sel(of=kernel)[7]).sum()
    place = table[(table["kernel"] == kernel) & table["metric"].str.contains("place")][
        "value"
    ].item()
    assert place == pytest.approx(100 * int(rank) / int(made["exposure"].sel(of=kernel).count()))


def test_the_nearest_other_record_leaves_out_the_record_itself(records, settings):
    made = Searches(records.first(40), settings)
    seen, found = made.whole, made.recover("RBF", 3, steps=10)
    table = np.corrcoef(seen.x.reshape(40, -1))
    assert _nearest_others(found)[1] == pytest.approx(np.delete(table[3], 3).max())
