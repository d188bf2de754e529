import types

import pandas as pd
import pytest

from membership import paths
from membership.book.exhibits import Exhibit, Source
from membership.book.exhibits.declaration import declared
from membership.errors import Diverged, InputError, RunError


@pytest.fixture
def settings(results):
    values = {"profile": "quick", "results_dir": "", "n_jobs": 2, "models": 7}
    return types.SimpleNamespace(
        chapter="gmip", profile="quick", results_dir="", seed=0, parameters=lambda: values
    )


def exhibit(exhibit_id, compute, **more):
    return Exhibit(exhibit_id, "Table", "content", "Why?", compute, **more)


def test_a_table_is_computed_once_whoever_asks(settings, monkeypatch, toy):
    toy.install(monkeypatch)
    calls = []

    def compute(source):
        calls.append(source)
        return pd.DataFrame({"value": [1.0]})

    first = exhibit("gmip-tab-1", compute)
    second = exhibit("gmip-tab-2", lambda source: source.table("gmip-tab-1") * 2)
    source = Source(settings, (first, second))
    assert source.table("gmip-tab-2")["value"].item() == 2
    assert source.table("gmip-tab-1")["value"].item() == 1
    assert calls == [source]
    with pytest.raises(InputError, match="declares no 'gmip-tab-3'"):
        source.table("gmip-tab-3")


def test_evidence_is_gathered_with_what_determines_it_and_read_once(settings, monkeypatch, toy):
    asked = []

    def gathered(name, function, inputs, folder):
        asked.append((name, inputs, folder))
        return function()

    monkeypatch.setattr("membership.evidence.gathered", gathered, raising=False)
    gather = {"sources": lambda settings: {"outputs": lambda: {"models": settings.seed}}}
    toy.install(monkeypatch, evidence=gather)
    needing = exhibit("gmip-tab-1", lambda source: source.evidence("outputs"), needs=("outputs",))
    source = Source(settings, (needing,))
    assert source.has("outputs")
    assert source.table("gmip-tab-1") == {"models": 0} == source.evidence("outputs")
    folder = paths.results_dir() / "quick" / "gmip"
    inputs = {"chapter": "gmip", "profile": "quick", "models": 7}
    assert asked == [("outputs", inputs, folder)]


@pytest.mark.parametrize("reader", ["a run", "a command", "a table"])
def test_where_training_diverges_the_chapter_says_what_would_do(settings, monkeypatch, toy, reader):
    def diverging(*_):
        raise Diverged("epoch 2 (model with seed 4)", "a learning_rate below 1 would do")

    settings.against_divergence = "give fewer layers: `-p depth 2`"
    for name in ("membership.evidence.gathered", "membership.evidence.gathering.in_cache"):
        monkeypatch.setattr(name, diverging)
    toy.install(monkeypatch, evidence={"sources": lambda settings: {"outputs": diverging}})
    source = Source(settings, (exhibit("gmip-tab-1", diverging),))
    read = {"a run": source.evidence, "a command": source.gather}.get(reader)
    with pytest.raises(RunError) as found:
        read("outputs") if read else source.table("gmip-tab-1")
    assert str(found.value) == (
        "training diverged in epoch 2 (model with seed 4); give fewer layers: `-p depth 2`"
    )


def test_evidence_that_was_not_declared_is_refused(settings, monkeypatch, toy):
    toy.install(monkeypatch)
    sly = exhibit("gmip-tab-1", lambda source: source.evidence("outputs"))
    with pytest.raises(ValueError, match="gmip-tab-1 reads 'outputs' without needing it"):
        Source(settings, (sly,)).table("gmip-tab-1")


def test_what_another_table_reads_need_not_be_declared_again(settings, monkeypatch, toy):
    monkeypatch.setattr(
        "membership.evidence.gathered", lambda name, function, *_: function(), raising=False
    )
    frame = pd.DataFrame({"value": [1.0]})
    toy.install(monkeypatch, evidence={"sources": lambda settings: {"outputs": lambda: frame}})
    first = exhibit("gmip-tab-1", lambda source: source.evidence("outputs"), needs=("outputs",))
    second = exhibit("gmip-tab-2", lambda source: source.table("gmip-tab-1"))
    assert Source(settings, (first, second)).table("gmip-tab-2") is frame


def test_without_gathering_the_committed_table_stands_in(settings, monkeypatch, results, toy):
    toy.install(monkeypatch)
    source = Source(settings, declared("gmip"), gather=False)
    (lacking,) = (one for one in declared("gmip") if one.id == "gmip-ctl-2")
    assert source.lacks(lacking) == ["outputs"]
    with pytest.raises(
        InputError, match="gmip-ctl-2 has no quick run and lacks its evidence outputs"
    ):
        source.table("gmip-ctl-2")
