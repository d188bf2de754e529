"""The attack on all steps: who plays, and what is added up."""

from dataclasses import replace

import numpy as np
import pytest

from membership import metrics
from membership.book.studies.gmip import experiment, training_promise


def test_who_plays_is_apart(settings):
    who = training_promise.cast(experiment.task("digits", settings), 0, settings.seed)
    parts = [set(part.tolist()) for part in who]
    assert not parts[0] & parts[1]
    assert not parts[2] & (parts[0] | parts[1])


def test_the_attack_on_all_steps_adds_up_the_mixtures(settings):
    task = experiment.task("digits", settings)
    short = replace(task, recipe=replace(task.recipe, epochs=1))
    played = training_promise.attacked(short, 0, "fresh", settings.seed)
    member = played["member"]
    assert metrics.auc(played["score"], member) > 0.5
    # The score can fall no lower than "out" at every step.
    r = short.recipe
    least = r.steps * np.log1p(-r.batch_size / r.n_records)
    assert played["score"].min() >= least - 1e-9
    again = training_promise.attacked(short, 0, "fresh", settings.seed)
    np.testing.assert_array_equal(played["score"], again["score"])


@pytest.mark.slow
def test_the_largest_k_of_both_sides_are_asked(gathered):
    k, member = np.arange(200.0), np.arange(200) < 100
    kept = training_promise._largest(k, member, 0.05)
    assert np.flatnonzero(kept).tolist() == [*range(95, 100), *range(195, 200)]
    table = training_promise.attack_table([gathered["composed-digits"]])
    known = {"Equation 10", "numerical, K = d", *training_promise.OTHERS, training_promise.PAIRED}
    assert set(table["others"]) == known
    value = table[table["asked"] == "all"].set_index(["quantity", "others"])["value"]
    for quantity in dict.fromkeys(value.index.get_level_values(0)):
        less = value[quantity, "fresh"] - value[quantity, "fixed"]
        assert value[quantity, training_promise.PAIRED] == pytest.approx(less)
    assert not table["value"].isna().any()
