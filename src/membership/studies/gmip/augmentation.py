"""What an attacker loses who does not know how training changed the images (Control 7)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from membership import data
from membership.arrays import FloatArray
from membership.attacks.glir import glir
from membership.curvature import gradient_moments
from membership.exhibits.tidy import tidy
from membership.studies.gmip import curves
from membership.studies.gmip.observations import split, trajectory
from membership.studies.gmip.origin import computed
from membership.studies.gmip.tasks import Task, task
from membership.training.private import record_gradients

CASES = (("clean", "clean"), ("shifted", "shifted"), ("shifted", "clean"))


def augmentation(settings: Any) -> pd.DataFrame:
    """GLiR where training saw shifted images and the attacker holds the originals.

    On scikit-learn's digits; a shift by up to a pixel each way stands for a random crop. The
    features are principal components of the pixels.
    """
    views = _views(settings)
    rows = []
    for training, queries in CASES:
        scores = [
            _score(views[training], views[queries], settings, model)
            for model in range(settings.audit_models)
        ]
        member = np.arange(len(scores[0])) < len(scores[0]) // 2
        rows.append(curves.area({"training": training, "queries": queries}, scores, member))
    return tidy(
        rows,
        computed(data=views["clean"].digests, sizes={"Audited models": str(settings.audit_models)}),
    )


def _score(trained: Task, held: Task, settings: Any, model: int) -> FloatArray:
    s = split(trained, settings, model)
    weight = trajectory(trained, s.members, 1, settings.seed + model)[0]

    def gradients(view: Task, records: np.ndarray) -> FloatArray:
        return record_gradients(weight, view.features[records], view.y[records])

    published = gradients(trained, s.members).mean(axis=0)
    moments = gradient_moments(gradients(held, s.background))
    queries = gradients(held, s.queries)
    return glir(published, queries, *moments, len(s.members))


def _views(settings: Any) -> dict[str, Task]:
    """The same records as they are and shifted, through the same feature map."""
    digits, base = data.load("digits"), task("digits", settings)
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
