import numpy as np
from threadpoolctl import threadpool_limits

from membership.studies.bmia import toy
from membership.studies.bmia.settings import Settings


def test_figure_1_is_the_same_with_one_thread_and_with_two(monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 20)
    monkeypatch.setattr(toy, "TEST", 200)
    settings, found = Settings.from_values({"profile": "tiny"}), []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(toy.figure_1(settings))
    assert found[0].equals(found[1])
    assert found[0].attrs["note"] == found[1].attrs["note"]


def test_the_band_of_all_weights_is_the_wide_one_in_the_middle(monkeypatch):
    monkeypatch.setattr(toy, "TEST", 200)
    table = toy.figure_1(Settings.from_values({"profile": "tiny"}))
    middle = table[(table["series"] != "data") & (table["x"].abs() < 1)]
    width = (middle["high"] - middle["low"]).groupby(middle["series"]).mean()
    assert width.idxmax() == "Laplace, all weights"
    assert np.isfinite(width).all()
