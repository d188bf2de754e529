"""The attack beside those with reference models: Tables 1, 2 and 7, and Figure 1.

With what it is told of the other records (iha-ctl-1, Table 9), the control on LiRA's references
(iha-ctl-3), and LiRA and the attack together (iha-ctl-19), as Section 4.5 proposes: both accuse at
one false positive rate of their own. The two together accuse fewer, and are compared with each
alone where that accuses as few non-members in vain.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics, plots
from membership.arrays import BoolArray, FloatArray
from membership.book import published
from membership.book.exhibits.sentences import joined
from membership.book.published.tables import misprints
from membership.book.studies.iha import subjects
from membership.book.studies.iha.evaluation import Evaluation, table_of
from membership.book.studies.iha.forms import FRACTIONS, KEPT
from membership.book.studies.iha.scores import (
    BESIDE_A_COIN,
    KEYS,
    METRICS,
    OFFLINE,
    ONLINE,
    curve,
    judged,
    measured,
    over_models,
)
from membership.metrics.roc import flagged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def table_1() -> pd.DataFrame:
    """What each attack may know (Table 1), as registered."""
    table = attacks.requirements(allowed())
    table.attrs["note"] = (
        "All attacks that this chapter's evidence allows; the paper's table has LOSS, "
        "LiRA, SIF, L, LiRA-L and IHA."
    )
    return table


def compared_said(table: pd.DataFrame, names: dict[str, str]) -> str:
    """On which data sets one attack's AUC is above another's, their intervals apart."""
    first, second = names
    above, below, open_ = [], [], []
    auc = table[table["metric"] == "AUC"].set_index(["dataset", "attack"])
    for dataset in table["dataset"].unique():
        a, b = auc.loc[(dataset, first)], auc.loc[(dataset, second)]
        apart = above if a["low"] > b["high"] else below if a["high"] < b["low"] else open_
        apart.append(dataset)
    clauses = [f"above {names[second]} on {joined(above)}"] if above else []
    clauses += [f"below {'it' if above else names[second]} on {joined(below)}"] if below else []
    meet = f"on {joined(open_)} the intervals of the two overlap" if open_ else ""
    if not clauses:
        return f"By AUC, {names[first]} next to {names[second]}: {meet}."
    return f"By AUC, {names[first]} is {' and '.join(clauses)}{'; ' + meet if meet else ''}."


TABLE_2 = {"LOSS": "LOSS", "SIF": "SIF", "LiRA": "LiRA", "IHA (Exact)": "IHA"}
TABLE_7 = {"LOSS": "LOSS", "LiRA": "LiRA", "IHA (Ours)": "IHA"}
LOW = METRICS[-1]
FIGURE_1 = ("LOSS", "SIF", "LiRA", "IHA")
GRID = np.logspace(-4, 0, 81)


def figure_1(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """ROC curves at low false positive rates (Figure 1): means over the targets, with intervals."""
    parts = []
    for evaluation in evaluations:
        least = 1 / min(int((~member).sum()) for member in evaluation.member)
        grid = GRID[least <= GRID]
        for name in FIGURE_1:
            key = {"panel": evaluation.label, "series": name}
            parts += curve(key, evaluation.scores(name), evaluation.member, grid, evaluation.units)
    return table_of(parts, evaluations)


def figure_1_said(table: pd.DataFrame) -> str:
    """Which curve is the highest at 1% false positives."""
    at = table[table["fpr"] >= 0.01].groupby(["panel", "series"], sort=False)["tpr"].first()
    best = {panel: at[panel].idxmax() for panel in table["panel"].unique()}
    panels = {attack: [one for one in best if best[one] == attack] for attack in best.values()}
    parts = [f"{attack}'s on {joined(where)}" for attack, where in panels.items()]
    return f"At 1% false positives the highest curve is {joined(parts)}."


def table_2(evaluations: Sequence[Evaluation], whole: Sequence[Evaluation] = ()) -> pd.DataFrame:
    """The paper's main comparison (Table 2), and how good the models are (Section 4.1).

    An AUC's interval is over models (`metrics.summary`), a difference's over records, too
    (`metrics.paired_interval`). Where numbers over every record are there, the rate at 0.1% false
    positives is theirs.
    """
    rows, more = [], {evaluation.label: evaluation for evaluation in whole}
    for evaluation in evaluations:
        squared = evaluation.recipe["loss"] == "squared-error"
        loss = "test loss (MSE)" if squared else "test loss"
        for variable, name in (("test_accuracy", "test accuracy (%)"), ("test_loss", loss)):
            key = {"dataset": evaluation.label, "attack": "(model)", "metric": name}
            rows.append({**key, **over_models(evaluation.outputs[variable].values.tolist())})
        for attack, name in TABLE_2.items():
            rows += evaluation.rows(attack, name)
        rows += [
            evaluation.less("IHA (Exact)", other, TABLE_2) for other in ("LOSS", "SIF", "LiRA")
        ]
    better = {
        tuple(row[key] for key in KEYS): row
        for one in evaluations
        if one.label in more
        for row in _low(one, more[one.label])
    }
    rows = [better.get(tuple(row[key] for key in KEYS), row) for row in rows]
    table = table_of(rows, evaluations)
    for label, attack, metric in better:
        asked = min(int((~truth).sum()) for truth in more[label].member)
        facts = table.attrs["setup"][label].setdefault("asked_more", {})
        facts.setdefault(metric, {})[attack] = asked
    return table


def _low(evaluation: Evaluation, whole: Evaluation) -> list[dict[str, Any]]:
    """The rate at 0.1% false positives over every record, of the attacks that have it there."""
    damping = float(evaluation.by_target[0]["damping"][0])
    names = {"LOSS": "LOSS", "IHA (Exact)": f"IHA, damping {damping:g}"}
    there = [item for item in names.items() if whole.has(item[1])]
    return [row for item in there for row in whole.rates(*item) if row["metric"] == LOW]


def table_2_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 beside the published one; for Purchase-100(S) the paper's Table 7 has the numbers."""
    small = published.reference("iha_table7").replace({"attack": {"IHA (Ours)": "IHA (Exact)"}})
    small = small[(small["dataset"] == "Purchase-100(S)") & small["model"].str.startswith("MLP-2")]
    models = published.reference("iha_sec4_1").assign(attack="(model)")
    printed = [published.reference("iha_table2"), small, models]
    return judged(table, pd.concat(printed))


