"""The paper's tables on trained ensembles: 2, 4, 7, 8 and 9, and the curves of Figure 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from membership import metrics, published
from membership.studies.iha import ablation, names, rows
from membership.studies.iha.audit import Audit, table_of
from membership.studies.iha.white_box import FRACTIONS

TABLE_2 = {"LOSS": "LOSS", "SIF": "SIF", "LiRA": "LiRA", "IHA (Exact)": "IHA"}
TABLE_7 = {"LOSS": "LOSS", "LiRA": "LiRA", "IHA (Ours)": "IHA"}
FIGURE_1 = ("LOSS", "SIF", "LiRA", "IHA")
GRID = np.logspace(-4, 0, 81)
TERMS = {
    "IHA[I1]": ("i1",),
    "IHA[I2]": ("i2",),
    "IHA[I1,I2]": ("i1", "i2"),
    "IHA[I1,I2,I3,I4]": ("i1", "i2", "i3", "i4"),
    "IHA[loss,I1]": ("loss", "i1"),
    "IHA[loss,I2]": ("loss", "i2"),
    "IHA[loss,I1,I2]": ("loss", "i1", "i2"),
    "IHA[All]": ("loss", "i1", "i2", "i3", "i4"),
}
CONDITIONINGS = {
    "IHA (low-rank eps=1e-2)": "IHA, low rank 0.01",
    "IHA (low-rank eps=1e-1)": "IHA, low rank 0.1",
    "IHA (low-rank eps=2e-1)": "IHA, low rank 0.2",
    "IHA (damping eps=1e-2)": "IHA, damping 0.01",
    "IHA (damping eps=1e-1)": "IHA, damping 0.1",
    "IHA (damping eps=2e-1)": "IHA, damping 0.2",
}
KNOWN = {"as the appendix describes": "fraction", "as released": "fraction, released"}


def figure_1(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """ROC curves at low false positive rates (Figure 1): means over the targets, with intervals."""
    parts = []
    for audit in audits:
        least = 1 / min(int((~member).sum()) for member in audit.member)
        grid = GRID[least <= GRID]
        for name in FIGURE_1:
            key = {"panel": audit.label, "series": name}
            parts += rows.curve(key, audit.scores(name), audit.member, grid, audit.units)
    return table_of(parts, audits)


def table_2(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """The paper's main comparison (Table 2), and how good the models are (Section 4.1)."""
    found = []
    for audit in audits:
        squared = audit.recipe["loss"] == "squared-error"
        loss = "test loss (MSE)" if squared else "test loss"
        for variable, name in (("test_accuracy", "test accuracy (%)"), ("test_loss", loss)):
            key = {"dataset": audit.label, "attack": "(model)", "metric": name}
            found.append({**key, **rows.over_models(audit.outputs[variable].values.tolist())})
        for attack, name in TABLE_2.items():
            found += audit.rows(attack, name)
    return table_of(found, audits)


def table_2_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 beside the published one; for Purchase-100(S) the paper's Table 7 has the numbers."""
    small = published.reference("iha_table7").replace({"attack": {"IHA (Ours)": "IHA (Exact)"}})
    small = small[(small["dataset"] == "Purchase-100(S)") & small["model"].str.startswith("MLP-2")]
    models = published.reference("iha_sec4_1").assign(attack="(model)")
    every = [published.reference("iha_table2"), small, models]
    return rows.judged(table, pd.concat(every))


def table_4(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """Which terms of the score carry the signal (Table 4); columns as `table_2`."""
    found = []
    for audit in audits:
        momentum, learning_rate = audit.recipe["momentum"], audit.recipe["learning_rate"]
        for attack, terms in TERMS.items():
            weights = {
                term: 1 / (1 + momentum) if term == "loss" else -1 / learning_rate for term in terms
            }
            scores = [
                sum(weight * one[term] for term, weight in weights.items()) for one in audit.found
            ]
            key = {"dataset": audit.label, "attack": attack}
            found += rows.measured(key, scores, audit.member, units=audit.units)
    return table_of(found, audits)


def table_4_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 4 beside the published one."""
    return rows.judged(table, published.reference("iha_table4"))


def table_7(found: Sequence[Audit], deep: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """LOSS, LiRA and IHA on each variant (Table 7), the deep one at two dampings (D.1)."""
    listed = [row for one in found for item in TABLE_7.items() for row in one.rows(*item)]
    for one in deep:
        for attack, damping in names.DEEP_DAMPINGS.items():
            if one.has(f"IHA, damping {damping:g}"):
                listed += one.rows(attack, f"IHA, damping {damping:g}")
    return table_of(listed, found)


def table_7_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 7 and Appendix D.1 beside the published numbers."""
    printed = pd.concat([published.reference("iha_table7"), published.reference("iha_appD1")])
    deep = printed["model"].str.startswith("MLP-4")
    printed["dataset"] = printed["dataset"].where(~deep, printed["dataset"] + ", MLP-4")
    return rows.judged(table, printed)


def table_8(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """Damping against low rank (Table 8); columns as `table_2`, AUC only.

    Where few records are asked, the same of every target, the errors are over records too.
    """
    found = []
    for audit in audits:
        for attack, name in CONDITIONINGS.items():
            if audit.has(name):
                key = {"dataset": audit.label, "attack": attack, "metric": "AUC"}
                found.append({**key, **_over_records_too(audit, name)})
    return table_of(found, audits)


def _over_records_too(audit: Audit, name: str) -> dict[str, float]:
    """The AUC of one attack with the error of its targets and records, as degrees of the fewer.

    Where every record was asked, over the targets alone.
    """
    if audit.is_whole:
        return rows.over_models(audit.numbers(name).tolist(), 1.0, units=audit.units)
    found = ablation.row(ablation.auc(audit.scores(name), audit.member, audit.units))
    degrees = min(found["degrees_of_freedom"], found["n_repeats"] - 1)
    half = float(t.ppf(0.975, degrees)) * found["standard_error"]
    ends = {"low": found["value"] - half, "high": found["value"] + half}
    return {**found, **ends, "degrees_of_freedom": degrees}


def table_8_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 8 beside the published one."""
    return rows.judged(table, published.reference("iha_table8"))


def table_9(audits: Sequence[Audit], settings: Any) -> pd.DataFrame:
    """IHA with a fraction of the other records known (Table 9), and a coin for comparison.

    "as the appendix describes": z is taken out of the known records where it is one of them.
    "as released": g/n is taken away for every member, whether it is known or not. "coin": with
    the fraction's probability the AUC of full knowledge, else that of none.
    """
    found = []
    for audit in audits:
        for fraction in FRACTIONS:
            key = {"dataset": audit.label, "fraction": fraction}
            for attack, name in KNOWN.items():
                scores = audit.scores(f"{name} {fraction:g}")
                named = {**key, "attack": attack}
                found += rows.measured(named, scores, audit.member, units=audit.units)
            pairs = [audit.scores("IHA"), audit.scores("IHA, everyone"), audit.member]
            mixed = [
                fraction * metrics.auc(full, truth) + (1 - fraction) * metrics.auc(none, truth)
                for full, none, truth in zip(*pairs, strict=True)
            ]
            coin = rows.over_models(mixed, 1.0, units=audit.units)
            found.append({**key, "attack": "coin", "metric": "AUC", **coin})
    return table_of(found, audits)


def table_9_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 9 beside the published one, which the released code made."""
    reference = published.reference("iha_table9").rename(columns={"row": "fraction"})
    reference = reference.assign(attack="as released", fraction=reference["fraction"].astype(float))
    return rows.judged(table, reference, [*rows.KEYS, "fraction"])
