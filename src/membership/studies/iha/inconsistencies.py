"""Where the paper prints one quantity twice, differently (iha-ctl-7)."""

from typing import Any

import pandas as pd

from membership import published
from membership.exhibits.tidy import tidy

LARGE, SMALL = "Purchase-100", "Purchase-100(S)"
# (what, (table, data set, attack, metric) of one place, the same of the other)
PAIRS = (
    (
        "LOSS on Purchase-100, AUC",
        ("iha_table2", LARGE, "LOSS", "AUC"),
        ("iha_table7", LARGE, "LOSS", "AUC"),
    ),
    (
        "LiRA on Purchase-100, AUC",
        ("iha_table2", LARGE, "LiRA", "AUC"),
        ("iha_table7", LARGE, "LiRA", "AUC"),
    ),
    (
        "the same, TPR at 1% FPR (%)",
        ("iha_table2", LARGE, "LiRA", "TPR@1%FPR (%)"),
        ("iha_table7", LARGE, "LiRA", "TPR@1%FPR (%)"),
    ),
    (
        "LiRA on Purchase-100(S), AUC (Section 4.4: 1,000 records of one target)",
        ("iha_sec4_4", SMALL, "LiRA", "AUC"),
        ("iha_table7", SMALL, "LiRA", "AUC"),
    ),
    (
        "IHA with all terms, TPR at 1% FPR (%): Table 4 against the exact run",
        ("iha_table4", SMALL, "IHA[All]", "TPR@1%FPR (%)"),
        ("iha_table7", SMALL, "IHA (Ours)", "TPR@1%FPR (%)"),
    ),
    (
        "the same against the run with conjugate gradients on 10,000 records",
        ("iha_table4", SMALL, "IHA[All]", "TPR@1%FPR (%)"),
        ("iha_table7", SMALL, "IHA (CG)", "TPR@1%FPR (%)"),
    ),
    (
        "IHA without I3 and I4 against all terms in the exact run, TPR at 1% FPR (%)",
        ("iha_table4", SMALL, "IHA[loss,I1,I2]", "TPR@1%FPR (%)"),
        ("iha_table7", SMALL, "IHA (Ours)", "TPR@1%FPR (%)"),
    ),
    (
        "agreement on members at FPR 0.3: L with LiRA-L, against LiRA with LiRA-L, which the "
        "text gives as 0.766",
        ("iha_table5b", SMALL, "L vs LiRA-L", "agreement on members @FPR 0.3"),
        ("iha_table5b", SMALL, "LiRA vs LiRA-L", "agreement on members @FPR 0.3"),
    ),
    (
        "TPR at FPR 0.3: IHA against LiRA, which the text calls lower",
        ("iha_table5b", SMALL, "IHA vs GT", "agreement on members @FPR 0.3"),
        ("iha_table5b", SMALL, "LiRA vs GT", "agreement on members @FPR 0.3"),
    ),
)


def control_7(settings: Any) -> pd.DataFrame:
    """Pairs of printed numbers that should be one, or in another order."""
    return tidy([_pair(*pair) for pair in PAIRS], {"data": {}, "deviations": [], "device": "cpu"})


def _pair(quantity: str, first: tuple, second: tuple) -> dict[str, Any]:
    here, there = _printed(*first), _printed(*second)
    return {
        "quantity": quantity,
        "one place": _place(first[0]),
        "printed": here,
        "other place": _place(second[0]),
        "printed there": there,
        "difference": round(here - there, 6),
    }


def _place(table: str) -> str:
    name = table.removeprefix("iha_")
    if name.startswith("sec"):
        return "Section " + name.removeprefix("sec").replace("_", ".")
    return "Table " + name.removeprefix("table")


def _printed(name: str, dataset: str, attack: str, metric: str) -> float:
    table = published.table(name)
    chosen = table[
        (table["dataset"] == dataset)
        & (table["attack"] == attack)
        & (table["metric"] == metric)
        & ~table["model"].str.startswith("MLP-4")
    ]
    (value,) = chosen["value"]
    return float(value)
