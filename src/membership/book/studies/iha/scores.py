"""The chapter's scores, each computed from evidence alone, and what a table says of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics, signals
from membership.arrays import BoolArray, FloatArray
from membership.attacks.forms import sif_from_forms
from membership.attacks.iha import iha_from_forms
from membership.attacks.lira import Choice, lira_variants
from membership.attacks.residual import residual_from_forms
from membership.book import published
from membership.book.exhibits.sentences import joined
from membership.metrics.rate_names import tpr_column

KNOWLEDGE = {
    "": "leave-one-out",
    ", everyone": "everyone",
    ", everyone less own": "everyone-less-own",
}
LEARNT_BY = {"IHA": "published", "IHA*": "regularised"}
"""The corrected attack has a name of its own wherever it appears."""
TERMS = ("loss", "i1", "i2", "i3", "i4")
NORM = "norm of the others' gradient"
ONLINE = {
    "LiRA": ("per-record", False),
    "LiRA, global variance": ("global", False),
    "LiRA, target among its references": ("per-record", True),
    "LiRA, target among its references, global variance": ("global", True),
}
OFFLINE = {"LiRA offline, one-sided": "one", "LiRA offline, two-sided": "two"}

Scores = dict[str, FloatArray]
Forms = dict[str, FloatArray]


def black_box(outputs: xr.Dataset, target: int) -> Scores:
    """What outputs alone tell: LOSS, and LiRA in its variants.

    The reference models are all others but the target's complement. Trained on exactly the records
    that the target has not seen, its errors are the target's turned round (their correlation is
    -0.97 for logistic regression on MNIST), so that it would give the answer away nearly as the
    target itself does. Where a name says so the target is left among its references, as in the
    released code.
    """
    phi, seen = outputs["log_odds"].values.astype(float), outputs["member"].values
    apart = dict(zip(outputs.attrs["targets"], outputs.attrs["complements"], strict=True))
    references = np.delete(np.arange(len(phi)), [target, apart[target]])
    scores = {"LOSS": attacks.malt(loss_of(outputs, target))}
    offline = {name: Choice("offline", sided=sided) for name, sided in OFFLINE.items()}
    for rows, among, more in (
        (references, False, offline),
        (np.append(references, target), True, {}),
    ):
        online = {
            name: Choice(variance=variance)
            for name, (variance, included) in ONLINE.items()
            if included == among
        }
        scores |= lira_variants(phi[target], phi[rows], seen[rows], online | more, even=not among)
    return scores


def loss_of(outputs: xr.Dataset, model: int, records: Any = slice(None)) -> FloatArray:
    """The loss of a model that it was trained to make small."""
    phi = outputs["log_odds"].values[model, records].astype(float)
    return signals.loss_of_log_odds(phi, outputs.attrs["recipe"]["loss"])


def iha(
    forms: Forms, loss: FloatArray, member: BoolArray, recipe: dict, name: str, knowledge: str = ""
) -> attacks.IHAScore:
    """IHA or IHA* from forms, with the recipe that evidence states."""
    return iha_from_forms(
        forms,
        loss,
        member,
        recipe["members"],
        *(recipe[part] for part in ("learning_rate", "momentum", "weight_decay")),
        stationarity=LEARNT_BY[name],
        knowledge=KNOWLEDGE[knowledge],
    )


def white_box(
    forms: dict[str, Forms], norm: FloatArray, loss: FloatArray, member: BoolArray, recipe: dict
) -> Scores:
    """Scores from the forms of one target under the chapter's inverses (see `by_inverse`)."""
    scores: Scores = {"SIF": sif_from_forms(forms["published"])}
    for name, how in LEARNT_BY.items():
        for knowledge in KNOWLEDGE:
            score = iha(forms[how], loss, member, recipe, name, knowledge)
            scores[f"{name}{knowledge}"] = score.score
            if name == "IHA" and not knowledge:
                scores |= {term: getattr(score, term) for term in TERMS}
    scores["IHA, identity"] = iha(plain(forms), loss, member, recipe, "IHA").score
    for knowledge in ("", ", everyone"):
        scores[f"residual norm{knowledge}"] = residual_from_forms(
            forms["identity"], member, recipe["members"], knowledge=KNOWLEDGE[knowledge]
        )
        removed = member if not knowledge else np.zeros_like(member)
        less = np.where(removed, -1.0 / recipe["members"], 0.0)
        scores[f"residual cosine{knowledge}"] = cosine(forms["identity"], norm, less)
    scores["size of the others"] = size_of_others(
        forms["identity"], norm, member, recipe["members"]
    )
    return scores


