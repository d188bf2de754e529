"""What is called the difference of two rows is it, in every committed table."""

import re

import pytest

from membership.book import published
from membership.book.exhibits import declared, files

EXHIBITS = [one.id for chapter in published.subjects for one in declared(chapter)]
# What a difference's measure has more in its name than that of the two numbers.
MORE = re.compile(r", paired difference| gained$|, pooled$")
# "A measure, less that of": of the row with which word in which column.
OTHERS = {"BMIA's": ("attack", "BMIA"), "one query's": ("queries", "one")}
# These are taken over other records, or other models, than the rows beside them.
OF_OTHERS = re.compile("posterior|prior by validation|every network a target")


def measured(table):
    """Values by keys, the columns before them, the measure last."""
    keys = list(table.columns[: list(table.columns).index("value")])
    keys.sort(key=lambda name: name == "metric")
    rows = table[[*keys, "value"]].itertuples(index=False, name=None)
    return keys, {row[:-1]: row[-1] for row in rows}


def pairs(keys, key, values):
    """The keys of the two rows whose difference a row is by its words, where both are there."""
    *words, measure = key
    for place, word in enumerate(map(str, words)):
        first, less, second = word.partition(" less ")
        if less:
            plain = MORE.sub("", str(measure))
            yield tuple(
                (*words[:place], one, *words[place + 1 :], plain) for one in (first, second)
            )
    metric, _, whose = str(measure).rpartition(", less ")
    column, name = OTHERS.get(whose, ("", ""))
    if column in keys:
        changed = {column: name} | ({"n_reference": 1} if name == "BMIA" else {})
        other = [changed.get(k, word) for k, word in zip(keys, words, strict=False)]
        yield (*words, metric), (*other, metric)


def test_differences_are_those_of_their_rows():
    seen, wrong = 0, []
    for exhibit in EXHIBITS:
        table, _ = files.load(exhibit, "paper") or (None, None)
        if table is None or "value" not in table:
            continue
        keys, values = measured(table)
        for key, value in values.items():
            for pair in pairs(keys, key, values):
                if OF_OTHERS.search(str(key)) or not all(one in values for one in pair):
                    continue
                seen += 1
                first, second = (values[one] for one in pair)
                # Some evidence holds a few digits of each by itself.
                if value != pytest.approx(first - second, rel=1e-6, abs=2e-4):
                    wrong.append((exhibit, key))
    assert wrong == []
    assert seen > 900
