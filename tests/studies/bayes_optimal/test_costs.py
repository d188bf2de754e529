"""What Table 2's attacks cost: that all of it is timed, and how it adds up."""

import numpy as np
import pytest
import torch
import xarray as xr

from membership.studies.bayes_optimal import costs, more_sentences
from membership.studies.bayes_optimal.names import SCORES, SHADOW, WHOLE
from membership.studies.bayes_optimal.settings import Settings


def made_up(references=30):
    attrs = {"data": {}, "deviations": [], "sizes": {}, "device": "cpu", "setup": {}}
    arrays = {
        "training": ("timing", np.array([60.0, 120.0, 180.0])),
        "answers": ("timing", np.full(3, 6.0)),
        "scores": (("timing", "attack"), np.tile([1.0, 2.0, 30.0], (3, 1))),
    }
    return xr.Dataset(arrays, {"attack": list(costs.ATTACKS)}, attrs | {"references": references})


def test_the_whole_is_training_answers_and_scores():
    table = costs.table(made_up())
    assert table.attrs["timing"]
    value = table.set_index(["attack", "references", "metric"])["value"]
    assert value[costs.NETWORK, 1, costs.TRAINING] == pytest.approx(2)
    assert value["0-1", 0, WHOLE] == pytest.approx(0.1)
    assert value["MALT", 1, WHOLE] == pytest.approx(2 + 0.2 + 1 / 60)
    assert value["MAST", 30, WHOLE] == pytest.approx(60 + 3.1 + 2 / 60)
    assert value[SHADOW, 30, WHOLE] == pytest.approx(60 + 3.1 + 0.5)
    assert value[SHADOW, 30, SCORES] == 30
    assert "MALT with 1 network 2.22 min" in more_sentences.of_costs(table)


def test_everything_is_timed_on_one_core_and_nothing_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    threads, seen = torch.get_num_threads(), []
    once = costs._Work.once

    def watched(self, epochs):
        seen.append((epochs, torch.get_num_threads()))
        return once(self, epochs)

    monkeypatch.setattr(costs._Work, "once", watched)
    settings = Settings.from_strings({"profile": "tiny", "cnn_records": "40", "n_reference": "4"})
    found = costs.seconds(settings)
    assert seen == [(1, 1)] + [(costs.EPOCHS, 1)] * costs.TIMINGS
    assert torch.get_num_threads() == threads
    assert (found["training"].values > 0).all()
    assert (found["scores"].values > 0).all()
    assert found.sizes == {"timing": costs.TIMINGS, "attack": len(costs.ATTACKS)}
    assert list(tmp_path.iterdir()) == []
