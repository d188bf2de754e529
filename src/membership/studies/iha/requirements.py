"""Table 1 from the registry: what each attack asks an adversary to have."""

from typing import Any

import pandas as pd

from membership import attacks
from membership.studies.iha.white_box import KEPT

OBSERVED = (
    *("log_odds", "loss", "references.log_odds", "references.member"),
    *("leave_one_out.log_odds", "leave_one_out.member"),
    *(f"form.{how}.{term}" for how, terms in KEPT.items() for term in terms),
)
"""What the chapter's evidence says of a target (see `attacks.Observed`)."""


def allowed() -> list[attacks.Attack]:
    """The registered attacks that the chapter's evidence allows."""
    return [
        attack
        for attack in attacks.registry().values()
        if all(set(need.split("|")) & set(OBSERVED) for need in attack.needs)
    ]


def table_1(settings: Any) -> pd.DataFrame:
    """What each attack may know (Table 1), as registered."""
    table = attacks.requirements(allowed())
    table.attrs["note"] = (
        "All attacks that this chapter's evidence allows; the paper's table has LOSS, "
        "LiRA, SIF, L, LiRA-L and IHA."
    )
    return table
