"""The test of what the paper says of references in abundance."""

from typing import Any

from membership.errors import InputError
from membership.published import Outcome
from membership.published.claim_rules import exists
from membership.published.outcomes import overall
from membership.published.rows import number, rows_at
from membership.studies.bmia import abundant, truth
from membership.studies.bmia.claim_tests import PAPER, SIMULATED

_MODELS, _RECORDS = 64, 1000


def outperformed(source: Any) -> Outcome:
    """c18: the rate of LiRA or Attack-R with 64 references less BMIA's."""
    table = source.table("bmia-ctl-15")
    most, sizes = int(table["n_reference"].max()), table.attrs["sizes"]
    if most < _MODELS:
        raise InputError(f"it takes {_MODELS} references; there are {most}")
    if (records := int(sizes[truth.RECORDS].replace(",", ""))) < _RECORDS:
        raise InputError(f"it takes {_RECORDS:,} non-members of each target; there are {records:,}")
    found = {}
    for name in dict.fromkeys(table["dataset"]):
        rows = rows_at(table, dataset=name, n_reference=most, metric=abundant.LESS_BMIA)
        gains = [
            number(rows, f"TPR (%) at 1% FPR, {one} (n={most}) less BMIA, {name}", attack=one)
            for one in (abundant.LIRA, abundant.ATTACK_R)
        ]
        found[name] = exists(None, gains, 0.0).on(f"{name} ({sizes['Target models']} targets)")
    return overall(found, PAPER, simulated=SIMULATED)
