import pytest

from membership.book import published
from membership.errors import InputError

STATED = {
    "data": "MNIST-Odd",
    "members": 30_000,
    "architecture": "784-1",
    "reference_models": 127,
    "uses_references": ["LiRA"],
    "queried_members": 5_000,
    "peak": ["attack_accuracy(%)"],
    "recipe": {"epochs": 80},
}
RUN = {
    "data": "MNIST-Odd",
    "members": 30_000,
    "architecture": "784-1",
    "reference_models": 126,
    "recipe": {"epochs": 80, "batch_size": 128},
    "queried_members": 10_000,
    "queried_non_members": 10_000,
}


def test_the_same_set_up_is_comparable_and_fewer_repeats_are_no_obstacle():
    assert published.comparability(STATED, RUN, attack="LiRA", rate=0.001) == []
    assert published.comparability({}, {}) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": "simulated"}, "other data: simulated instead of MNIST-Odd"),
        ({"architecture": "784-6-1"}, "another network: 784-6-1 instead of 784-1"),
        ({"members": 29_000}, "a smaller training set: 29,000 records instead of 30,000"),
        ({"members": 60_000}, "a larger training set: 60,000 records instead of 30,000"),
        ({"recipe": {"epochs": 20}}, "another recipe: epochs 20 instead of 80"),
        ({"recipe": {}}, "another recipe: epochs not stated instead of 80"),
        ({"attacks": {"LiRA": "with one variance"}}, "LiRA: with one variance"),
        ({"reference_models": 30}, "30 reference models instead of 127"),
    ],
)
def test_what_moves_the_number_is_an_obstacle_and_is_named(change, words):
    assert published.comparability(STATED, {**RUN, **change}, attack="LiRA") == [words]


def test_a_training_set_may_differ_by_less_than_a_hundredth():
    assert published.comparability(STATED, {**RUN, "members": 29_800}) == []


def test_only_attacks_that_take_reference_models_need_as_many():
    few = {**RUN, "reference_models": 30}
    assert published.comparability(STATED, few, attack="LOSS") == []
    assert published.comparability(STATED, few, attack="MAST", n_reference=30) == [
        "30 reference models instead of 127"
    ]


@pytest.mark.parametrize(("asked", "rate", "found"), [(10_000, 0.001, 0), (9_990, 0.001, 1)])
def test_a_rate_needs_ten_expected_false_positives(asked, rate, found):
    run = {**RUN, "queried_non_members": asked}
    assert len(published.comparability(STATED, run, rate=rate)) == found
    assert published.comparability(STATED, run, rate=0.01) == []


def test_a_rate_of_which_more_were_asked_is_judged_by_those():
    metric = "TPR@0.1%FPR (%)"
    run = {**RUN, "queried_non_members": 4_857, "asked_more": {metric: {"LOSS": 30_000}}}
    for attack, found in (("LOSS", 0), ("SIF", 1)):
        reasons = published.comparability(STATED, run, metric=metric, attack=attack, rate=0.001)
        assert len(reasons) == found
    assert published.comparability(STATED, run, metric="AUC", attack="LOSS") == []


def test_the_best_threshold_needs_as_many_records_as_the_papers():
    reasons = published.comparability(STATED, RUN, metric="attack_accuracy(%)")
    assert reasons == ["the best threshold for 10000 members instead of 5000"]


def test_an_unknown_fact_is_refused():
    with pytest.raises(InputError, match="epochs"):
        published.comparability(STATED, {**RUN, "epochs": 80})


@pytest.mark.parametrize("chapter", ["bayes_optimal", "bmia", "gmip", "iha", "lood"])
def test_every_chapter_has_set_ups(chapter):
    assert published.setup(chapter)
    with pytest.raises(InputError, match="no published notes"):
        published.setup("none")
