"""Where the paper prints one quantity twice, differently (iha-ctl-7)."""

from typing import Any

import pandas as pd

from membership import published
from membership.published.rows import rows_at

LARGE, SMALL = "Purchase-100", "Purchase-100(S)"
AUC, AT_1 = "AUC", "TPR@1%FPR (%)"
SHARED = "agreement on members @FPR 0.3"
# What, the tables of one place and of the other, then data set, attacks there, and metric.
PAIRS = (
    ("LOSS on Purchase-100, AUC", "table2", "table7", LARGE, "LOSS", "LOSS", AUC),
    ("LiRA on Purchase-100, AUC", "table2", "table7", LARGE, "LiRA", "LiRA", AUC),
    ("the same, TPR at 1% FPR (%)", "table2", "table7", LARGE, "LiRA", "LiRA", AT_1),
    (
        "IHA with all terms, TPR at 1% FPR (%): Table 4 against the exact run",
        *("table4", "table7", SMALL, "IHA[All]", "IHA (Ours)", AT_1),
    ),
    (
        "the same against the run with conjugate gradients on 10,000 records",
        *("table4", "table7", SMALL, "IHA[All]", "IHA (CG)", AT_1),
    ),
    (
        "IHA without I3 and I4 against all terms in the exact run, TPR at 1% FPR (%)",
        *("table4", "table7", SMALL, "IHA[loss,I1,I2]", "IHA (Ours)", AT_1),
    ),
    (
        "agreement on members at FPR 0.3: L with LiRA-L, against LiRA with LiRA-L, which the "
        "text gives as 0.766",
        *("table5b", "table5b", SMALL, "L vs LiRA-L", "LiRA vs LiRA-L", SHARED),
    ),
    (
        "TPR at FPR 0.3: IHA against LiRA, which the text calls lower",
        *("table5b", "table5b", SMALL, "IHA vs GT", "LiRA vs GT", SHARED),
    ),
)


def control_7(settings: Any) -> pd.DataFrame:
    """Pairs of printed numbers that should be one, or in another order."""
    return pd.DataFrame([_pair(*pair) for pair in PAIRS])


def _pair(
    quantity: str, one: str, other: str, dataset: str, attack: str, there: str, metric: str
) -> dict[str, Any]:
    first, second = (
        _printed(table, dataset, name, metric) for table, name in ((one, attack), (other, there))
    )
    return {
        "quantity": quantity,
        "one place": _place(one),
        "printed": first,
        "other place": _place(other),
        "printed there": second,
        "difference": round(first - second, 6),
    }


def _place(table: str) -> str:
    section = table.startswith("sec")
    return f"Section {table[3:].replace('_', '.')}" if section else f"Table {table[5:]}"


def _printed(name: str, dataset: str, attack: str, metric: str) -> float:
    table = published.table(f"iha_{name}")
    table = table[~table["model"].str.startswith("MLP-4")]
    return (
        rows_at(table, dataset=dataset, attack=attack, metric=metric)["value"].astype(float).item()
    )
