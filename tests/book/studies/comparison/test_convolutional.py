"""BMIA's convolutional network as a cell of the bench, by hand from the same evidence."""

import numpy as np
import pytest

from membership import attacks, evidence, metrics
from membership.attacks.registry import BOTH
from membership.book.exhibits import files
from membership.book.studies.comparison import convolutional


@pytest.fixture(scope="session")
def table(source):
    return source.table("comparison-ctl-7")


@pytest.fixture
def outputs(settings):
    def load(name):
        path = files.location(name, "bmia", "paper").with_suffix(".evidence")
        return evidence.load(path).isel(record=slice(settings.n_pool))

    return load


@pytest.mark.slow
def test_its_numbers_are_those_of_the_evidence(table, outputs):
    value = table.set_index(["queries", "attack", "metric"])["value"]
    for queries, name in (("one", convolutional.SINGLE), ("ten, averaged", convolutional.VIEWS)):
        seen = outputs(name)
        odds, member = seen["log_odds"].values.astype(float), seen["member"].values
        loss, references = np.logaddexp(0, -odds), seen.attrs["references"]
        by_hand = {
            "LOSS": [-loss[t] for t in seen.attrs["targets"]],
            "MAST": [
                attacks.mast(loss[t], loss[references], "log-mean-exp")
                for t in seen.attrs["targets"]
            ],
        }
        for attack, scores in by_hand.items():
            areas = [
                metrics.auc(score, inside) for score, inside in zip(scores, member, strict=False)
            ]
            assert value[queries, attack, "AUC"] == pytest.approx(np.mean(areas))


@pytest.mark.slow
def test_nobody_trains_on_the_records_that_are_asked(table, outputs):
    seen = outputs(convolutional.SINGLE)
    assert not seen["member"].values[seen.attrs["references"]].any()
    known = {one.display: one for one in attacks.registry().values()}
    shown = set(table["attack"]) - {"(model)"}
    assert len(shown) > 5
    assert not any(known[name].references == BOTH for name in shown)


def test_without_the_evidence_the_exhibit_says_so(source, monkeypatch):
    monkeypatch.setattr(convolutional, "CHAPTER", "nowhere")
    found = convolutional.cell(source)
    assert found["attack"].tolist() == ["none"]
    assert "not here" in convolutional.cell_said(found)
