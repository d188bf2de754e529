"""The cells beside the authors' pictures, against the attack run as the page says."""

import numpy as np
import pytest

from membership import attacks, metrics
from membership.book import published
from membership.book.exhibits import declared
from membership.book.exhibits.source import Source
from membership.book.studies.gmip import experiment, forensics
from membership.curvature import gradient_moments
from membership.training.private import record_gradients


@pytest.mark.slow
def test_released_steps_are_the_sum_of_the_released_codes_scores(settings):
    task = experiment.task("digits", settings)
    found = forensics.released_steps(task, settings)
    s = experiment.split(task, settings, 1)
    n, total = len(s.members), 0
    for weight in experiment.trajectory(task, s.members, settings.audit_steps, settings.seed + 1):
        back, asked = (
            record_gradients(weight, task.features[rows], task.y[rows])
            for rows in (s.background, s.queries)
        )
        mean = asked[:n].mean(axis=0)
        total = total + attacks.glir(mean, asked, *gradient_moments(back), n, "authors")
    member = np.arange(2 * n) < n
    expected = [metrics.auc(total, member), metrics.tpr_at_fpr(total, member, 0.1)]
    np.testing.assert_allclose(found[1], 100 * np.array(expected))


@pytest.mark.slow
def test_an_attacker_without_the_shifts_is_nearly_blind(settings):
    table = Source(settings, declared("gmip")).table("gmip-ctl-22")
    at = table[(table["inverse"] == "right") & (table["quantity"] == "AUC (%)")]
    own = at[at["steps"] == "1 step"].set_index("training")["value"]
    assert own["originals"] > 65
    assert own["shifted images, which the attacker holds"] > 65
    assert own["shifted images"] < 60
    cells = table[table["steps"] == "1 step"].groupby(["inverse", "training"]).size()
    assert len(cells) == 6
    assert forensics.table_said(table).startswith("Digits, originals")


def test_pictures_are_those_that_were_read_off():
    printed = published.table("gmip_text").set_index("quantity")["value"]
    for name in ("Adult", "CIFAR-10"):
        for quantity in forensics.QUANTITIES:
            assert 10 < forensics._stored(printed, name, quantity) < 80
    # Simulated records are not the paper's: their picture is none.
    assert forensics._stored(printed, "Purchase-like", "AUC (%)") is None
