"""What made the authors' stored pictures of five steps: the inverse, and cropped images."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.decomposition import PCA

from membership import data, evidence, metrics
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir
from membership.book import published
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.audit import glir_scores, members, released_scores
from membership.book.studies.gmip.experiment import Task, origin, task_of
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import observed
from membership.curvature import gradient_moments
from membership.metrics.rate_names import tpr_label

INVERSES = {"right": "paper", "released": "authors"}
RATE = 0.1
QUANTITIES = ("AUC (%)", tpr_label(0.1))
PICTURE = "the authors' picture"
LESS = "found less the picture"
# What training saw, and what the attacker asks.
CASES = {
    "originals": ("clean", "clean"),
    "shifted images": ("shifted", "clean"),
    "shifted images, which the attacker holds": ("shifted", "shifted"),
}
_PRINTED = {"AUC (%)": "AUC", tpr_label(0.1): "TPR at 10% FPR"}


@evidence.version(2)
def released(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: what the released code's inverse finds after all steps."""
    task = task_of(name, settings)
    return evidence.dataset(
        "measured",
        {"found": (("model", "quantity"), released_steps(task, settings))},
        {"quantity": list(QUANTITIES)},
        **origin(task, settings, settings.audit_steps),
        sizes={"Audited models, five steps by the released inverse": str(settings.released_models)},
    )


def released_steps(task: Task, settings: Settings) -> FloatArray:
    """AUC and rate of each audited model after all steps, by the released code's inverse."""
    numbers = []
    for model in range(settings.released_models):
        s = experiment.split(task, settings, model)
        total, n = np.zeros(len(s.queries)), len(s.members)
        for weight in experiment.trajectory(
            task, s.members, settings.audit_steps, settings.seed + model
        ):
            background, queries = (
                experiment.gradients(task, weight, rows) for rows in (s.background, s.queries)
            )
            moments = gradient_moments(background)
            total += glir(queries[:n].mean(axis=0), queries, *moments, n, "authors")
        numbers.append(_numbers(total, np.arange(len(total)) < n))
    return np.array(numbers)


def _numbers(score: FloatArray, member: BoolArray) -> list[float]:
    """AUC and rate of one model, in percent."""
    return [100 * metrics.auc(score, member), 100 * metrics.tpr_at_fpr(score, member, RATE)]


def table(
    audits: Sequence[xr.Dataset], by_release: Sequence[xr.Dataset], settings: Settings
) -> pd.DataFrame:
    """AUC and rate by inverse and by what training saw, beside those read off the pictures."""
    printed = published.table("gmip_text").set_index("quantity")["value"]
    rows: list[dict[str, Any]] = []
    for audit in audits:
        name, member, scores = audit.attrs["set"], members(audit), glir_scores(audit)
        text = f"{scores.shape[1]} steps"
        cells = {
            ("right", text): scores.sum(axis=1),
            ("released", "1 step"): released_scores(audit),
        }
        numbers = {
            cell: np.array([_numbers(score, member) for score in of_models])
            for cell, of_models in cells.items()
        }
        for found in by_release:
            if found.attrs["set"] == name:
                numbers["released", text] = found["found"].values
        key = {"data": name, "training": "originals"}
        for (inverse, steps), values in numbers.items():
            cell = {**key, "inverse": inverse, "steps": steps}
            rows += [{**cell, **row} for row in _beside(values, name, steps == text, printed)]
        rows += [
            {**key, "inverse": PICTURE, "steps": text, "quantity": quantity, **metrics.exactly(at)}
            for quantity in QUANTITIES
            if (at := _stored(printed, name, quantity)) is not None
        ]
    rows += list(_cropped(settings))
    note = (
        "Pictures in the authors' notebook were read off to about 2 points. Cells with shifted "
        "images are scikit-learn's digits; the paper's images take a network trained on others."
    )
    return tidy(rows, observed([*audits, *by_release], note=note))


