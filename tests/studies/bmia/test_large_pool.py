import numpy as np

from membership.studies.bmia import experiment
from membership.studies.bmia.settings import Settings
from membership.studies.bmia.trained import train


def test_of_a_large_pool_some_records_are_asked(settings, cache, monkeypatch):
    monkeypatch.setattr(experiment, "ON_A_CPU", {"digits": 1})
    monkeypatch.setattr(experiment, "ASKED", 300)
    values = {**settings.parameters(), "profile": "paper", "epochs": 1, "n_reference": 4}
    world = experiment.world("digits", Settings.from_values(values))
    found = train(world)
    assert (len(found.y), len(world.validation)) == (300, 150)
    np.testing.assert_array_equal(found.member, world.targets[:, found.records])
    assert world.setup["queried_members"] == found.member.sum(axis=1).min()
    assert world.setup["members"] == len(world.pool) // 2