def plain(forms: dict[str, Forms]) -> Forms:
    """The forms of the identity with all the names that IHA reads: its powers are itself."""
    own, mean = (forms["identity"][name] for name in ("own2", "mean2"))
    return {"own2": own, "own3": own, "mean2": mean, "mean3": mean}


def cosine(identity: Forms, norm: FloatArray, less: FloatArray) -> FloatArray:
    r"""Minus the cosine between :math:`R_0 = \nabla L_1 + \alpha w + \text{less} \cdot g` and g."""
    own, along = identity["own2"], identity["rest2"]
    product = along + less * own
    # R0 squared out; `norm` has the length of the gradient with the weight decay.
    length = np.square(norm[1]) + less * (product + along)
    size = np.sqrt(np.maximum(length, 0.0) * own)
    return -np.divide(product, size, out=np.zeros_like(product), where=size > 0)


def size_of_others(
    identity: Forms, norm: FloatArray, member: BoolArray, n_train: int
) -> FloatArray:
    r"""How far :math:`\|\nabla L_0\|` is from :math:`\|\nabla L_1\|`: it does not look at z."""
    own = np.where(member, -1.0 / n_train, 0.0)
    more = 2 * own * identity["mean2"] + np.square(own) * identity["own2"]
    # The difference of two roots, without cancellation.
    squared = np.maximum(np.square(norm[0]) + more, 0.0)
    return np.abs(more) / (np.sqrt(squared) + norm[0])


def by_inverse(evidence: xr.Dataset, target: int, rows: Any = slice(None)) -> dict[str, Forms]:
    """The forms of one target by the name of the inverse, of the chapter's three in short."""
    short = {"identity": "identity"}
    if len(evidence.attrs["inverses"]) == 3:
        labels = evidence["inverse"].values
        short |= {labels[0]: "published", labels[1]: "regularised"}
    by_name = {}
    for place, label in enumerate(evidence["inverse"].values):
        values = evidence["form"].values[target, place].astype(float)[:, rows]
        terms = zip(evidence["term"].values, values, strict=True)
        kept = {str(term): form for term, form in terms if not np.isnan(form).any()}
        if kept:
            by_name[short.get(label, str(label))] = kept
    return by_name


RATES = {tpr_column(fpr, " (%)"): fpr for fpr in (0.01, 0.001)}
METRICS = ("AUC", *RATES)
KEYS = ("dataset", "attack", "metric")
PAIRED = "AUC, paired difference"
BESIDE_A_COIN: dict[str, Any] = {
    "baseline": 0.5,
    "baseline_label": "a coin",
    "stems": True,
    "told": ".3f",
}
"""How an AUC is drawn: as a bar that begins at a coin's."""


def measured(
    key: dict[str, Any],
    scores: Sequence[FloatArray],
    member: Sequence[BoolArray],
    names: Sequence[str] = METRICS,
    units: Any = None,
) -> list[dict[str, Any]]:
    """One row a metric: the mean over targets with Student's t over independent models."""
    rate = {"asked": sum(int(truth.sum()) for truth in member), "scale": 100.0}
    return [
        {
            **key,
            "metric": name,
            **over_models(
                [number(name, s, m) for s, m in zip(scores, member, strict=True)],
                **({} if name == "AUC" else rate),
                highest=1.0 if name == "AUC" else 100.0,
                units=units,
            ),
        }
        for name in names
    ]


def curve(
    key: dict[str, Any],
    scores: Sequence[FloatArray],
    member: Sequence[BoolArray],
    grid: FloatArray,
    units: Any = None,
) -> list[dict[str, Any]]:
    """One row a false positive rate: the mean true positive rate over targets, as `measured`."""
    pairs = zip(scores, member, strict=True)
    curves = np.stack([metrics.tpr_on(score, truth, grid) for score, truth in pairs], axis=1)
    members = sum(int(truth.sum()) for truth in member)
    rows = []
    for fpr, values in zip(grid, curves, strict=True):
        summary = over_models(values, highest=1.0, units=units, asked=members)
        ends = {name: summary[name] for name in ("low", "high", "n_repeats")}
        rows.append({**key, "fpr": fpr, "tpr": summary["value"], **ends})
    return rows


def over_models(
    values: Sequence[float] | FloatArray,
    highest: float = np.inf,
    lowest: float = 0.0,
    units: Any = None,
    **rate: Any,
) -> dict[str, float]:
    """Summary of one number a model, as the columns of a row.

    `units` says which models are one unit. Without it the models are all, in the order of training:
    every one is followed by that trained on the complementary records (see `experiment.halves`),
    and the two are one unit.
    """
    units = np.arange(len(values)) // 2 if units is None else units
    return metrics.summary(values, units, lowest=lowest, highest=highest, **rate)


