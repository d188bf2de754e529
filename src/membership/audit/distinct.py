"""Evidence whose records are trials: each counts once, and those of a unit together."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from membership.arrays import FloatArray
from membership.attacks import ScoreTable
from membership.audit.rows import SEVERAL, require_whole
from membership.errors import InputError

Evidence = tuple[xr.Dataset, ...]


def once(evidence: Evidence) -> tuple[Evidence, list[str]]:
    """Evidence without records that are others again, and what was left out, in a sentence each.

    Of columns with one label that say the same one counts, and where they differ none. Of records
    that gathering found to be equal the first counts. Leave-one-out models ask each record twice.
    """
    found = [_again(dataset) for dataset in evidence]
    gone = np.unique(np.concatenate([np.zeros(0, int), *(gone for _, gone in found)]))
    kept = tuple(
        dataset
        if rows is None
        else dataset.isel(record=rows[~np.isin(_names(dataset)[rows], gone)])
        for dataset, (rows, _) in zip(evidence, found, strict=True)
    )
    dropped = [
        (was.sizes["record"] - now.sizes["record"], was.sizes["record"], was)
        for was, now in zip(evidence, kept, strict=True)
        if "record" in was.sizes
    ]
    return kept, [
        f"{left} of {whole} records of {dataset.attrs['set']} are others again, by their label or "
        "by their content, and are not counted."
        for left, whole, dataset in dropped
        if left
    ]


def _names(dataset: xr.Dataset) -> np.ndarray:
    return np.asarray(dataset["record"].values)


def _again(dataset: xr.Dataset) -> tuple[np.ndarray | None, np.ndarray]:
    """The columns that count once, None where nothing is known; and labels that count never."""
    none = np.zeros(0, dtype=int)
    if dataset.attrs["kind"] == "pairs" or "record" not in dataset.coords:
        return None, none
    copies = np.array(dataset.attrs.get("copies", []), dtype=int)
    names, first, place, counts = np.unique(
        _names(dataset), return_index=True, return_inverse=True, return_counts=True
    )
    differs = np.zeros(names.size, dtype=bool)
    if counts.max(initial=1) > 1:
        for variable in dataset.data_vars.values():
            if "record" in variable.dims:
                values = np.moveaxis(variable.values, variable.dims.index("record"), 0)
                apart = values != values[first[place]]
                if values.dtype.kind == "f":
                    apart &= ~(np.isnan(values) & np.isnan(values[first[place]]))
                differs[place[apart.reshape(len(values), -1).any(axis=1)]] = True
    return np.sort(first), np.concatenate([copies, names[differs]])


def units_of(evidence: Evidence, record: np.ndarray) -> np.ndarray | None:
    """Whose each record is, where the evidence says so."""
    for dataset in evidence:
        if "unit" in dataset:
            unit = dict(zip(_names(dataset).tolist(), dataset["unit"].values.tolist(), strict=True))
            return np.array([unit[name] for name in record.tolist()], dtype=object)
    return None


def by_unit(table: ScoreTable, unit: np.ndarray) -> ScoreTable:
    """The table of units: the mean score of the records of each that a target was asked."""
    names, place = np.unique(unit, return_inverse=True)
    shape = (len(table.targets), names.size)
    member = np.zeros(shape, dtype=bool)
    score = {name: np.full(shape, np.nan) for name in table.score}
    for target, truth in enumerate(table.member):
        asked = np.flatnonzero(~np.isnan(next(iter(table.score.values()))[target]))
        counts = np.bincount(place[asked], minlength=names.size)
        members = np.bincount(place[asked], truth[asked], names.size)
        require_whole(members, counts, names)
        member[target] = members > 0
        for name, one in table.score.items():
            score[name][target] = _means(one[target, asked], place[asked], counts)
    return ScoreTable(names, member, score, table.targets)


def _means(score: FloatArray, place: np.ndarray, counts: np.ndarray) -> FloatArray:
    """Each unit's mean; NaN where none of its records was asked."""
    means = np.bincount(place, score / counts[place], counts.size)
    return np.where(counts > 0, means, np.nan)


def groups_by_unit(group: Sequence[object], unit: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The group of each unit, where its records share one."""
    of_unit: dict[object, set[str]] = {}
    for name, one in zip(unit, group, strict=True):
        of_unit.setdefault(name, set()).add(str(one))
    return np.array(
        [next(iter(of)) if len(of := of_unit[name]) == 1 else SEVERAL for name in names],
        dtype=object,
    )


def drawn_whole(units: object, n_records: int) -> tuple[np.ndarray, np.ndarray]:
    """The units' names and each record's place among them, or an InputError."""
    given = np.asarray(units)
    if given.shape != (n_records,):
        raise InputError(f"units has shape {given.shape}; give one a record, ({n_records},)")
    names, place = np.unique(given.astype(str), return_inverse=True)
    if names.size < 4:
        raise InputError(f"units: {names.size} units; give at least 4, two of them members")
    return names, place