def table_7(
    main: Sequence[Evaluation], variants: Sequence[Evaluation], deep: Sequence[Evaluation]
) -> pd.DataFrame:
    """LOSS, LiRA and IHA on the last data set and its variants (Table 7).

    The deep one stands at two dampings (D.1).
    """
    evaluations = [main[-1], *variants]
    rows = [
        row
        for evaluation in evaluations
        for item in TABLE_7.items()
        for row in evaluation.rows(*item)
    ]
    for evaluation in deep:
        for attack, damping in subjects.DEEP_DAMPINGS.items():
            if evaluation.has(f"IHA, damping {damping:g}"):
                rows += evaluation.rows(attack, f"IHA, damping {damping:g}")
    return table_of(rows, evaluations)


def table_7_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 7 and Appendix D.1 beside the published numbers."""
    printed = pd.concat([published.reference("iha_table7"), published.reference("iha_appD1")])
    deep = printed["model"].str.startswith("MLP-4")
    printed["dataset"] = printed["dataset"].where(~deep, printed["dataset"] + ", MLP-4")
    return judged(table, printed)


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


def control_1(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """What knowing all other records is worth, and what curvature is (iha-ctl-1)."""
    everyone, rows = "IHA, gradient over D for everyone", []
    for evaluation in evaluations:
        rows += [row for item in CONTROL_1.items() for row in evaluation.rows(*item, METRICS[:2])]
        rows.append(evaluation.less(everyone, "LOSS", CONTROL_1))
    return table_of(rows, evaluations)


_KNOWS, _LACKS = "the others' own gradient", "one gradient for all, or none"
# What an attack is called, and whether it is told the others.
WITH_AND_WITHOUT = {
    "LOSS": ("LOSS", _LACKS),
    "IHA": ("IHA", _KNOWS),
    "IHA, gradient over D for everyone": ("IHA, one gradient for all", _LACKS),
    "residual norm": ("residual norm", _KNOWS),
    "residual norm, gradient over D for everyone": ("residual norm, one gradient for all", _LACKS),
}


def control_1_drawn(table: pd.DataFrame) -> "Figure":
    """Control 1: each attack with what it is told of the other records, and without."""
    shown = table[(table["metric"] == "AUC") & table["attack"].isin(WITH_AND_WITHOUT)]
    shown = shown.assign(
        row=[WITH_AND_WITHOUT[attack][0] for attack in shown["attack"]],
        knowledge=[WITH_AND_WITHOUT[attack][1] for attack in shown["attack"]],
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="knowledge",
        panel="dataset",
        label="AUC",
        **BESIDE_A_COIN,
    )


def control_3(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """LiRA with and without the target among its own references (iha-ctl-3); as `control_1`."""
    among, rows = "LiRA, target among its references", []
    for evaluation in evaluations:
        rows += [row for name in (*ONLINE, *OFFLINE) for row in evaluation.rows(name, name)]
        rows.append(evaluation.less(among, "LiRA", {name: name for name in ONLINE}))
    return table_of(rows, evaluations)


def control_3_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Every online variant beside the published LiRA column of its data set, without verdicts."""
    printed = pd.concat([published.reference("iha_table2"), published.reference("iha_table7")])
    printed = printed[(printed["attack"] == "LiRA") & ~printed["model"].str.startswith("MLP-4")]
    # Table 7 repeats Purchase-100 with other digits; Table 2 is the main table.
    printed = printed.drop_duplicates(KEYS)
    copies = pd.concat([printed.assign(attack=name) for name in ONLINE])
    why = "a variant of LiRA, not the paper's estimator: no verdict"
    return judged(table, copies, unjudged=why)


