import pandas as pd

from membership.exhibits import record, rows
from membership.exhibits.numbers import MISSING


def test_quantities_are_joined_across_runs(settings, make_table, make_comparison):
    large = make_table()
    small = make_table(False, ["digits"]).iloc[:2].copy()
    small.loc[1, "n"] = 100
    records = [
        record.build("bayes-optimal-tab-1", table, b"", settings, make_comparison(table))
        for table in (large, small)
    ]
    joined = {row.quantity: row for row in rows.compared(records)}
    assert list(joined) == [
        "n = 400, MALT, attack accuracy (%)",
        "n = 400, 0-1, attack accuracy (%)",
        "n = 1000, MATT, attack accuracy (%)",
        "n = 100, 0-1, attack accuracy (%)",
    ]
    both = joined["n = 400, MALT, attack accuracy (%)"]
    assert both.published == "54.4"
    assert [cell.verdict for cell in both.cells] == ["agrees", "not comparable"]
    large_only = joined["n = 1000, MATT, attack accuracy (%)"]
    assert [cell.text for cell in large_only.cells] == ["54.3 [54.0, 55.0]", MISSING]
    assert joined["n = 100, 0-1, attack accuracy (%)"].published == MISSING


def test_a_run_without_a_comparison_has_dashes(settings, make_table, make_comparison):
    table = make_table()
    with_one = record.build("bayes-optimal-tab-1", table, b"", settings, make_comparison(table))
    without = record.build("bayes-optimal-tab-1", table, b"", settings, None)
    assert [row.cells[1].text for row in rows.compared([with_one, without])] == [MISSING] * 3


def test_measured_numbers_and_what_stands_beside_them():
    other = pd.DataFrame({"attack": ["MALT", "old"], "value": [1.0, 2.0]})
    own = pd.DataFrame(
        {
            "attack": ["MALT", "MAST"],
            "value": [73.51, 99.87],
            "low": [73.1, 99.8],
            "high": [73.9, 99.95],
            "n_repeats": 5,
            "exact": [73.65, 99.93],
        }
    )
    found = {row.quantity: row for row in rows.measured([other, own])}
    assert list(found) == ["MALT", "old", "MAST"]
    assert [cell.text for cell in found["MALT"].cells] == ["1", "73.51 [73.10, 73.90]"]
    assert rows.extra_columns(own) == ["exact"]
    assert found["MAST"].extras == ("99.93",)
    assert found["old"].extras == ()


def test_what_counts_as_tidy(table):
    assert rows.is_tidy(table)
    assert not rows.is_tidy(table.drop(columns="value"))
    assert not rows.is_tidy(pd.concat([table, table]))