def table_said(table: pd.DataFrame) -> str:
    """AUC of five steps by either inverse and in the picture; of one step by what training saw."""
    at = table[(table["quantity"] == "AUC (%)") & (table["steps"] != "1 step")]
    parts = []
    for name, part in at.groupby("data", sort=False):
        value = part.set_index("inverse")["value"]
        if "released" in value and len(value) == 3:
            right, released, stored = value[["right", "released", "the authors' picture"]]
            parts.append(
                f"{name}, AUC by the right inverse {right:.1f}, by the released one "
                f"{released:.1f}, in the picture {stored:.0f}%"
            )
    first = table[(table["quantity"] == "AUC (%)") & (table["steps"] == "1 step")]
    digits = first[(first["data"] == "digits") & (first["inverse"] == "right")]
    own = digits.set_index("training")["value"]
    parts.append(
        f"Digits, originals {own['originals']:.1f}, shifted images {own['shifted images']:.1f}%"
    )
    return f"{'. '.join(parts)}."


def _stored(printed: "pd.Series[str]", name: str, quantity: str) -> float | None:
    value = printed.get(f"{_PRINTED[quantity]} {name}")
    return None if value is None else 100 * float(value)


def _beside(
    values: FloatArray, name: str, comparable: bool, printed: "pd.Series[str]"
) -> Iterator[dict[str, Any]]:
    for quantity, of_models in zip(QUANTITIES, values.T, strict=True):
        yield {"quantity": quantity, **metrics.summary(of_models, lowest=0.0, highest=100.0)}
        stored = _stored(printed, name, quantity)
        if comparable and stored is not None:
            yield {"quantity": f"{quantity}, {LESS}", **metrics.summary(of_models - stored)}


def _cropped(settings: Settings) -> Iterator[dict[str, Any]]:
    """Digits after one step: by the inverse, what training saw, and what the attacker holds.

    A shift by up to a pixel each way stands for a random crop.
    """
    views = _views(settings)
    for inverse, convention in INVERSES.items():
        for training, (trained, held) in CASES.items():
            scores = [
                _score(views[trained], views[held], settings, model, convention)
                for model in range(settings.audit_models)
            ]
            member = np.arange(len(scores[0])) < len(scores[0]) // 2
            values = np.array([_numbers(score, member) for score in scores])
            key = {"data": "digits", "training": training, "inverse": inverse, "steps": "1 step"}
            for row in _beside(values, "digits", False, pd.Series(dtype=str)):
                yield {**key, **row}


def _score(
    trained: Task, held: Task, settings: Settings, model: int, convention: str
) -> FloatArray:
    s = experiment.split(trained, settings, model)
    weight = experiment.trajectory(trained, s.members, 1, settings.seed + model)[0]
    published = experiment.gradients(trained, weight, s.members).mean(axis=0)
    moments = gradient_moments(experiment.gradients(held, weight, s.background))
    queries = experiment.gradients(held, weight, s.queries)
    return glir(published, queries, *moments, len(s.members), convention)


def _views(settings: Settings) -> dict[str, Task]:
    """The same digits as they are and shifted, by the same principal components of the pixels."""
    digits, base = data.load("digits"), experiment.task("digits", settings)
    rng = np.random.default_rng([settings.seed, 10])
    order = rng.permutation(len(digits))
    images = digits.x[order, 0].astype(np.float64)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    down, right = rng.integers(3, size=(2, len(images)))
    shifted = np.stack(
        [image[i : i + 8, j : j + 8] for image, i, j in zip(padded, down, right, strict=True)]
    )
    components = PCA(base.recipe.width, whiten=True, random_state=0)
    components.fit(images.reshape(len(images), -1))
    return {
        name: replace(
            base, features=components.transform(view.reshape(len(view), -1)), y=digits.y[order]
        )
        for name, view in (("clean", images), ("shifted", shifted))
    }
