"""The score taken apart: its terms, and one choice at a time, the others kept fixed.

Table 4, terms against the loss (iha-ctl-21), the corrected attack (iha-ctl-4), and what each
choice is worth (iha-ctl-11 to 13).
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import spearmanr

from membership import metrics, plots
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.iha import subjects
from membership.book.studies.iha.evaluation import Evaluation, table_of
from membership.book.studies.iha.forms import DAMPINGS, ELSEWHERE
from membership.book.studies.iha.scores import (
    BESIDE_A_COIN,
    LEARNT_BY,
    Forms,
    Scores,
    by_inverse,
    columns,
    iha,
    loss_of,
    measured,
    over_models,
    plain,
    signs,
)
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import BELOW, RANKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
# Appendix C.2 speaks of these, of the last two above all.
AGAINST_LOSS = {
    name: terms
    for name, terms in (TERMS | {"IHA[I3]": ("i3",), "IHA[I4]": ("i4",)}).items()
    if "loss" not in terms or len(terms) == len(TERMS["IHA[All]"])
}
ASKED = {"all": lambda member: member | ~member, "members": np.copy, "others": np.invert}


def table_4(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Which terms of the score carry the signal (Table 4); columns as `table_2`."""
    rows = []
    for evaluation in evaluations:
        for attack, terms in TERMS.items():
            scores = [_summed(terms, scored, evaluation.recipe) for scored in evaluation.by_target]
            key = {"dataset": evaluation.label, "attack": attack}
            rows += measured(key, scores, evaluation.member, units=evaluation.units)
    return table_of(rows, evaluations)


def table_4_said(table: pd.DataFrame) -> str:
    """The two inverse-Hessian products beside all terms."""
    auc = table[table["metric"] == "AUC"].set_index(["dataset", "attack"])["value"]
    shares = [
        (auc[name, "IHA[I1,I2]"] - 0.5) / (auc[name, "IHA[All]"] - 0.5)
        for name in table["dataset"].unique()
        if auc[name, "IHA[All]"] > 0.5
    ]
    if not shares:
        return ""
    return (
        f"Of what IHA's AUC exceeds one half by, the first two terms alone reach {min(shares):.0%} "
        f"to {max(shares):.0%}."
    )


def _summed(terms: Sequence[str], scored: Scores, recipe: dict[str, Any]) -> FloatArray:
    """Terms of one target added up, each signed and weighed as in the score."""
    weights = {"loss": 1 / (1 + recipe["momentum"])}
    return np.sum(
        [weights.get(term, -1 / recipe["learning_rate"]) * scored[term] for term in terms], axis=0
    )


