"""The experiment: fixed features of a data set, one softmax layer, and what is observed of it.

Every audited model is a softmax layer trained on one batch: its n members, all at every step
(Table 3). The attacker sees each step's mean gradient, knows the parameters before it, and has
other records of the same kind to estimate the gradients' moments on.
"""

import math
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
import xarray as xr
from sklearn.decomposition import PCA

from membership import data, evidence, models, training
from membership.arrays import FloatArray
from membership.attacks.glir import released_distances
from membership.book.studies.gmip.settings import (
    NAMES,
    RECIPES,
    Recipe,
    Settings,
    fitted_to,
    own_recipe,
)
from membership.curvature import gradient_moments, whitening
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
class Task:
    """A softmax layer to train.

    Attributes
    ----------
    name : str
        Of the data set, as the tables name it.
    features : numpy.ndarray of float64, shape (records, width)
        Standardised.
    y : numpy.ndarray of int64, shape (records,)
    n_test : int
        The first records are for testing, the others for training.
    recipe : Recipe
        Sizes as used here.
    published : str
        The paper's name for the data set, where it is one of the paper's; else empty.
    digests : dict
    deviations : tuple of str
    """

    name: str
    features: FloatArray
    y: np.ndarray
    n_test: int
    recipe: Recipe
    published: str
    digests: dict[str, str]
    deviations: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """Number of parameters d of the softmax layer."""
        return self.recipe.dimension

    @property
    def batch(self) -> int:
        """Members n of an audited model; the others come from the test records."""
        return min(self.recipe.audit_batch, self.n_test)

    @property
    def train(self) -> slice:
        """The records to train on."""
        return slice(self.n_test, self.n_test + self.recipe.n_records)

    @property
    def steps(self) -> int:
        """Steps T of the utility study."""
        return self.recipe.steps


def task(name: str, settings: Settings) -> Task:
    """Load one data set and its fixed features, ready to train on."""
    loaded = data.load(name, root=settings.data_root or None)
    rng = np.random.default_rng([settings.seed, 1])
    if loaded.name == "purchase_like":
        parts = _purchase(loaded, settings)
    elif loaded.name == "cifar10":
        parts = _cifar(loaded, settings)
    else:
        parts = _random_features(loaded, rng)
    x, y, recipe, digests, deviations = parts
    order = rng.permutation(len(y))
    x, y = _standardised(x[order]), y[order]
    n_test = min(recipe.n_test, len(y) // 5)
    recipe, cuts = fitted_to(recipe, len(y) - n_test, recipe.label == "")
    return Task(
        name=NAMES.get(loaded.name, loaded.name),
        features=x,
        y=y,
        n_test=n_test,
        recipe=recipe,
        published=recipe.label,
        digests={loaded.name: loaded.digest, **digests},
        deviations=(*deviations, *cuts),
    )


# A data set with its features is made once for the files of it.
task_of = lru_cache(maxsize=4)(task)


def origin(task: Task, settings: Settings, steps: int = 0, device: str = "cpu") -> dict[str, Any]:
    """What every file says of its data set and network; audits take all members at every step."""
    audited = {"batch_size": task.batch, "n_records": task.batch, "epochs": steps}
    return {
        "set": task.name,
        "data": task.digests,
        "recipe": asdict(task.recipe) | (audited if steps else {}),
        "published": task.published,
        "deviations": list(task.deviations),
        "device": device,
        "seed": settings.seed,
    }


def audited(settings: Settings) -> dict[str, str]:
    """How many models are audited, as a file of them says it."""
    return {"Audited models": f"{settings.audit_models} (paper: 5)"}


def _random_features(loaded: data.Dataset, rng: np.random.Generator):
    """The paper's network for Adult: a frozen random layer with tanh, on standardised columns."""
    flat = _standardised(loaded.x.reshape(len(loaded.x), -1).astype(np.float64))
    published = RECIPES.get(loaded.name)
    deviations = [] if published else [f"{loaded.name} is none of the paper's data sets"]
    recipe = published or own_recipe(len(flat), loaded.n_classes)
    bound = 1 / math.sqrt(flat.shape[1])
    weight = rng.uniform(-bound, bound, (flat.shape[1], recipe.width))
    bias = rng.uniform(-bound, bound, recipe.width)
    return np.tanh(flat @ weight + bias), loaded.y, recipe, {}, deviations


def _purchase(loaded: data.Dataset, settings: Settings):
    """The paper's network: trained on 80 classes, its last hidden layer used for the other 20."""
    by_size = np.argsort(-np.bincount(loaded.y, minlength=loaded.n_classes), kind="stable")
    used, others = (data.keep_classes(loaded, c.tolist()) for c in (by_size[:20], by_size[20:]))
    config = training.TrainingConfig(
        epochs=settings.pretrain_epochs, batch_size=128, learning_rate=1e-3, optimiser="adam"
    )
    factory = partial(models.mlp, loaded.x.shape[1], (1024, 128), others.n_classes, "tanh")
    everyone = np.ones((1, len(others)), dtype=bool)
    seeds, device = [settings.seed], settings.device
    trained = training.train(factory, others, everyone, config, seeds, device=device)
    deviations = ["simulated Purchase-like records", "no dropout in the pre-trained network"]
    features = _hidden(trained.module(0), used.x)
    return features, used.y, RECIPES["purchase_like"], {}, deviations


def _cifar(loaded: data.Dataset, settings: Settings):
    """A network trained on CIFAR-100, its last layer's inputs brought to 64 by PCA."""
    source, epochs = data.load("cifar100_20k", settings.data_root or None), settings.pretrain_epochs
    config = training.TrainingConfig(
        epochs=epochs,
        batch_size=128,
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
    )
    factory = partial(models.resnet, 18, source.n_classes, stem="imagenet")
    split = source.official_train
    rows = np.ones(len(source), dtype=bool) if split is None else split
    seeds, device = [settings.seed], settings.device
    trained = training.train(factory, source, rows[None], config, seeds, device=device)
    recipe = RECIPES["cifar10"]
    features = _hidden(trained.module(0), loaded.x)
    reduced = PCA(recipe.width, random_state=0).fit_transform(features)
    deviations = [
        f"ResNet-18 trained {epochs} epochs on 20,000 records of CIFAR-100, 64 "
        "principal components (the paper: ResNet-56 trained on all of it)"
    ]
    return reduced, loaded.y, recipe, {source.name: source.digest}, deviations


def _hidden(network: Any, x: np.ndarray) -> FloatArray:
    with torch.no_grad():
        parts = [network.features(part) for part in torch.tensor(x).split(512)]
    return torch.cat(parts).double().numpy()


def _standardised(x: FloatArray) -> FloatArray:
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)


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


