"""More records and deeper networks (Table 7), and the deeper one's damping (Appendix D.1)."""

from typing import Any

import pandas as pd

from membership import published
from membership.data.loading import PARITY, purchase_records
from membership.studies.iha import rows
from membership.studies.iha.audit import Audit, audit, table_of
from membership.studies.iha.tasks import task

# The paper's pools are 160,000 records and 50,000; twice as many shows the direction.
LARGER = 2
TABLE_7 = {"LOSS": "LOSS", "LiRA": "LiRA", "IHA (Ours)": "IHA"}
DEEP_DAMPINGS = {"IHA (CG) eps=2e-1": 0.2, "IHA (CG) eps=5e-1": 0.5}
FEWER = 16


def variants(audits: list[Audit], settings: Any) -> list[Audit]:
    """The last data set of a run, then it with more records and with a deeper network.

    The two new ones have at most 16 models. More records there are for the simulated data only.
    """
    name = settings.datasets[-1]
    count = min(settings.n_models, FEWER)
    made = []
    if name.startswith("purchase_like"):
        larger = LARGER * purchase_records(name)
        made.append(task(f"purchase_like:{larger}", settings, large=True, n_models=count))
    if not name.endswith(PARITY):
        made.append(task(name, settings, deep=True, n_models=count))
    return [audits[-1], *(audit(one, settings) for one in made)]


def table_7(found: list[Audit], settings: Any) -> pd.DataFrame:
    """LOSS, LiRA and IHA on each variant (Table 7), the deep one at two dampings (D.1).

    Returns
    -------
    DataFrame
        Columns dataset, attack, metric, value, low, high, n_repeats: means over the targets.
    """
    listed = [row for one in found for item in TABLE_7.items() for row in one.rows(*item)]
    for deep in (one for one in found if one.label.endswith("MLP-4")):
        for attack, damping in DEEP_DAMPINGS.items():
            if deep.has(f"IHA, damping {damping:g}"):
                listed += deep.rows(attack, f"IHA, damping {damping:g}")
    return table_of(listed, found)


def table_7_judged(table: pd.DataFrame, found: list[Audit]) -> pd.DataFrame:
    """Table 7 and Appendix D.1 beside the published numbers."""
    printed = pd.concat([published.table("iha_table7"), published.table("iha_appD1")])
    deep = printed["model"].str.startswith("MLP-4")
    printed["dataset"] = printed["dataset"].where(~deep, printed["dataset"] + ", MLP-4")
    keys = ["dataset", "attack", "metric"]
    return rows.judged(table, printed[[*keys, "value"]], keys, [one.trained for one in found])
