"""Controls on knowledge, curvature, damping, LiRA's references and the corrected attack."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, published
from membership.studies.iha import rows
from membership.studies.iha.audit import Audit, table_of
from membership.studies.iha.scores import LEARNT_BY, OFFLINE, ONLINE
from membership.studies.iha.white_box import DAMPINGS

CONTROL_1 = {
    "LOSS": "LOSS",
    "SIF": "SIF",
    "IHA": "IHA",
    "IHA, gradient over D for everyone": "IHA, everyone",
    "IHA, gradient over D less own for everyone": "IHA, everyone less own",
    "IHA, identity for the inverse Hessian": "IHA, identity",
    "residual norm": "residual norm",
    "residual cosine": "residual cosine",
    "residual norm, gradient over D for everyone": "residual norm, everyone",
    "IHA*": "IHA*",
    "IHA*, gradient over D for everyone": "IHA*, everyone",
    "IHA*, gradient over D less own for everyone": "IHA*, everyone less own",
    "norm of the others' gradient (does not look at z)": "size of the others",
}


def control_1(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """What knowing all other records is worth, and what curvature is (iha-ctl-1)."""
    found = [
        row
        for audit in audits
        for item in CONTROL_1.items()
        for row in audit.rows(*item, rows.METRICS[:2])
    ]
    return table_of(found, audits)


def control_2(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """The damping, over three orders of magnitude (iha-ctl-2)."""
    found = []
    for audit in audits:
        for damping in DAMPINGS:
            for name in LEARNT_BY:
                if audit.has(f"{name}, damping {damping:g}"):
                    key = {"panel": f"{audit.label}: AUC", "damping": damping, "series": name}
                    found.append(
                        {**key, "metric": "AUC", **_auc(audit, f"{name}, damping {damping:g}")}
                    )
    return table_of(found, audits)


def _auc(audit: Audit, name: str) -> dict[str, float]:
    """Of one attack, from the numbers over every record where there are some."""
    if audit.is_whole:
        values = audit.numbers(name).tolist()
    else:
        pairs = zip(audit.scores(name), audit.member, strict=True)
        values = [metrics.auc(score, member) for score, member in pairs]
    return rows.over_models(values, 1.0, units=audit.units)


def published_dampings(table: pd.DataFrame) -> pd.DataFrame:
    """The dampings of Table 8 as points of `control_2`, for the paper's data sets."""
    printed = published.table("iha_table8")
    printed = printed[printed["attack"].str.contains("damping")]
    panels = [f"{name}: AUC" for name in printed["dataset"]]
    points = pd.DataFrame(
        {
            "panel": panels,
            "damping": [float(name.split("=")[1].rstrip(")")) for name in printed["attack"]],
            "series": "IHA",
            "value": printed["value"].astype(float).to_numpy(),
        }
    )
    return points[points["panel"].isin(table["panel"])].reset_index(drop=True)


def control_3(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """LiRA with and without the target among its own references (iha-ctl-3); as `control_1`."""
    found = [
        row for audit in audits for name in (*ONLINE, *OFFLINE) for row in audit.rows(name, name)
    ]
    return table_of(found, audits)


def control_3_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Every online variant beside the published LiRA column of its data set, without verdicts."""
    printed = pd.concat([published.reference("iha_table2"), published.reference("iha_table7")])
    printed = printed[(printed["attack"] == "LiRA") & ~printed["model"].str.startswith("MLP-4")]
    # Table 7 repeats Purchase-100 with other digits; Table 2 is the main table.
    printed = printed.drop_duplicates(rows.KEYS)
    every = pd.concat([printed.assign(attack=name) for name in ONLINE])
    why = "a variant of LiRA, not the paper's estimator: no verdict"
    return rows.judged(table, every, unjudged=why)


def _above(key: dict[str, str], values: Sequence[np.ndarray], damping: float) -> list[dict]:
    """How many eigenvalues of the targets' Hessians are above the damping."""
    above = [float((one > damping).sum()) for one in values]
    share = [float((one > damping).mean()) for one in values]
    return [
        {**key, "quantity": "eigenvalues above the damping", **rows.over_models(above)},
        {**key, "quantity": "as a share of all", **rows.over_models(share, 1.0)},
    ]


def control_4(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """The corrected attack beside the published one, and why it differs (iha-ctl-4)."""
    found = []
    for audit in audits:
        key, units = {"dataset": audit.label}, audit.units
        numbers = {
            name: [metrics.auc(s, m) for s, m in zip(audit.scores(name), audit.member, strict=True)]
            for name in LEARNT_BY
        }
        for name, values in numbers.items():
            found.append(
                {**key, "quantity": f"AUC of {name}", **rows.over_models(values, 1.0, units=units)}
            )
        gain = np.subtract(numbers["IHA*"], numbers["IHA"])
        less = rows.over_models(gain.tolist(), 1.0, -1.0, units=units)
        found.append({**key, "quantity": "AUC, IHA* less IHA", **less})
        norms = np.stack(audit.scores("norms"))
        names = ("|grad L|", "|grad L + alpha w|", "|alpha w|")
        for column, quantity in enumerate(names):
            length = rows.over_models(norms[:, column].tolist(), units=units)
            found.append({**key, "quantity": quantity, **length})
        if audit.has("eigenvalues"):
            found += _above(key, audit.scores("eigenvalues"), settings.damping)
    return table_of(found, audits)
