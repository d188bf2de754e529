from membership.exhibits import tables
from membership.exhibits.numbers import MISSING
from membership.exhibits.pivots import Group, Pivot
from membership.exhibits.rows import Cell, Row

JUDGED = Cell("54.4", "[53.2, 55.6]", "agrees", "inside", "54.9")


def test_a_pivot_has_a_body_and_a_heading_a_group(read):
    rows = {"MATT": {"AUC": JUDGED}, "0-1": {"accuracy": Cell("1")}}
    groups = [Group("n = 400", rows), Group("n = 1000", rows)]
    html = tables.pivoted("caption", Pivot("attack", ["AUC", "accuracy"], groups))
    reader = read(html)
    assert len(reader.having("tbody")) == 2
    headings = [tag for tag in reader.having("th") if tag["scope"] == "rowgroup"]
    assert headings == [{"scope": "rowgroup", "colspan": "3"}] * 2
    assert reader.tables[0] == [
        ["attack", "AUC", "accuracy"],
        ["n = 400"],
        ["MATT", "54.4 [53.2, 55.6]\npaper 54.9 \u2713 agrees", MISSING],
        ["0-1", MISSING, "1"],
        ["n = 1000"],
        ["MATT", "54.4 [53.2, 55.6]\npaper 54.9 \u2713 agrees", MISSING],
        ["0-1", MISSING, "1"],
    ]


def test_what_stands_beside_a_number_stands_below_it_in_a_pivot(read):
    cell = Cell("73.5", extras=(("exact", "73.65"), ("bound", MISSING)))
    html = tables.pivoted("caption", Pivot("attack", ["AUC"], [Group("", {"MALT": {"AUC": cell}})]))
    assert read(html).tables[0] == [["attack", "AUC"], ["MALT", "73.5\nexact 73.65"]]
    assert "rowgroup" not in html


def test_an_interval_is_one_piece():
    html = tables.listed("title", ["this run"], [Row("AUC", (JUDGED,))], judged=True)
    assert '54.4 <span class="exhibit-interval">[53.2, 55.6]</span>' in html
    assert tables.listed("t", ["r"], [Row("AUC", (Cell("1"),))], judged=False).count("<span") == 1