def split(task: Task, settings: Settings, model: int, n_background: int | None = None) -> Split:
    """Members and background from the training records, others from the test records."""
    rng = np.random.default_rng([settings.seed, 9, model])
    n = task.batch
    train = task.n_test + rng.permutation(task.recipe.n_records)
    rest = train[n:]
    size = min(settings.n_background if n_background is None else n_background, len(rest))
    return Split(train[:n], rng.choice(task.n_test, n, replace=False), rest[:size])


def trajectory(task: Task, members: np.ndarray, steps: int, seed: int) -> list[FloatArray]:
    """Weights of shape (classes, width + 1) before each of several steps of Adam on one batch."""
    generator = torch.Generator().manual_seed(seed)
    weight = initial_weight(task.recipe.classes, task.recipe.width + 1, generator).double()
    optimiser = torch.optim.Adam([weight], lr=task.recipe.learning_rate)
    before = []
    for _ in range(steps):
        before.append(weight.numpy().copy())
        mean = gradients(task, before[-1], members).mean(axis=0)
        weight.grad = torch.as_tensor(mean).view(weight.shape)
        optimiser.step()
    return before


def gradients(task: Task, weight: FloatArray, rows: np.ndarray) -> FloatArray:
    """Of some records at some weights, (records, d)."""
    return record_gradients(weight, task.features[rows], task.y[rows])


def two_numbers(whitened: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """D^2 and K of each record; the first n are members, whose mean is what a step publishes."""
    distance = np.square(whitened - whitened[:n].mean(axis=0)).sum(axis=1)
    return distance, np.square(whitened).sum(axis=1)


def steps(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: GLiR's numbers at every step of some models, each with its own records."""
    task = task_of(name, settings)
    splits = [split(task, settings, model) for model in range(settings.audit_models)]
    of_models = [steps_of(task, s, settings, model) for model, s in enumerate(splits)]
    n, n_background = task.batch, len(splits[0].background)
    return evidence.dataset(
        "steps",
        {
            **{key: np.stack([of_model[key] for of_model in of_models]) for key in of_models[0]},
            "row": np.stack([s.queries for s in splits]),
            "member": np.tile(np.arange(2 * n) < n, (len(splits), 1)),
        },
        **origin(task, settings, settings.audit_steps),
        batch_size=n,
        n_background=n_background,
        rank=max(int((of_model["eigenvalue"] > 0).sum(axis=1).max()) for of_model in of_models),
        sizes=audited(settings)
        | {
            "Members of each": f"{n:,}",
            "Background records": f"{n_background:,} (paper: 10,000)",
            "Steps": f"{settings.audit_steps} (paper: 5)",
        },
    )


def steps_of(task: Task, s: Split, settings: Settings, model: int) -> dict[str, np.ndarray]:
    """GLiR's two numbers of each record at every step of one model, and the gradients' spectrum."""
    n, d = len(s.members), task.dimension
    steps: dict[str, list] = {"distance": [], "susceptibility": [], "eigenvalue": []}
    of_first: dict[str, Any] = {}
    for weight in trajectory(task, s.members, settings.audit_steps, settings.seed + model):
        back, x = (gradients(task, weight, rows) for rows in (s.background, s.queries))
        moments = gradient_moments(back)
        root = whitening(moments.covariance)
        distance, susceptibility = two_numbers((x - moments.mean) @ root, n)
        steps["distance"].append(distance)
        steps["susceptibility"].append(susceptibility)
        eigenvalues = np.sort(1 / np.square(root).sum(axis=0))[::-1]
        steps["eigenvalue"].append(np.pad(eigenvalues, (0, d - len(eigenvalues))))
        if not of_first:
            released = released_distances(x[:n].mean(axis=0), x, *moments)
            of_first = dict(
                zip(("released_distance", "released_susceptibility"), released, strict=True)
            )
            of_first["largest_norm"] = np.linalg.norm(back, axis=1).max()
    return of_first | {name: np.array(values) for name, values in steps.items()}


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
    settings: Settings,
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
