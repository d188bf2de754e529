import pytest

from membership.exhibits import pivots
from membership.exhibits.rows import Cell, Entry


def entry(metric, **keys):
    return Entry(keys, metric, Cell(value="1"))


def test_the_first_key_groups_rows_wherever_they_stand():
    pivot = pivots.pivot(
        [
            entry("a", n="n = 1", attack="MALT"),
            entry("a", n="n = 2", attack="MALT"),
            entry("b", n="n = 1", attack="random score"),
        ]
    )
    assert (pivot.corner, pivot.metrics) == ("attack", ["a", "b"])
    assert [(group.heading, list(group.rows)) for group in pivot.groups] == [
        ("n = 1", ["MALT", "random score"]),
        ("n = 2", ["MALT"]),
    ]
    assert list(pivot.groups[0].rows["MALT"]) == ["a"]


@pytest.mark.parametrize("keys", [{}, {"other_key": "x"}])
def test_groups_of_one_row_are_no_groups(keys):
    entries = [entry(metric, n=n, **keys) for n in ("1", "2") for metric in ("a", "b")]
    pivot = pivots.pivot(entries)
    assert [group.heading for group in pivot.groups] == [""]
    assert list(pivot.groups[0].rows) == [", ".join([n, *keys.values()]) for n in ("1", "2")]
    assert pivot.corner == ", ".join(["n", *(["other key"] if keys else [])])


def test_quantities_without_a_metric_are_values():
    assert pivots.pivot([entry("", n="1")]).metrics == ["value"]


def test_a_pivot_is_for_many_quantities_with_keys():
    many = [entry("a", n=str(i)) for i in range(17)]
    assert pivots.is_long([many])
    assert pivots.is_long([many[:10], many[10:]])
    assert not pivots.is_long([many[:16], many[:16]])
    assert not pivots.is_long([[entry(str(i)) for i in range(17)]])


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["agrees"] * 12 + ["differs"] * 8, "20 published numbers: 12 agree, 8 differ."),
        (["agrees", "differs", "differs"], "3 published numbers: 1 agrees, 2 differ."),
        (["differs"], "1 published number: 0 agree, 1 differs."),
        (["not comparable"] * 2, "2 published numbers: none comparable (digits; 5 splits)."),
        ([], "The paper gives none of these numbers."),
        (
            ["agrees", "not comparable", "differs"],
            "3 published numbers: 1 agrees, 1 differs, 1 not comparable (digits; 5 splits).",
        ),
    ],
)
def test_verdicts_are_counted(verdicts, words):
    assert pivots.summary(verdicts, ["digits", "5 splits"]) == words
