"""Attacks are timed several times, and only what the machine did is said."""

import numpy as np

from membership.studies.iha import inversion


def test_every_attack_is_timed_several_times(trained, settings):
    found = inversion.measured(trained, settings)
    shape = (len(inversion.CASES), inversion.REPEATS)
    assert all(found[name][1].shape == shape for name in ("before", "each", "held", "held_after"))
    before = dict(zip(inversion.CASES, found["before"][1], strict=True))
    each = dict(zip(inversion.CASES, found["each"][1], strict=True))
    assert all((times > 0).all() for times in each.values())
    assert (before["IHA"] > 0).all()
    assert not before["LOSS"].any()
    assert not before["IHA (Approx)"].any()
    # Many models in one program take less time than one after the other.
    assert np.median(before["LiRA"]) > np.median(before["LiRA, side by side"])


def test_a_hessian_that_is_not_positive_enough_is_damped_more(trained, monkeypatch):
    tried = []

    def factorised(matrix):
        tried.append(float(matrix.diagonal().sum()))
        return len(tried) > 2

    monkeypatch.setattr(inversion, "factorised", factorised)
    assert inversion._exact(trained, 0.1).before > 0
    steps = np.diff(tried)
    np.testing.assert_allclose(steps, [steps[0], 2 * steps[0]])
