"""What the declarations say of the committed tables, and what they read."""

from membership.exhibits import declared, files

EXHIBITS = declared("gmip")


def test_sentences_follow_the_numbers():
    (one,) = (one for one in EXHIBITS if one.id == "gmip-ctl-8")
    table, _ = files.load(one.id, "paper")
    assert "14 need noise" in one.says(table)
    doubled = table.assign(value=2 * table["value"])
    assert "28 need noise" in one.says(doubled)


def test_where_no_rate_is_told_its_description_says_so():
    (one,) = (one for one in EXHIBITS if one.id == "gmip-ctl-17")
    table, _ = files.load(one.id, "paper")
    assert "of all" in one.described(table)
    untold = table[table["asked"].str.startswith("none")]
    assert "too few records" in one.described(untold)
    assert one.says(untold) == ""


def test_all_120_entries_of_table_5_agree():
    (one,) = (one for one in EXHIBITS if one.id == "gmip-tab-5")
    table, _ = files.load(one.id, "paper")
    assert (one.judge(table)["verdict"] == "agrees").sum() == 120
    off = table.assign(value=table["value"] + 0.05)
    assert set(one.judge(off)["verdict"]) == {"differs"}
