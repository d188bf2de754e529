"""What is observed of softmax layers: single steps, log-odds after many, accuracies under noise.

Every audited model is a softmax layer trained on one batch: its n members, all at every step
(Table 3). The attacker sees each step's mean gradient, knows the parameters before it, and has
other records of the same kind to estimate the gradients' moments on.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.attacks.glir import released_distances
from membership.curvature import gradient_moments, whitening
from membership.studies.gmip.tasks import Task
from membership.training.private import (
    PrivateConfig,
    initial_weight,
    record_gradients,
    residual,
    train_softmax_layers,
    with_constant,
)

SGD_LEARNING_RATE = 0.1


@dataclass(frozen=True)
class Split:
    """One audited model's records, as positions: its members, as many others, the background."""

    members: np.ndarray
    others: np.ndarray
    background: np.ndarray

    @property
    def queries(self) -> np.ndarray:
        """The records asked about, members first."""
        return np.concatenate([self.members, self.others])


def split(task: Task, settings: Any, model: int) -> Split:
    """Members and background from the training records, others from the test records."""
    rng = np.random.default_rng([settings.seed, 9, model])
    n = task.batch
    train = task.n_test + rng.permutation(task.recipe.n_records)
    left = train[n:]
    size = min(settings.n_background, len(left))
    return Split(train[:n], rng.choice(task.n_test, n, replace=False), left[:size])


def trajectory(task: Task, members: np.ndarray, steps: int, seed: int) -> list[FloatArray]:
    """Weights of shape (classes, width + 1) before each of several steps of Adam on one batch."""
    generator = torch.Generator().manual_seed(seed)
    weight = initial_weight(task.recipe.classes, task.recipe.width + 1, generator).double()
    optimiser = torch.optim.Adam([weight], lr=task.recipe.learning_rate)
    before = []
    for _ in range(steps):
        before.append(weight.numpy().copy())
        gradient = record_gradients(before[-1], task.features[members], task.y[members])
        weight.grad = torch.as_tensor(gradient.mean(axis=0)).view(weight.shape)
        optimiser.step()
    return before


def steps_of(task: Task, s: Split, settings: Any, model: int) -> dict[str, np.ndarray]:
    """GLiR's two numbers of each record at every step of one model, and the gradients' spectrum."""
    n, d = len(s.members), task.dimension
    steps: dict[str, list] = {"distance": [], "susceptibility": [], "eigenvalue": []}
    found: dict[str, Any] = {}
    for weight in trajectory(task, s.members, settings.audit_steps, settings.seed + model):
        back = record_gradients(weight, task.features[s.background], task.y[s.background])
        x = record_gradients(weight, task.features[s.queries], task.y[s.queries])
        moments = gradient_moments(back)
        root = whitening(moments.covariance)
        # Members come first among the queries: their mean is what the step publishes.
        rotated = (x - moments.mean) @ root
        steps["distance"].append(np.square(rotated - rotated[:n].mean(axis=0)).sum(axis=1))
        steps["susceptibility"].append(np.square(rotated).sum(axis=1))
        eigenvalues = np.sort(1 / np.square(root).sum(axis=0))[::-1]
        steps["eigenvalue"].append(np.pad(eigenvalues, (0, d - len(eigenvalues))))
        if not found:
            released = released_distances(x[:n].mean(axis=0), x, *moments)
            found = dict(
                zip(("released_distance", "released_susceptibility"), released, strict=True)
            )
            found["largest_norm"] = np.linalg.norm(back, axis=1).max()
    return found | {name: np.array(values) for name, values in steps.items()}


def log_odds(
    task: Task, pool: np.ndarray, mask: np.ndarray, steps: int, seed: int, start: str = "shared"
) -> FloatArray:
    """Train on each row of the mask, its whole batch at every step; log-odds (models, records).

    The models start from the same weights ("shared"), or each from its own ("own").
    """
    x = with_constant(task.features[pool])
    y = torch.tensor(task.y[pool])
    generator = torch.Generator().manual_seed(seed)
    starts = [
        initial_weight(task.recipe.classes, x.shape[1], generator)
        for _ in range(len(mask) if start == "own" else 1)
    ]
    weight = torch.stack(starts).repeat(len(mask) // len(starts), 1, 1)
    share = torch.tensor(mask.T / mask.sum(axis=1), dtype=torch.float32)[..., None]
    optimiser = torch.optim.Adam([weight], lr=task.recipe.learning_rate)
    for _ in range(steps):
        r = residual(weight, x, y) * share
        weight.grad = (r.flatten(1).T @ x).view(weight.shape)
        optimiser.step()
    logits = torch.einsum("np,rcp->rnc", x.double(), weight.double())
    index = y[None, :, None].expand(len(mask), -1, 1)
    others = logits.scatter(2, index, -torch.inf).logsumexp(dim=2)
    return (logits.gather(2, index)[..., 0] - others).numpy()


def accuracies(
    task: Task,
    taus: list[float],
    settings: Any,
    kind: str,
    optimiser: str = "adam",
    clip: float | None = None,
) -> FloatArray:
    """Test accuracy in percent, one row a noise level and one column a seed."""
    r = task.recipe
    rate = r.learning_rate if optimiser == "adam" else SGD_LEARNING_RATE
    config = PrivateConfig(r.epochs, r.batch_size, rate, clip or r.clip, optimiser, kind)
    x, y = task.features[task.train], task.y[task.train]
    queries = with_constant(task.features[: task.n_test]).numpy()
    truth = task.y[: task.n_test]
    rows = []
    for repeat in range(settings.utility_seeds):
        seed = 1000 * settings.seed + repeat
        weight = train_softmax_layers(x, y, r.classes, config, taus, seed, settings.device)
        logits = np.einsum("np,rcp->rnc", queries, weight, optimize=True)
        rows.append(100 * (logits.argmax(axis=2) == truth).mean(axis=1))
    return np.array(rows).T
