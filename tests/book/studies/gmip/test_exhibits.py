"""What the declarations say of the committed tables, and what they read."""

from membership.book.exhibits import declared, files

EXHIBITS = {one.id: one for one in declared("gmip")}


def committed(name):
    return EXHIBITS[name], files.load(name, "paper")[0]


def test_sentences_follow_the_numbers():
    one, table = committed("gmip-ctl-8")
    assert "14 need noise" in one.says(table)
    doubled = table.assign(value=2 * table["value"])
    assert "28 need noise" in one.says(doubled)


def test_where_no_rate_is_told_its_description_says_so():
    one, table = committed("gmip-ctl-17")
    assert "of all" in one.described(table)
    untold = table[table["asked"].str.startswith("none")]
    assert "too few records" in one.described(untold)
    assert one.says(untold) == ""