# The two ways to choose references, and the printed number that tells which was chosen.
LEFT_OUT, PRINTED, AMONG = "target left out", "printed in the paper", "target among its references"


def control_3_drawn(table: pd.DataFrame) -> "Figure":
    """Control 3: LiRA without its target, as printed, and with its target among its references."""
    judged = control_3_judged(table)
    area = judged[judged["metric"] == "AUC"]
    clean = area[area["attack"] == "LiRA"]
    among = area[area["attack"] == f"LiRA, {AMONG}"]
    ends = {
        "low": clean["published"] - clean["spread"],
        "high": clean["published"] + clean["spread"],
    }
    printed = clean.assign(value=clean["published"], **ends).dropna(subset="value")
    rows = pd.concat(
        [clean.assign(row=LEFT_OUT), printed.assign(row=PRINTED), among.assign(row=AMONG)]
    )
    return plots.dots_by_row(
        rows.assign(whose=rows["row"].where(rows["row"] == PRINTED, "this run")),
        "row",
        by="whose",
        panel="dataset",
        label="AUC of LiRA",
        **BESIDE_A_COIN,
    )


KNOWN = {"as the appendix describes": "fraction", "as released": "fraction, released"}


def table_9(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """IHA with a fraction of the other records known (Table 9), and a coin for comparison.

    "as the appendix describes": z is taken out of the known records where it is one of them.
    "as released": g/n is taken away for every member, whether it is known or not. "coin": with
    the fraction's probability the AUC of full knowledge, else that of none.
    """
    rows = []
    for evaluation in evaluations:
        full, none = evaluation.aucs("IHA"), evaluation.aucs("IHA, everyone")
        for fraction in FRACTIONS:
            key = {"dataset": evaluation.label, "fraction": fraction}
            for attack, name in KNOWN.items():
                scores = evaluation.scores(f"{name} {fraction:g}")
                named = {**key, "attack": attack}
                rows += measured(named, scores, evaluation.member, units=evaluation.units)
            mixed = fraction * full + (1 - fraction) * none
            coin = over_models(mixed, 1.0, units=evaluation.units)
            rows.append({**key, "attack": "coin", "metric": "AUC", **coin})
    return table_of(rows, evaluations)


def table_9_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 9 beside the published one, which the released code made."""
    reference = published.reference("iha_table9").rename(columns={"row": "fraction"})
    reference = reference.assign(attack="as released", fraction=reference["fraction"].astype(float))
    return judged(table, reference, [*KEYS, "fraction"])


PAIR = ("IHA", "LiRA")
RATE = 0.05
BOTH = f"{PAIR[0]} and {PAIR[1]}, both at {100 * RATE:g}% FPR"
FALSE, TRUE = "non-members accused (%)", "members accused (%)"
AHEAD = "members accused less non-members accused (points)"
LESS = "members accused, less {attack}'s at that rate (points)"


def control_19(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """iha-ctl-19: IHA and LiRA together, beside each alone at the same false positive rate."""
    rows = []
    for evaluation in evaluations:
        scores = [evaluation.scores(name) for name in PAIR]
        targets = zip(*scores, evaluation.member, strict=True)
        numbers = [together(pair, member, RATE) for *pair, member in targets]
        for metric in numbers[0]:
            values = np.array([number[metric] for number in numbers])
            key = {"dataset": evaluation.label, "attack": BOTH, "metric": metric}
            ends = {"lowest": 0.0, "highest": 100.0} if metric in (FALSE, TRUE) else {}
            rows.append(key | metrics.summary(values, evaluation.units, **ends))
    return table_of(rows, evaluations)


def together(pair: Sequence[FloatArray], member: BoolArray, rate: float) -> dict[str, float]:
    """What both attacks accuse at `rate`, in percent, and what each alone finds at that rate."""
    accused = np.logical_and(*(flagged(score, member, rate) for score in pair))
    false, true = float(accused[~member].mean()), float(accused[member].mean())
    alone = {
        LESS.format(attack=name): 100 * (true - metrics.tpr_on(score, member, np.array([false]))[0])
        for name, score in zip(PAIR, pair, strict=True)
    }
    return {FALSE: 100 * false, TRUE: 100 * true, AHEAD: 100 * (true - false), **alone}


def control_7() -> pd.DataFrame:
    """Numbers that the paper prints twice, differently."""
    return misprints("iha")


def control_7_said(table: pd.DataFrame) -> str:
    return f"{len(table)} pairs of printed numbers that should be one, or in another order."
