"""The tests of the paper's claims that take many retrained models."""

from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.published import Outcome
from membership.published.claim_rules import exists, much_better
from membership.published.outcomes import every
from membership.published.rows import number, rows_at
from membership.studies.bmia import abundant, truth
from membership.studies.bmia.claim_tests import over_data

_MODELS = 64
_FOR_A_THRESHOLD, _FOR_A_RATE = 500, 1000


def best_threshold(source: Any) -> Outcome:
    """c08: the pinball loss of QMIA's and the marginal threshold, less that of BMIA's."""
    return _of_thresholds(source, truth.LOSS)


def nearest_threshold(source: Any) -> Outcome:
    """c08, as it was fixed: how far their true rates are off, less how far BMIA's is."""
    return _of_thresholds(source, truth.OFF)


def _of_thresholds(source: Any, measure: str) -> Outcome:
    table = source.table("bmia-ctl-14")
    models = _size(table, truth.MODELS)
    if models < _MODELS:
        raise InputError(f"it takes {_MODELS} retrained models as truth; there are {models}")
    _require(table, _FOR_A_THRESHOLD)

    def test(name: str) -> Outcome:
        rows = rows_at(table, dataset=name, metric=truth.LESS_BMIA[measure])
        words = f"{measure}, {{}} less BMIA, {name}"
        found = [
            number(rows, words.format(other), threshold=other)
            for other in (truth.QMIA, truth.MARGINAL)
        ]
        return every([much_better(one, 0.0, parts=len(found)) for one in found])

    return over_data(table, test)


def outperformed(source: Any) -> Outcome:
    """c18: the rate of LiRA or Attack-R with 64 references less BMIA's."""
    table = source.table("bmia-ctl-15")
    most = int(table["n_reference"].max())
    if most < _MODELS:
        raise InputError(f"it takes {_MODELS} references; there are {most}")
    _require(table, _FOR_A_RATE)

    def test(name: str) -> Outcome:
        rows = rows_at(table, dataset=name, n_reference=most, metric=abundant.LESS_BMIA)
        words = f"TPR (%) at 1% FPR, {{}} (n={most}) less BMIA, {name}"
        attacks = (abundant.LIRA, abundant.ATTACK_R)
        gains = [number(rows, words.format(attack), attack=attack) for attack in attacks]
        return exists(None, gains, 0.0)

    return over_data(table, test)


def _size(table: pd.DataFrame, name: str) -> int:
    return int(table.attrs["sizes"][name].replace(",", ""))


def _require(table: pd.DataFrame, records: int) -> None:
    there = _size(table, truth.RECORDS)
    if there < records:
        raise InputError(f"it takes {records:,} non-members of each target; there are {there:,}")
