"""More records and deeper networks (Table 7), and the deeper one's damping (Appendix D.1)."""

from typing import Any

import pandas as pd

from membership import published
from membership.studies.iha import rows
from membership.studies.iha.audit import Audit, table_of

TABLE_7 = {"LOSS": "LOSS", "LiRA": "LiRA", "IHA (Ours)": "IHA"}
DEEP_DAMPINGS = {"IHA (CG) eps=2e-1": 0.2, "IHA (CG) eps=5e-1": 0.5}


def table_7(found: list[Audit], deep: list[Audit], settings: Any) -> pd.DataFrame:
    """LOSS, LiRA and IHA on each variant (Table 7), the deep one at two dampings (D.1)."""
    listed = [row for one in found for item in TABLE_7.items() for row in one.rows(*item)]
    for one in deep:
        for attack, damping in DEEP_DAMPINGS.items():
            if one.has(f"IHA, damping {damping:g}"):
                listed += one.rows(attack, f"IHA, damping {damping:g}")
    return table_of(listed, found)


def table_7_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 7 and Appendix D.1 beside the published numbers."""
    printed = pd.concat([published.reference("iha_table7"), published.reference("iha_appD1")])
    deep = printed["model"].str.startswith("MLP-4")
    printed["dataset"] = printed["dataset"].where(~deep, printed["dataset"] + ", MLP-4")
    keys = ["dataset", "attack", "metric"]
    return rows.judged(table, printed, keys)