def control_21(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Spearman's correlation of each term, and of the score, with the loss (iha-ctl-21).

    Over the records of each target, terms being signed as in the score; and the share of records
    where they are below 0. Appendix C.2 derives the score to be minus the loss times a positive
    factor, which may differ from record to record.
    """
    rows = []
    for evaluation in evaluations:
        targets = list(zip(evaluation.by_target, evaluation.member, strict=True))
        for (attack, terms), records in itertools.product(AGAINST_LOSS.items(), ASKED):
            numbers = [
                against_loss(
                    _summed(terms, scored, evaluation.recipe), scored["loss"], ASKED[records](truth)
                )
                for scored, truth in targets
            ]
            key = {"dataset": evaluation.label, "attack": attack, "records": records}
            ranks, below = np.transpose(numbers)
            of_ranks = over_models(ranks, 1.0, -1.0, evaluation.units)
            of_below = over_models(below, 100.0, units=evaluation.units)
            rows += [{**key, "metric": RANKS, **of_ranks}, {**key, "metric": BELOW, **of_below}]
    return table_of(rows, evaluations)


def against_loss(score: FloatArray, loss: FloatArray, kept: BoolArray) -> tuple[float, float]:
    """A score's rank correlation with the loss over some records, and its share below 0 in %."""
    score, loss = score[kept], loss[kept]
    return float(spearmanr(score, loss)[0]), 100 * float((score < 0).mean())


def _above(key: dict[str, str], values: Sequence[np.ndarray], damping: float) -> list[dict]:
    """How many eigenvalues of the targets' Hessians are above the damping."""
    above = [float((eigenvalues > damping).sum()) for eigenvalues in values]
    share = [float((eigenvalues > damping).mean()) for eigenvalues in values]
    return [
        {**key, "quantity": "eigenvalues above the damping", **over_models(above)},
        {**key, "quantity": "as a share of all", **over_models(share, 1.0)},
    ]


def control_4(evaluations: Sequence[Evaluation], settings: Settings) -> pd.DataFrame:
    """The corrected attack beside the published one, and why it differs (iha-ctl-4)."""
    rows = []
    for evaluation in evaluations:
        key, units = {"dataset": evaluation.label}, evaluation.units
        aucs = {f"AUC of {name}": evaluation.aucs(name) for name in LEARNT_BY}
        rows += of_each(key, "quantity", aucs, units=units, lowest=0.0, highest=1.0)
        less = over_models(aucs["AUC of IHA*"] - aucs["AUC of IHA"], 1.0, -1.0, units=units)
        rows.append({**key, "quantity": "AUC, IHA* less IHA", **less})
        lengths = zip(subjects.LENGTHS, np.transpose(evaluation.scores("norms")), strict=True)
        rows += of_each(key, "quantity", dict(lengths), units=units, lowest=0.0)
        if evaluation.has("eigenvalues"):
            rows += _above(key, evaluation.scores("eigenvalues"), settings.damping)
    return table_of(rows, evaluations)


def control_4_said(table: pd.DataFrame) -> str:
    """What the weight decay adds to IHA, paired by target."""
    gains = table[table["quantity"] == "AUC, IHA* less IHA"]
    return f"AUC of IHA* less IHA, paired by target: {signs(gains)}."


def control_4_drawn(table: pd.DataFrame) -> "Figure":
    """Control 4: the published score beside the one with the weight decay."""
    scores = {f"AUC of {score}": score for score in ("IHA", "IHA*")}
    shown = table[table["quantity"].isin(scores)]
    return plots.dots_by_row(
        shown.assign(score=shown["quantity"].map(scores)),
        "dataset",
        by="score",
        label="AUC",
        **BESIDE_A_COIN,
    )


# A version has these or not. What stands in for each: the identity, the gradient of the loss
# alone, no loss term, and the gradient over D for everyone.
FACTORS = ("curvature", "weight decay", "loss term", "knowledge")
EVERY = list(itertools.product((True, False), repeat=len(FACTORS)))
# Over dampings: without the loss term, which takes over where the damping is large.
OVER_DAMPINGS = (
    ("curvature", (True, False, False, True)),
    ("curvature", (True, True, False, True)),
    ("weight decay", (True, True, False, True)),
    ("knowledge", (True, False, False, True)),
    ("knowledge", (True, True, False, True)),
)
# One gradient for members and others: the adversary knows D, and not whether z is to be taken out.
MASKED = {
    f"{name}, gradient over D for everyone": f"{name}, everyone"
    for name in ("IHA", "IHA*", "residual norm")
}
# What parameters tell of a record without any gradient of the others.
ALONE = ("gradient norm", "SIF", "length of the Newton step", "gradient against the weights")
RESAMPLES = 200

Version = tuple[bool, ...]


def versions(
    published: Forms,
    regularised: Forms,
    identity: Forms,
    loss: FloatArray,
    member: BoolArray,
    recipe: dict,
) -> dict[Version, FloatArray]:
    """The score of every version (see `FACTORS`) for one target."""
    rest = dict.fromkeys(("rest2", "rest3"), identity["rest2"])
    flat = {**plain({"identity": identity}), **rest}
    by_version = {}
    for curved, decay, term, known in EVERY:
        forms = (regularised if decay else published) if curved else flat
        name, knowledge = "IHA*" if decay else "IHA", "" if known else ", everyone"
        score = iha(forms, loss, member, recipe, name, knowledge)
        steps = -(score.i1 + score.i2 + score.i3 + score.i4)
        by_version[curved, decay, term, known] = score.score if term else steps
    return by_version


def control_11(evaluations: Sequence[Evaluation], evidence: Sequence[xr.Dataset]) -> pd.DataFrame:
    """What each choice is worth, the three others fixed, at the chapter's damping (iha-ctl-11)."""
    rows = []
    for evaluation, forms in zip(evaluations, evidence, strict=True):
        by_target = [
            versions(
                *(kept[name] for name in ("published", "regularised", "identity")),
                loss_of(evaluation.outputs, target),
                evaluation.member[place],
                evaluation.recipe,
            )
            for place, target, kept in _targets(evaluation, forms)
        ]
        numbers = {
            version: auc([part[version] for part in by_target], evaluation.member, evaluation.units)
            for version in EVERY
        }
        for place, factor in enumerate(FACTORS):
            for version in [version for version in EVERY if version[place]]:
                key = {"dataset": evaluation.label, "contrast": _contrast(factor, version)}
                key |= {"factor": factor, "metric": "AUC"}
                rows.append({**key, **_less(numbers, version, place)})
    return tidy(rows, _about(evaluations))


def control_11_said(table: pd.DataFrame) -> str:
    """What curvature is worth to those who know the others, with and without the weight decay."""
    return " ".join(
        f"What curvature adds {decay} weight decay, loss left out: "
        f"{signs(table[table['contrast'] == f'curvature: {decay} decay, without the loss'])}."
        for decay in ("with", "without")
    )


def control_12(
    evaluations: Sequence[Evaluation], evidence: Sequence[xr.Dataset], sweeps: Sequence[xr.Dataset]
) -> pd.DataFrame:
    """The same at every damping, on the fewer records of the sweep (iha-ctl-12)."""
    rows = []
    for evaluation, forms, sweep in zip(evaluations, evidence, sweeps, strict=True):
        at = np.searchsorted(forms["query"].values, sweep["query"].values)
        member = list(sweep["member"].values)
        swept = [by_inverse(sweep, place) for place, _, _ in _targets(evaluation, forms)]
        flat = [kept["identity"] for _, _, kept in _targets(evaluation, forms, at)]
        losses = [loss_of(evaluation.outputs, target, at) for target in evaluation.attrs["targets"]]
        for damping in DAMPINGS:
            names = (f"damping {damping:g}", f"damping {damping:g}, regularised")
            if not all(name in inverses for inverses in swept for name in names):
                continue
            by_target = [
                versions(*(inverses[name] for name in names), plain, loss, truth, evaluation.recipe)
                for inverses, plain, loss, truth in zip(swept, flat, losses, member, strict=True)
            ]
            numbers: dict[Version, metrics.Resampled] = {}
            for factor, version in OVER_DAMPINGS:
                place = FACTORS.index(factor)
                for variant in (version, _without(version, place)):
                    if variant not in numbers:
                        numbers[variant] = auc(
                            [part[variant] for part in by_target], member, evaluation.units
                        )
                key = {"panel": evaluation.label, "damping": damping}
                # None has the loss term: in the picture that goes without saying.
                series = _contrast(factor, version).removesuffix("without the loss").rstrip(" ,:")
                rows.append({**key, "series": series, **_less(numbers, version, place)})
    return tidy(rows, _about(evaluations))


def control_12_said(table: pd.DataFrame) -> str:
    """At how many dampings each contrast is above 0."""
    intervals = table.groupby("series", sort=False)["low"]
    parts = [f"{name.replace(':', '')} {int((low > 0).sum())}" for name, low in intervals]
    return f"Intervals above 0, of {intervals.size().max()} each: {', '.join(parts)}."


def control_13(
    evaluations: Sequence[Evaluation], evidence: Sequence[xr.Dataset], whole: Sequence[Evaluation]
) -> pd.DataFrame:
    """Parameters without the others beside the loss, paired (iha-ctl-13).

    IHA itself, with something else for the gradient of the others, is asked about every record.
    """
    rows = []
    whole_by_label = {evaluation.label: evaluation for evaluation in whole}
    for evaluation, forms in zip(evaluations, evidence, strict=True):
        by_target = [alone(kept) for _, _, kept in _targets(evaluation, forms)]
        loss = auc(evaluation.scores("LOSS"), evaluation.member, evaluation.units)
        scored = {name: evaluation.scores(masked) for name, masked in MASKED.items()}
        scored |= {name: [part[name] for part in by_target] for name in ALONE}
        for name, scores in scored.items():
            own = auc(scores, evaluation.member, evaluation.units)
            key = {"dataset": evaluation.label, "attack": name, "metric": "AUC, less that of LOSS"}
            rows.append({**key, "AUC": own.value.mean(), **columns((own + loss * -1.0).interval())})
        if evaluation.label in whole_by_label:
            rows += _elsewhere(whole_by_label[evaluation.label])
    notes = [
        f"{evaluation.label}, IHA: all {evaluation.attrs['pool']:,} records asked"
        for evaluation in whole
    ]
    return tidy(rows, _about(evaluations, *notes))


def control_13_said(table: pd.DataFrame) -> str:
    """How often attacks on parameters alone are ahead of the loss, and the largest lead."""
    ahead = table[table["low"] > 0]
    if ahead.empty:
        return "None is ahead of LOSS."
    most = ahead.loc[ahead["value"].idxmax()]
    return (
        f"{len(ahead)} of {len(table)} differences to LOSS are above 0, the largest in AUC "
        f"{most['value']:+.4f} ({most['attack']} on {most['dataset']})."
    )


def _elsewhere(evaluation: Evaluation) -> list[dict[str, Any]]:
    """IHA of who has no gradient of the others, less LOSS: over the targets, all records asked."""
    rows = []
    for name in filter(evaluation.has, ELSEWHERE):
        own = evaluation.numbers(name)
        apart = metrics.summary(own - evaluation.numbers("LOSS"), evaluation.units)
        key = {"dataset": evaluation.label, "attack": name, "metric": "AUC, less that of LOSS"}
        rows.append({**key, "AUC": own.mean(), **apart})
    return rows


def alone(kept: dict[str, Forms]) -> Scores:
    """Scores of `ALONE` from the forms of one target."""
    identity, published = kept["identity"], kept["published"]
    return {
        "gradient norm": -np.sqrt(identity["own2"]),
        "SIF": -published["own1"],
        "length of the Newton step": -np.sqrt(published["own2"]),
        # Members' gradients sum to minus the weight decay, where a model has converged.
        "gradient against the weights": identity["mean2"] - identity["rest2"],
    }


def _targets(evaluation: Evaluation, forms: xr.Dataset, rows: Any = slice(None)):
    for place, target in enumerate(evaluation.attrs["targets"]):
        yield place, target, by_inverse(forms, place, rows)


def auc(
    scores: Sequence[FloatArray], member: Sequence[BoolArray], units: np.ndarray
) -> metrics.Resampled:
    """The AUC of each unit of targets, and under resamples of the records."""
    resampled = metrics.resampled("auc", np.stack(scores), np.stack(member), resamples=RESAMPLES)
    kept, units, size = np.unique(units, return_inverse=True, return_counts=True)
    merge = np.equal.outer(np.arange(len(kept)), units) / size[:, None]
    return metrics.Resampled(merge @ resampled.value, merge @ resampled.under)


def _without(version: Version, place: int) -> Version:
    return (*version[:place], False, *version[place + 1 :])


def _less(numbers: dict[Version, Any], version: Version, place: int) -> dict[str, float]:
    """A version less the one without a factor, with the AUC of both."""
    first, second = numbers[version], numbers[_without(version, place)]
    aucs = {"AUC with it": first.value.mean(), "AUC without it": second.value.mean()}
    return {**aucs, **columns((first + second * -1.0).interval())}


def _contrast(factor: str, version: Version) -> str:
    """A factor and what the two versions share, in words."""
    curved, decay, term, known = version
    words = {
        "curvature": "" if curved else "with the identity",
        "weight decay": "with decay" if decay else "without decay",
        "loss term": "with the loss" if term else "without the loss",
        "knowledge": "" if known else "one gradient for everyone",
    }
    shared = [text for name, text in words.items() if text and name != factor]
    return f"{factor}: {', '.join(shared)}"


def _about(evaluations: Sequence[Evaluation], *more: str) -> dict[str, Any]:
    statements = [
        f"{evaluation.label}: a target and its complement are one unit"
        for evaluation in evaluations
    ]
    sizes = {evaluation.label: evaluation.size for evaluation in evaluations}
    return origin(evaluations, *statements, *more, named=True, sizes=sizes)
