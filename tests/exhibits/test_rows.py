import pandas as pd

from membership.exhibits import record, rows
from membership.exhibits.numbers import MISSING

ID = "bayes-optimal-tab-1"


def test_quantities_are_joined_across_runs(settings, make_table, make_comparison):
    large = make_table()
    small = make_table(False, ["digits"]).iloc[:2].copy()
    small.loc[1, "n"] = 100
    found = [
        rows.entries(record.build(ID, table, b"", settings, make_comparison(table)), table)
        for table in (large, small)
    ]
    joined = {row.quantity: row for row in rows.side_by_side(found)}
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


def test_a_run_without_a_comparison_is_not_judged(settings, make_table, make_comparison):
    table = make_table()
    judged, plain = (
        rows.entries(record.build(ID, table, b"", settings, comparison), table)
        for comparison in (make_comparison(table), None)
    )
    assert [entry.quantity for entry in plain] == [entry.quantity for entry in judged]
    assert [entry.cell.text for entry in plain] == [entry.cell.text for entry in judged]
    assert {entry.cell.verdict for entry in plain} == {""}


def test_measured_numbers_and_what_stands_beside_them(settings, make_table):
    table = pd.DataFrame(
        {
            "theta": [1, 2],
            "metric": "P(member)",
            "z": [0.25, 0.5],
            "value": [73.51, 99.87],
            "low": [73.1, 99.87],
            "high": [73.9, 99.87],
            "n_repeats": 5,
            "exact": [73.65, None],
        }
    )
    table.attrs = make_table().attrs
    first, second = rows.entries(record.build(ID, table, b"", settings, None), table)
    assert first.keys == {"theta": "theta = 1", "z": "z = 0.25"}
    assert first.quantity == "theta = 1, z = 0.25, P(member)"
    assert first.cell.text == "73.51 [73.10, 73.90]"
    assert second.cell.text == "99.87"
    assert first.cell.extras == (("exact", "73.65"),)
    assert second.cell.extras == (("exact", MISSING),)


def test_what_counts_as_tidy(table):
    assert rows.is_tidy(table)
    assert not rows.is_tidy(table.drop(columns="value"))
    assert not rows.is_tidy(pd.concat([table, table]))