def judged(
    table: pd.DataFrame,
    reference: pd.DataFrame | str,
    on: Sequence[str] = KEYS,
    *,
    unjudged: str = "",
) -> pd.DataFrame:
    """Published numbers, or those of a named table, beside ours, each data set by its set-up."""
    reference = published.reference(reference) if isinstance(reference, str) else reference
    parts = [
        reference[reference["dataset"] == setup["published"]].assign(dataset=label)
        for label, setup in table.attrs["setup"].items()
    ]
    return published.compare(
        table, pd.concat(parts, ignore_index=True), list(on), unjudged=unjudged
    )


def signs(table: pd.DataFrame) -> str:
    """Where differences are above 0, below it, and neither."""
    names = table["dataset"]
    sides = {
        "above 0 on": table["low"] > 0,
        "below 0 on": table["high"] < 0,
        "undecided on": (table["low"] <= 0) & (table["high"] >= 0),
    }
    return ", ".join(
        f"{side} {joined(names[at].tolist())}" for side, at in sides.items() if at.any()
    )


def columns(interval: metrics.PairedInterval) -> dict[str, float]:
    """A paired difference as the columns of a row."""
    return {
        "value": interval.difference,
        "low": interval.low,
        "high": interval.high,
        "standard_error": interval.standard_error,
        "degrees_of_freedom": interval.degrees_of_freedom,
        "n_repeats": interval.units,
    }


def number(name: str, score: FloatArray, member: BoolArray) -> float:
    """One of `METRICS` of one target."""
    if name == "AUC":
        return metrics.auc(score, member)
    return 100.0 * metrics.tpr_at_fpr(score, member, RATES[name])


class Compared:
    """AUC of one attack when records and models count with weights, as in a bootstrap.

    Two records drawn from a bootstrap sample can be one and the same, which compares models on
    one record more often than the game does. Pairs of the same record and pairs of different
    records are therefore kept apart, and each keeps the share that it has among all records.

    Parameters
    ----------
    out, ins : ndarray of shape (R, K)
        Scores of the models trained on D', which all records share, and on D' + z.

    Notes
    -----
    The weights of the models on D' are one a model, or (R, K) where records have different D'.
    """

    def __init__(self, out: FloatArray, ins: FloatArray) -> None:
        self.out, self.ins = out, ins
        lower, equal = ins[:, :, None] > out[:, None], ins[:, :, None] == out[:, None]
        self.same = lower + 0.5 * equal
        self.order = np.argsort(out, axis=None)
        ranked = out.ravel()[self.order]
        self.below = [np.searchsorted(ranked, ins, side) for side in ("left", "right")]

    @property
    def ones(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weights of everything as it is."""
        count, n_out = self.out.shape
        return np.ones(count), np.ones((count, self.ins.shape[1])), np.ones(n_out)

    def numbers(self, w: np.ndarray, v: np.ndarray, u: np.ndarray) -> FloatArray:
        """AUC of all records pooled, and the mean over records, by weights or stacks of them.

        Of shapes (..., R), (..., R, K) and (..., K), or (..., R, K) where records have different
        D'; returns (..., 2).
        """
        u = u[..., None, :] if u.ndim == w.ndim else u
        v, u = v / v.sum(-1, keepdims=True), u / u.sum(-1, keepdims=True)
        u = np.broadcast_to(u, (*w.shape, self.out.shape[1]))
        own = np.einsum("rij,...ri->...rj", self.same, v)
        own = (own * u).sum(-1)
        total = w.sum(-1)
        per_record = (w * own).sum(-1) / total
        ranked = (w[..., None] * u).reshape(*w.shape[:-1], -1)[..., self.order].cumsum(-1)
        below = np.concatenate([np.zeros_like(ranked[..., :1]), ranked], axis=-1)
        won = 0.5 * sum(below[..., index] for index in self.below)
        pairs = total**2 - (w**2).sum(-1)
        different = (w[..., None] * v * won).sum((-1, -2)) - (w**2 * own).sum(-1)
        # Of one record alone, drawn again and again, there are no pairs of different ones.
        several = pairs > 0
        different = different / np.where(several, pairs, 1)
        share = np.where(several, 1 / w.shape[-1], 1)
        pooled = share * per_record + (1 - share) * different
        return np.stack([pooled, per_record], axis=-1)
