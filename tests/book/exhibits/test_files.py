import dataclasses
import io
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import paths
from membership.book import exhibits, manifest
from membership.book.exhibits import files, provenance
from membership.errors import InputError, RunError

CONTENTS = {suffix: b"{}" for suffix in files.SUFFIXES}


def written(folder):
    found = (p for p in folder.iterdir() if p.is_file() and p.name != manifest.NAME)
    return {p.name: p.read_bytes() for p in found}


def test_location_is_by_profile_and_chapter(results, tmp_path):
    below = ["quick", "bayes_optimal", "bayes-optimal-tab-1"]
    arguments = ("bayes-optimal-tab-1", "bayes_optimal", "quick")
    assert files.location(*arguments) == results.joinpath(*below)
    assert files.location(*arguments, "") == results.joinpath(*below)
    assert files.location(*arguments, str(tmp_path)) == tmp_path.joinpath(*below)


def test_csv_is_plain():
    table = pd.DataFrame({"attack": ["a,b", "None"], "n": [1, 2], "value": [1 / 3, np.nan]})
    assert files.csv_bytes(table) == b'attack,n,value\n"a,b",1,0.3333333333\nNone,2,\n'


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1))
def test_csv_keeps_ten_digits(values):
    content = files.csv_bytes(pd.DataFrame({"value": values}))
    read = pd.read_csv(io.BytesIO(content))["value"]
    assert read.to_numpy(dtype=float) == pytest.approx(values, rel=1e-9, abs=0)


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"a": {1, 2}}, {"a": np.float32(1)}])
def test_json_takes_plain_values_only(bad):
    with pytest.raises(InputError, match="plain JSON"):
        files.json_bytes(bad)


def test_json_is_sorted():
    text = files.json_bytes({"b": 1, "a": "é"}).decode()
    assert text == '{\n  "a": "é",\n  "b": 1\n}\n'


def test_all_files_are_written_and_stale_ones_removed(tmp_path):
    target = tmp_path / "deep" / "down" / "x"
    files.write_together(target, CONTENTS)
    assert written(target.parent) == {f"x{suffix}": c for suffix, c in CONTENTS.items()}
    assert manifest.listed(target.parent).keys() == written(target.parent).keys()
    files.write_together(target, {".csv": b"1", ".json": b"{}"})
    assert sorted(written(target.parent)) == sorted(manifest.listed(target.parent))
    assert sorted(written(target.parent)) == ["x.csv", "x.json"]


