import numpy as np
import pytest
import xarray as xr

from membership.book.studies.bmia import evidence, posteriors


@pytest.mark.slow
def test_the_reliability_of_the_same_spread_is_one_and_of_noise_zero():
    rng = np.random.default_rng(0)
    truth = np.exp(rng.normal(0, 2, 20_000))
    models = rng.standard_normal((40, 2_000))
    assert posteriors.reliability(truth[:2_000] * models)[0] > 0.97
    value, low, high = posteriors.reliability(rng.standard_normal((8, 2_000)))
    assert abs(value) < 0.05
    assert low < value < high


def test_log_standard_deviations_are_unbiased():
    rng = np.random.default_rng(0)
    found = posteriors._log_sd(3 * rng.standard_normal((5, 100_000)))
    assert found.mean() == pytest.approx(np.log(3), abs=0.01)


def test_the_retraining_controls(source):
    points = source.table("bmia-ctl-4")
    assert (points[["laplace", "retraining"]] > 0).all(axis=None)
    table = source.table("bmia-ctl-5")
    rows = table.set_index("quantity")
    reliability = rows.loc["reliability of the sd over retraining"]
    known = reliability["low"] > 0
    assert ("corrected for noise" in rows.index) == known
    assert ("not identified" in table.attrs["note"]) != known
    if known:
        raw = rows["value"]["correlation of the logarithms"]
        expected = raw / np.sqrt(reliability["value"])
        assert rows["value"]["corrected for noise"] == pytest.approx(expected)


def test_the_full_posterior_stands_beside_the_factored_one(source, seen):
    rows = source.table("bmia-ctl-5").set_index("quantity")["value"]
    (name,) = evidence.files(("variants",), source.settings)
    variants = source.evidence(name)
    some = seen.on(variants["record"].values)
    over = np.exp(posteriors._log_sd(some.hinge[seen.outputs.attrs["references"]]))
    sd = [variants["sd"].sel(variant="full", reference=seen.first(t)).values for t in seen.targets]
    ratio = np.mean([np.exp(np.mean(np.log(over / one))) for one in sd])
    related = np.mean([np.corrcoef(np.log(over), np.log(one))[0, 1] for one in sd])
    assert rows[f"{posteriors.RATIO}, full posterior"] == pytest.approx(ratio)
    assert rows[f"{posteriors.RELATED}, full posterior"] == pytest.approx(related)


def test_what_too_few_references_say_is_not_identified():
    hinge = np.random.default_rng(0).normal(size=(3, 50))
    assert np.isnan(posteriors.identified(hinge))


def test_the_most_draws_are_those_of_table_1(source):
    """Figure 3's last point, with KFAC, is the table's BMIA."""
    three = source.table("bmia-fig-3")
    last = three[(three["series"] == "KFAC") & (three["n_samples"] == three["n_samples"].max())]
    one = source.table("bmia-tab-1").set_index(["attack", "metric"])["value"]["BMIA"]
    for row in last.itertuples():
        assert row.value == pytest.approx(one[row.metric])


def test_queries_of_other_posteriors_are_counted_where_they_are_fewer(seen):
    some = seen.on(seen.outputs["record"].values[:40])
    assert posteriors.asked_less([(seen, seen)]) == []
    (said,) = posteriors.asked_less([(seen, some), (seen, seen)])
    assert said.endswith(f"asked fewer records: digits 40 of {len(seen.hinge[0])}")
    variants = xr.Dataset(coords={"variant": ["mc"], "record": seen.outputs["record"].values})
    assert posteriors.full_posterior(seen, variants) is None
