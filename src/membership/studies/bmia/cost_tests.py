"""The tests of what the paper says of BMIA's cost, by timings on one machine."""

from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.published import Outcome
from membership.published.claim_rules import much_better
from membership.published.outcomes import every, overall
from membership.published.rows import number, rows_at
from membership.studies.bmia import times
from membership.studies.bmia.claim_tests import PAPER, SIMULATED

_TIMINGS = 3
_MOST = {times.SHARE: 0.1, times.LIRA: 0.15}


def cheap_inference(source: Any) -> Outcome:
    """c03: the fit and the scores beside one training, and both beside eight trainings."""
    table = source.table("bmia-ctl-10")
    rows = table[table["attack"].str.startswith("BMIA, KFAC")]

    def test(name: str) -> Outcome:
        each = [
            below(rows, metric, most, len(_MOST), dataset=name) for metric, most in _MOST.items()
        ]
        return every(each).on(f"{name} ({_TIMINGS} timings)")

    found = {name: test(name) for name in dict.fromkeys(rows["dataset"])}
    return overall(found, PAPER, simulated=SIMULATED)


def below(table: pd.DataFrame, metric: str, most: float, parts: int, **where: Any) -> Outcome:
    """A ratio of times wholly below a number, as that number less the ratio."""
    rows = rows_at(table, metric=metric, **where)
    timings = int(rows["n_repeats"].min())
    if timings < _TIMINGS:
        raise InputError(f"it takes {_TIMINGS} timings; there are {timings}")
    label = ", ".join([f"{most} less {metric}", *map(str, where.values())])
    return much_better(number(rows).scaled(-1.0).minus(-most, label), 0.0, parts=parts)
