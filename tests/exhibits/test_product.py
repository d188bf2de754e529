import dataclasses

import pytest

from membership.errors import InputError
from membership.exhibits import files, product, provenance


def test_the_record_holds_what_repeats_the_exhibit_and_no_verdict(settings, toy):
    settings = dataclasses.replace(settings, chapter="gmip")
    record = product.record(toy.EXHIBITS[0], toy.table(), settings, {"outputs": "12ab"})
    assert record["sizes"] == {"Models": "10 (paper: 128)"}
    assert record["data"] == {"digits": "ab" * 32}
    assert record["evidence"] == {"outputs": "12ab"}
    assert (record["id"], record["label"], record["seed"]) == ("gmip-tab-1", "Table 1", 3)
    assert record["timing"] is False
    assert not {"comparison", "parameters", "verdict"} & set(record)
    assert b"agrees" not in files.json_bytes(record)


def test_a_drawn_exhibit_has_five_files_and_another_two(settings, toy):
    table = toy.table()
    assert set(product.contents(toy.EXHIBITS[0], table, {})) == {".csv", ".json"}
    made = product.contents(toy.EXHIBITS[1], table, {})
    assert set(made) == set(files.SUFFIXES)
    assert made == product.contents(toy.EXHIBITS[1], table, {})
    with pytest.raises(InputError, match="is empty"):
        product.contents(toy.EXHIBITS[0], table.head(0), {})


def test_the_same_result_of_another_commit_keeps_its_record(settings, results, monkeypatch, toy):
    toy.install(monkeypatch)
    settings = dataclasses.replace(settings, chapter="gmip")

    def save(commit, shift=0.0):
        monkeypatch.setattr(provenance, "git_commit", lambda: commit)
        product.save(toy.EXHIBITS[0], toy.table(shift), settings, {})
        return files.load("gmip-tab-1", "quick")[1]["commit"]

    assert save("one") == "one"
    assert save("two") == "one"
    assert save("two", shift=0.001) == "two"
    (results / "quick" / "gmip" / "gmip-tab-1.json").write_text("{")
    assert save("three") == "three"
    # Nobody can check it out: the next commit takes its place.
    assert save("four-dirty", shift=0.002) == "four-dirty"
    assert save("five", shift=0.002) == "five"
    assert save("six-dirty", shift=0.002) == "five"
