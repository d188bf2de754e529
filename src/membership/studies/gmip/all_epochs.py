"""Gradient and loss attacks on the same models after Table 4's whole training, without noise.

The targets share their asked records and their shadow models. Each model was trained on a random
half of the asked records and always on the same others, so many that it has Table 4's number. All
start from the same weights, and each draws its own random batches. Shadow models come in pairs on
complementary halves. GLiR sees every step of a target and knows the moments of all records that
are not asked.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from membership import attacks, curvature, data, signals
from membership.arrays import BoolArray, FloatArray
from membership.evidence import in_parts
from membership.studies import hinge_laws
from membership.studies.gmip.experiment import Task
from membership.studies.gmip.names import BMIA, GLIR
from membership.studies.gmip.rivals import Scored, by_losses, paired_halves
from membership.studies.gmip.settings import Settings
from membership.studies.gmip.training_promise import Watch
from membership.training.private import initial_weight, residual, with_constant

BLOCKS = 20
"""Of asked records, which intervals draw again as they draw targets."""
_STREAM, _ASKED = 20, 8000


class Pool(NamedTuple):
    """Positions of the records asked, of those that every model sees, and of all not asked."""

    asked: np.ndarray
    always: np.ndarray
    others: np.ndarray

    @property
    def n_records(self) -> int:
        """How many records each model is trained on."""
        return len(self.always) + len(self.asked) // 2


class Models(NamedTuple):
    """Who is trained: the half of each model, the targets first, and what they start from."""

    inside: BoolArray
    targets: int
    seed: int


def pool_of(task: Task, seed: int) -> Pool:
    """Asked records of which each model has half, so that it has Table 4's number in all."""
    total = len(task.y)
    order = np.random.default_rng([seed, _STREAM]).permutation(total)
    size = 2 * (min(_ASKED, total // 5) // 2)
    always = order[size : size + task.recipe.n_records - size // 2]
    return Pool(order[:size], always, order[size:])


def models_of(pool: Pool, settings: Settings) -> Models:
    """Random halves for the targets, and pairs of halves for the shadow models."""
    asked, targets = len(pool.asked), settings.rival_targets
    halves = data.random_halves(targets, asked, settings.seed + _STREAM)
    shadows = paired_halves(settings.n_reference, asked, [settings.seed, _STREAM, 1])
    return Models(np.concatenate([halves, shadows]), targets, settings.seed)


def played(task: Task, settings: Settings) -> tuple[Scored, int]:
    """Scores of every target's asked records, and how many records each model was trained on."""
    pool = pool_of(task, settings.seed)
    models = models_of(pool, settings)
    # A target takes a minute of processor time: a run that was stopped goes on with the next.
    found = in_parts(
        partial(_model, task, pool, models),
        range(len(models.inside)),
        *(task.features, task.y, vars(task.recipe), *pool, *models),
    )
    weights = [torch.from_numpy(of_model["weight"]) for of_model in found]
    targets, inside = models.targets, models.inside
    logits = torch.stack([_logits(task, weight, pool.asked) for weight in weights])
    label = task.y[pool.asked]
    odds, hinge = signals.scaled_logit(logits, None, label), signals.hinge(logits, None, label)
    bayesian = [_predicted(task, pool, inside[m], weights[m]) for m in (targets, targets + 1)]
    # Of the first pair of shadow models each record has one that has not seen it.
    mean, sd = (np.where(inside[targets], *pair[::-1]) for pair in zip(*bayesian, strict=True))
    scores = []
    for target in range(targets):
        of_losses = by_losses(odds[target], odds[targets:], inside[targets:])
        of_bmia = attacks.bmia_from_moments(hinge[target], mean, sd)
        scores.append({GLIR: found[target]["score"], **of_losses, BMIA: of_bmia})
    stacked = {name: np.stack([of_target[name] for of_target in scores]) for name in scores[0]}
    return Scored(stacked, inside[:targets]), pool.n_records


def _model(task: Task, pool: Pool, models: Models, model: int) -> dict[str, np.ndarray]:
    """One softmax layer after all steps; of a target also what GLiR adds up over them."""
    r, rng = task.recipe, np.random.default_rng([models.seed, _STREAM, 2, model])
    x, y = with_constant(task.features), torch.tensor(task.y)
    generator = torch.Generator().manual_seed(models.seed)
    weight = initial_weight(r.classes, x.shape[1], generator)
    watch = None
    if model < models.targets:
        x, weight, share = x.double(), weight.double(), r.batch_size / pool.n_records
        watch = Watch(x, y, pool.others, pool.asked, r.batch_size, share)
    rows = np.concatenate([pool.always, pool.asked[models.inside[model]]])
    optimiser = torch.optim.Adam([weight], lr=r.learning_rate)
    for step in range(r.steps):
        batch = torch.from_numpy(rng.choice(rows, r.batch_size, replace=False))
        of_batch = x[batch]
        weight.grad = residual(weight[None], of_batch, y[batch])[:, 0].T @ of_batch / r.batch_size
        if watch is not None:
            watch.at(step, r.steps, weight, weight.grad)
        optimiser.step()
    score = np.zeros(0) if watch is None else watch.score
    return {"weight": weight.double().numpy(), "score": score}


def _logits(task: Task, weight: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
    return with_constant(task.features[rows]).double() @ weight.T


def _predicted(
    task: Task, pool: Pool, inside: BoolArray, weight: torch.Tensor
) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of the hinge that one shadow model's posterior predicts."""
    rows = np.concatenate([pool.always, pool.asked[inside]])
    scale, shift = weight[:, :-1].numpy(), weight[:, -1].numpy()
    fitted, asked = (
        curvature.LastLayer(task.features[of], _logits(task, weight, of).numpy(), scale, shift)
        for of in (rows, pool.asked)
    )
    law = hinge_laws.posterior_of(fitted, task.y[rows])
    return hinge_laws.closed_form(law, asked, task.y[pool.asked])
