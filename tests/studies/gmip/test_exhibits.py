"""What the declarations say of the committed tables, and what they read."""

import pytest

from membership.exhibits import declared, files
from membership.studies.gmip import gather
from membership.studies.gmip.settings import Settings

EXHIBITS = declared("gmip")


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_sentences_and_alternative_texts_are_made_from_saved_tables(exhibit):
    table, _ = files.load(exhibit.id, "paper")
    if exhibit.says:
        said = exhibit.says(table)
        assert said.endswith(".")
        assert "nan" not in said
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)


def test_sentences_follow_the_numbers():
    (one,) = (one for one in EXHIBITS if one.id == "gmip-ctl-8")
    table, _ = files.load(one.id, "paper")
    assert "14 need noise" in one.says(table)
    doubled = table.assign(value=2 * table["value"])
    assert "28 need noise" in one.says(doubled)


def test_what_is_needed_can_be_gathered():
    settings = Settings.from_values({"profile": "paper"})
    known = set(gather.sources(settings))
    needed = {name for one in EXHIBITS for name in one.evidence(settings)}
    assert needed == known
    assert len(known) == 3 * 4


def test_all_120_entries_of_table_5_agree():
    (one,) = (one for one in EXHIBITS if one.id == "gmip-tab-5")
    table, _ = files.load(one.id, "paper")
    assert (one.judge(table)["verdict"] == "agrees").sum() == 120
    off = table.assign(value=table["value"] + 0.05)
    assert set(one.judge(off)["verdict"]) == {"differs"}


def test_controls_are_numbered_as_their_ids_say():
    controls = [one for one in EXHIBITS if one.kind == "control"]
    assert [one.id for one in controls] == [f"gmip-ctl-{i}" for i in range(1, 11)]
    assert [one.label for one in controls] == [f"Control {i}" for i in range(1, 11)]
