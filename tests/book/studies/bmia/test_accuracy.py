import numpy as np
import pandas as pd
import pytest

from membership.book.studies.bmia import accuracy, evidence, posteriors
from membership.book.studies.bmia.scores import rate_name
from membership.book.studies.bmia.settings import Settings
from membership.book.studies.bmia.trained import train


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-16")


def test_gain_and_mechanism_are_those_of_controls_1_and_5(table, source):
    gain = source.table("bmia-ctl-1").set_index(["attack", "metric"])["value"]["BMIA"]
    known = source.table("bmia-ctl-5").set_index("quantity")["value"]
    own = table[(table["dataset"] == "digits") & (table["network"] == "mlp-32")]
    found = own.set_index("metric")["value"]
    for metric in (accuracy.RATE, accuracy.AUC):
        assert found[metric] == pytest.approx(gain[metric])
    assert found[posteriors.SD_AND_SCORE] == pytest.approx(known[posteriors.SD_AND_SCORE])


def test_accuracies_are_shares(table, seen):
    held = 100 * (seen.outputs["held_hinge"].values[seen.targets] > 0).mean()
    digits = table[(table["dataset"] == "digits") & (table["network"] == "mlp-32")]
    assert digits[accuracy.TEST].to_list() == pytest.approx([held] * len(digits))
    rows = table[table["metric"].isin([accuracy.ON_OTHERS, accuracy.ON_MEMBERS])]
    assert rows["value"].between(0, 100).all()
    own = rows[rows["metric"] == accuracy.ON_OTHERS]
    np.testing.assert_allclose(own["value"], own[accuracy.TEST])


def test_the_note_orders_the_gains():
    rows = [
        {"dataset": "a", "network": str(n), "members": 1, "metric": metric, "value": value}
        for n in range(4)
        for metric, value in ((accuracy.ON_OTHERS, n), (accuracy.RATE, -n))
    ]
    note = accuracy._orders(pd.DataFrame(rows))
    assert note.endswith("with: accuracy on other records (%) -1.00 (4 networks).")
    assert accuracy._orders(pd.DataFrame(rows[:4])) == ""


TWO = (("purchase_like:400", "mlp-8"), ("purchase_like:600", "mlp-8"))


@pytest.fixture(scope="module")
def few():
    values = {"profile": "tiny", "n_targets": 2, "n_reference": 4, "n_samples": 20, "n_jobs": 1}
    return Settings.from_values(values)


@pytest.fixture(scope="module")
def gathered(few, cache):
    return [accuracy.gather(*one, few) for one in TWO]


def test_only_the_number_of_members_differs_in_one_design(gathered, few):
    config = accuracy.swept(*TWO[0], few).config
    assert (config.schedule, config.epochs) == ("cosine", accuracy.EPOCHS["tiny"])
    assert config.learning_rate == accuracy.COSINE.learning_rate
    members = [one.attrs["recipe"]["members"] for one in gathered]
    assert members == [80, 120]
    assert accuracy._design(gathered[0]) == accuracy._design(gathered[1])
    assert gathered[0].attrs["recipe"]["weight_decay"] == accuracy.COSINE.weight_decay


def test_the_statistics_are_those_of_the_scores(gathered, few):
    trained = train(accuracy.swept(*TWO[0], few))
    first, hinge = trained.first(1), trained.answers.hinge
    score, member = hinge[1] - hinge[first], trained.member[1]
    above = score[member][:, None] > score[~member][None]
    tied = score[member][:, None] == score[~member][None]
    expected = 100 * (above.mean() + tied.mean() / 2)
    found = gathered[0]["value"].sel(attack=accuracy.PLAIN, metric="auc(%)").values[1]
    assert found == pytest.approx(expected)
    _, sd = trained.sampled(first)
    over = hinge[trained.n_targets :]
    quantity = gathered[0]["related"].sel(quantity=posteriors.RELATED).values[1]
    expected = np.corrcoef(np.log(sd), np.log(over.std(axis=0)))[0, 1]
    assert quantity == pytest.approx(expected, rel=1e-5)
    right = (trained.ensemble.logits(trained.x)[1].argmax(1).numpy() == trained.y)[member].mean()
    of_members = gathered[0]["related"].sel(quantity=accuracy.ON_MEMBERS).values[1]
    assert of_members == pytest.approx(100 * right, abs=1e-3)


def test_of_many_queries_some_are_asked(few, monkeypatch):
    monkeypatch.setattr(accuracy, "ASKED", 40)
    world = accuracy.swept(*TWO[0], few)
    assert (len(world.queries), len(world.validation), len(world.pool)) == (40, 20, 160)


def test_every_world_of_a_profile_has_a_name(settings):
    for profile, worlds in evidence.SWEPT.items():
        own = settings.model_copy(update={"profile": profile})
        assert list(evidence.sweep(own).values()) == list(worlds)


def test_what_falls_is_the_gain_with_few_members_less_that_with_many(gathered):
    both = [(one.attrs, accuracy._of_sweep(one)) for one in gathered]
    rows = {one["metric"]: one for one in accuracy._falls(both[::-1])}
    for metric in (accuracy.RATE, accuracy.AUC):
        few, many = (np.array(own[metric]) for _, own in both)
        row = rows[f"{metric}, {accuracy.LESS}"]
        assert row["value"] == pytest.approx(few.mean() - many.mean())
        error = np.sqrt((few.var(ddof=1) + many.var(ddof=1)) / len(few))
        assert row["standard_error"] == pytest.approx(error)
        assert row["members"] == 80


def test_gains_of_the_sweep_are_bmias_less_the_differences(gathered):
    own = accuracy._of_sweep(gathered[1])
    value = gathered[1]["value"].sel(metric=rate_name(0.01))
    expected = value.sel(attack=accuracy.BMIA) - value.sel(attack=accuracy.PLAIN)
    np.testing.assert_allclose(own[accuracy.RATE], expected)