@pytest.mark.parametrize("survivors", range(4))
@pytest.mark.parametrize("error", [InputError("no"), RunError("full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, survivors, error):
    target = tmp_path / "x"
    files.write_together(target, CONTENTS)
    done, real = [], paths.atomic_write

    def fails_after(path, content):
        if len(done) == survivors:
            raise error
        done.append(path)
        real(path, content)

    monkeypatch.setattr(paths, "atomic_write", fails_after)
    with pytest.raises(type(error)):
        files.write_together(target, {suffix: b"new" for suffix in files.SUFFIXES})
    assert len(done) == survivors
    assert written(tmp_path) == {f"x{suffix}": content for suffix, content in CONTENTS.items()}
    manifest.require(tmp_path)


def test_a_folder_in_the_way_is_found_first(tmp_path):
    (tmp_path / "x.pdf").mkdir()
    with pytest.raises(InputError, match=r"x\.pdf: it is a folder"):
        files.write_together(tmp_path / "x", CONTENTS)
    assert [p.name for p in tmp_path.iterdir()] == ["x.pdf"]


def test_a_place_that_cannot_be_written_to_is_one_clear_line(tmp_path):
    (tmp_path / "results").write_text("a file where the folder should be")
    with pytest.raises(InputError, match="cannot write"):
        files.write_together(tmp_path / "results" / "x", CONTENTS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot write"):
        files.write_together(tmp_path / "x", CONTENTS)


def test_load_gives_back_what_was_published(results, settings, make_table, save):
    table = make_table(False, ["digits"], note="as it was")
    table.loc[0, "attack"] = "None"
    save(table, settings)
    read, record = exhibits.load("bayes-optimal-tab-1", "quick")
    pd.testing.assert_frame_equal(read, table, rtol=1e-9)
    assert read.attrs == {**table.attrs, "sizes": {}, "timing": False, "residue": 1e-9}
    assert record["id"] == "bayes-optimal-tab-1"


def test_load_finds_nothing_where_nothing_was_run(results):
    assert exhibits.load("bayes-optimal-tab-1") is None


def test_load_refuses_an_unknown_exhibit(results):
    with pytest.raises(InputError, match="no exhibit"):
        exhibits.load("../secrets")


def test_load_refuses_a_table_that_was_changed(results, settings, table, save):
    save(table, settings)
    csv = results / "quick" / "bayes_optimal" / "bayes-optimal-tab-1.csv"
    csv.write_bytes(csv.read_bytes().replace(b"54.1", b"55.1"))
    with pytest.raises(InputError, match=r"tab-1\.csv is not the file that its run wrote; run it"):
        exhibits.load("bayes-optimal-tab-1", "quick")
    (csv.parent / manifest.NAME).unlink()  # the record alone knows its table
    with pytest.raises(InputError, match="not the table its record describes"):
        exhibits.load("bayes-optimal-tab-1", "quick")


@pytest.mark.parametrize("damage", ["cut", "gone", "no digest"])
def test_load_names_damaged_files(results, settings, table, damage, save):
    save(table, settings)
    folder = results / "quick" / "bayes_optimal"
    record = folder / "bayes-optimal-tab-1.json"
    if damage == "cut":
        record.write_bytes(record.read_bytes()[:50])
    elif damage == "gone":
        (folder / "bayes-optimal-tab-1.csv").unlink()
    else:
        record.write_text("{}")
    with pytest.raises(InputError, match="bayes-optimal-tab-1"):
        exhibits.load("bayes-optimal-tab-1", "quick")


def test_the_record_holds_what_repeats_the_exhibit_and_no_verdict(settings, toy):
    settings = dataclasses.replace(settings, chapter="gmip")
    record = files.record_of(toy.EXHIBITS[0], toy.table(), settings, {"outputs": "12ab"})
    assert record["sizes"] == {"Models": "10 (paper: 128)"}
    assert record["data"] == {"digits": "ab" * 32}
    assert record["evidence"] == {"outputs": "12ab"}
    assert (record["id"], record["label"], record["seed"]) == ("gmip-tab-1", "Table 1", 3)
    assert record["timing"] is False
    assert not {"comparison", "parameters", "verdict"} & set(record)
    assert b"agrees" not in files.json_bytes(record)


def test_a_drawn_exhibit_has_five_files_and_another_two(settings, toy):
    table = toy.table()
    assert set(files.contents_of(toy.EXHIBITS[0], table, {})) == {".csv", ".json"}
    made = files.contents_of(toy.EXHIBITS[1], table, {})
    assert set(made) == set(files.SUFFIXES)
    assert made == files.contents_of(toy.EXHIBITS[1], table, {})
    with pytest.raises(InputError, match="is empty"):
        files.contents_of(toy.EXHIBITS[0], table.head(0), {})


def test_what_is_drawn_has_the_digits_of_its_table_and_its_words(toy):
    table = toy.table().assign(said=["1.00", "0.50", "", "x"], n=[1, 2, 3, 4])
    seen = files.as_saved(table.assign(value=table["value"] / 3))
    assert files.csv_bytes(seen) == files.csv_bytes(table.assign(value=table["value"] / 3))
    assert seen["value"].tolist() == [float(f"{value / 3:.10g}") for value in table["value"]]
    assert (seen["said"].tolist(), seen["n"].tolist()) == (["1.00", "0.50", "", "x"], [1, 2, 3, 4])
    assert seen.attrs == table.attrs
    # Another processor's last digit draws the same.
    nearly = table.assign(value=table["value"] * (1 + 2e-15))
    assert nearly["value"].tolist() != table["value"].tolist()
    made, other = (files.contents_of(toy.EXHIBITS[1], each, {}) for each in (table, nearly))
    assert made == other


def test_another_drawing_of_the_same_table_is_another_commit_s(settings, monkeypatch, toy):
    toy.install(monkeypatch)
    settings = dataclasses.replace(settings, chapter="gmip")
    monkeypatch.setattr(provenance, "is_in_history", lambda commit: True)

    def save(commit, draw=toy.draw):
        monkeypatch.setattr(provenance, "git_commit", lambda: commit)
        exhibit = dataclasses.replace(toy.EXHIBITS[1], draw=draw)
        files.save(exhibit, toy.table(), settings, {})
        return files.load("gmip-fig-1", "quick")[1]["commit"]

    assert [save("one"), save("two")] == ["one", "one"]
    assert save("three", lambda made: toy.draw(made.assign(value=-made["value"]))) == "three"


def test_the_same_result_of_another_commit_keeps_its_record(settings, results, monkeypatch, toy):
    toy.install(monkeypatch)
    settings = dataclasses.replace(settings, chapter="gmip")
    monkeypatch.setattr(provenance, "is_in_history", lambda commit: "-dirty" not in commit)

    def save(commit, shift=0.0):
        monkeypatch.setattr(provenance, "git_commit", lambda: commit)
        files.save(toy.EXHIBITS[0], toy.table(shift), settings, {})
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
