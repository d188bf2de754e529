"""A committed run whose one table is another, so that the claims on it should turn."""

import functools

import numpy as np

from membership.book.exhibits import declared
from membership.book.exhibits.source import Committed
from membership.book.running import settings_class


def committed_run(chapter):
    return Committed(settings_class(chapter).from_values({"profile": "paper"}), declared(chapter))


class Altered:
    """A source whose one table, or one kind of evidence by the start of its names, is another."""

    def __init__(self, source, altered, change):
        self.source, self.altered, self.change = source, altered, change
        self.settings = source.settings

    def has(self, name):
        return self.source.has(name)

    def evidence(self, name):
        found = self.source.evidence(name)
        return self.change(found.copy(deep=True)) if name.startswith(self.altered) else found

    def table(self, exhibit_id):
        found = self.source.table(exhibit_id)
        if exhibit_id != self.altered:
            return found
        changed = self.change(found.copy())
        changed.attrs = dict(found.attrs)
        return changed


def swap(column, first, second):
    return lambda table: table.assign(
        **{column: table[column].replace({first: second, second: first})}
    )


def moved(by, factor=1.0, **where):
    """The numbers of some rows times a factor plus a constant, with their intervals.

    ``where``: what columns hold, or contain where none holds just that.
    """

    def change(table):
        chosen = np.ones(len(table), dtype=bool)
        for column, word in where.items():
            text = table[column].astype(str)
            same = (text == word).to_numpy()
            chosen &= same if same.any() else text.str.contains(word, regex=False).to_numpy()
        assert chosen.any()
        for name in {"value", "tpr", "low", "high"} & set(table.columns):
            table[name] = table[name].where(~chosen, factor * table[name] + by)
        return table

    return change


class Changed:
    """A source all of whose numbers went through a function; counts, rates and errors stay.

    So does what is not there: sorting, say, would move the forms that no inverse has.
    """

    KEPT = ("fpr", "standard_error", "degrees_of_freedom", "n_repeats")

    def __init__(self, source, function):
        self.source, self.function, self.settings = source, function, source.settings
        self.table = functools.cache(self._table)

    def has(self, name):
        return self.source.has(name)

    def evidence(self, name):
        found = self.source.evidence(name).copy(deep=True)
        for each in found.data_vars.values():
            if each.dtype.kind == "f":
                each.values = self._through(each.values)
        return found

    def _table(self, exhibit_id):
        found = self.source.table(exhibit_id)
        numbers = found.select_dtypes("float").columns.difference(self.KEPT)
        changed = found.assign(**{name: self._through(found[name].to_numpy()) for name in numbers})
        if {"low", "high"} <= set(numbers):
            ends = changed[["low", "high"]]
            changed = changed.assign(low=ends.min(axis=1), high=ends.max(axis=1))
        changed.attrs = dict(found.attrs)
        return changed

    def _through(self, values):
        there = ~np.isnan(values)
        changed = values.copy()
        changed[there] = self.function(values[there])
        return changed
