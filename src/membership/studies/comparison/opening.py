"""What a target's gradients and Hessian say of records: the forms that white-box attacks read."""

from typing import Any

import numpy as np
import torch

from membership import attacks, curvature, training
from membership.attacks.forms import quadratic_forms
from membership.curvature.eigen import spectrum_of
from membership.curvature.objective import objective
from membership.curvature.white_box import views, with_rows
from membership.studies.comparison.trained import World

TERMS = ("own1", "own2", "own3", "mean2", "mean3", "rest2", "rest3")
DAMPING = 0.2
INVERSES: tuple[dict[str, Any], ...] = (
    {
        "label": "published",
        "conditioning": "damping",
        "amount": DAMPING,
        "stationarity": "published",
    },
    {
        "label": "regularised",
        "conditioning": "damping",
        "amount": DAMPING,
        "stationarity": "regularised",
    },
    {"label": "identity", "conditioning": "identity", "amount": 0.0, "stationarity": "published"},
)
# The forms that registered attacks read; the others are not kept.
KEPT = {
    "published": ("own1", "own2", "own3", "mean2", "mean3"),
    "regularised": ("own2", "own3", "rest2", "rest3"),
    "identity": ("own2", "rest2"),
}


def observe(found: World, ensemble: training.Ensemble, target: int) -> dict[str, np.ndarray]:
    """One target's ``form`` (inverse, term, records); of linear models also ``step_product``."""
    module, config = ensemble.module(target), found.config
    inside = found.membership[target]
    train = torch.tensor(found.pool.x[inside]), torch.tensor(found.pool.y[inside])
    query = torch.tensor(found.pool.x), torch.tensor(found.pool.y)
    goal = objective(module, config.loss_of, *train)
    spectrum = spectrum_of(goal, *goal.records(*train))
    damping = max(DAMPING, DAMPING / 2 - 1.1 * float(spectrum.values.min()))
    form = np.full((len(INVERSES), len(TERMS), len(found.pool)), np.nan)
    for view, rows in with_rows(views(goal, train, query, spectrum)):
        for place, one in enumerate(INVERSES):
            how = (one["conditioning"], damping, one["stationarity"])
            each = quadratic_forms(view, spectrum.values, config.weight_decay, *how)
            for term in KEPT[one["label"]]:
                form[place, TERMS.index(term), rows] = each[term]
    seen = {"form": form}
    if found.cell.kind == "logistic":
        seen["step_product"] = _step(found, ensemble, target)
    return seen


def _step(found: World, ensemble: training.Ensemble, target: int) -> np.ndarray:
    """MATT, from the one of two complementary references that was trained without the record."""
    theta, pair = _vector(ensemble.module(target)), found.pair(target)
    query = torch.tensor(found.pool.x), torch.tensor(found.pool.y)
    steps = []
    for reference in map(ensemble.module, pair):
        gradient = curvature.per_record_gradients(reference, found.config.loss_of, *query)
        steps.append(attacks.matt(theta, _vector(reference), gradient))
    return np.where(found.membership[pair[0]], steps[1], steps[0])


def _vector(module: torch.nn.Module) -> np.ndarray:
    return np.concatenate([one.detach().double().numpy().ravel() for one in module.parameters()])
