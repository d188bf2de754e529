import numpy as np

from membership.studies.bmia import names


def test_references_are_asked_about_their_own_records(source):
    [name] = names.of_last(names.CLOSER[:1], source.settings)
    population = source.evidence(name)
    member = population["member"].values
    assert np.array_equal(member.sum(axis=1), np.full(len(member), member.shape[1] // 2))
    odds = population["log_odds"].values
    assert odds[member].mean() > odds[~member].mean()
