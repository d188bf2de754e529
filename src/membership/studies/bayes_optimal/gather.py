"""The chapter's evidence: logistic regressions a size of Table 1, and the networks of Table 2."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import xarray as xr
from joblib import delayed
from threadpoolctl import threadpool_limits

from membership import attacks, data, evidence, limits, models, processes, signals, training
from membership.studies.bayes_optimal import names
from membership.studies.bayes_optimal.features import Features, two_classes
from membership.studies.bayes_optimal.logistic_model import LogisticModel, fit, with_one
from membership.studies.bayes_optimal.requirements import require

INVERSE_PENALTIES = np.logspace(-5, 2, 15)
SPLITS_FOR_PENALTY = 3
# The first splits, for the second-order term; the others' leverages are left out for their size.
SPLITS_WITH_LEVERAGE = 50
# Of Table 1's records: to 1.2e-4 of each number, so that 100 splits take the place of 50.
MANTISSA_BITS = 12
BATCH_SIZE = 64
LEARNING_RATE = 0.001
HIDDEN = 128
# The first so many networks are attacked, all others being references of each.
TARGETS = 10
# Table 2 of the paper, and the splits behind a number of its Table 1.
PAPER = {"reference models": 30, "epochs": 50, "members": 15_000, "splits": 100}


def sources(settings: Any) -> dict[str, Callable[[], xr.Dataset]]:
    """The evidence of a run, by name, each with the function that gathers it."""
    # It gathers with functions of this module.
    from membership.studies.bayes_optimal import augmented, ladder, penalties

    found: dict[str, Callable[[], xr.Dataset]] = {
        names.logistic(n): functools.partial(_logistic, n, settings) for n in settings.n_records
    }
    return {
        **found,
        names.NETWORKS: functools.partial(_networks, settings),
        names.LADDER: functools.partial(ladder.measured, settings),
        names.PENALTIES: functools.partial(penalties.measured, settings),
        **{
            file: functools.partial(augmented.outputs, file, settings)
            for file in names.augmented(settings)
        },
    }


def _logistic(n: int, settings: Any) -> xr.Dataset:
    """Log-odds at target and reference, and leverages, on random splits of n records.

    Of each split, n/2 records train the target model, n/2 are the non-members and n/2 are held in
    reserve to train theta_0 (Sablayrolles et al. 2019, Section 6.2). C is chosen once for a size,
    by the loss on records outside all three.
    """
    features = two_classes(settings)
    require(len(features.y), settings.n_records)
    repeats, seed = range(settings.n_repeats), settings.seed
    workers = processes.workers(limits.cores(settings.n_jobs))
    with threadpool_limits(limits=1, user_api="blas"):
        losses = workers(
            delayed(_loss_outside)(features, n, repeat, seed, inverse_penalty)
            for inverse_penalty in INVERSE_PENALTIES
            for repeat in range(SPLITS_FOR_PENALTY)
        )
        total = np.reshape(losses, (len(INVERSE_PENALTIES), SPLITS_FOR_PENALTY)).sum(axis=1)
        chosen = float(INVERSE_PENALTIES[total.argmin()])
        each = workers(delayed(_one_split)(features, n, r, chosen, seed) for r in repeats)
    few = () if settings.n_repeats >= PAPER["splits"] else (f"{settings.n_repeats} random splits",)
    return evidence.dataset(
        "white_box",
        {name: _kept([one[name] for one in each]) for name in each[0]},
        {"target": list(repeats), "query": list(range(n))},
        set=features.setup["data"],
        data=features.digests,
        recipe={"inverse_penalty": chosen, **features.setup.get("recipe", {})},
        inverses=[],
        setup={**features.setup, **_asked(n)},
        deviations=[*features.deviations, *(f"{one} (the paper: 100)" for one in few)],
        splits=settings.n_repeats,
        seed=seed,
        device=features.device,
    )


def _kept(each: list[np.ndarray]) -> np.ndarray:
    found = np.stack(each)
    return found if found.dtype == bool else evidence.rounded(found, MANTISSA_BITS)


def _asked(n: int) -> dict[str, int]:
    sides = dict.fromkeys(("members", "queried_members", "queried_non_members"), n // 2)
    return {**sides, "reference_models": 1}


def split(n_available: int, n: int, repeat: int, seed: int) -> list[np.ndarray]:
    """Row numbers of members, non-members, the reserve and all others."""
    rng = np.random.default_rng([seed, n, repeat])
    return np.split(rng.permutation(n_available), [n // 2, n, 3 * n // 2])


def _loss_outside(
    features: Features, n: int, repeat: int, seed: int, inverse_penalty: float
) -> float:
    """Mean loss, on the records outside a split, of the model of its reserve."""
    _, _, reserve, others = split(len(features.y), n, repeat, seed)
    model = fit(features.x[reserve], features.y[reserve], inverse_penalty)
    return model.loss(features.x[others], features.y[others]).mean()


def _one_split(
    features: Features, n: int, repeat: int, inverse_penalty: float, seed: int
) -> dict[str, np.ndarray]:
    """What the target of one split and its reference answer.

    Members come first, and of both kinds the record of the least log-odds: an order that says
    nothing, since records are not named, and that packs well.
    """
    members, outside, reserve, _ = split(len(features.y), n, repeat, seed)
    x, y = features.x, features.y
    target = fit(x[members], y[members], inverse_penalty)
    theta0 = fit(x[reserve], y[reserve], inverse_penalty)
    queried = np.concatenate([_sorted(target, x, y, rows) for rows in (members, outside)])
    leverage = np.full(n, np.nan)
    if repeat < SPLITS_WITH_LEVERAGE:
        leverage = leverages(theta0, x[queried], x[reserve])
    return {
        "log_odds": target.log_odds(x[queried], y[queried]),
        "reference_log_odds": theta0.log_odds(x[queried], y[queried]),
        "leverage": leverage,
        "member": np.arange(n) < n // 2,
    }


def _sorted(target: LogisticModel, x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return rows[np.argsort(target.log_odds(x[rows], y[rows]), kind="stable")]


def leverages(model: LogisticModel, x: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Each record's curvature times x' H^-1 x, H of the training records; shape (records,)."""
    design = with_one(x)
    solved = np.linalg.solve(model.hessian(training), design.T)
    return model.curvature(x) * np.einsum("ij,ji->i", design, solved)


def _networks(settings: Any) -> xr.Dataset:
    """Log-odds under networks trained on random halves of the same records (Section 6.3)."""
    whole = data.load(settings.dataset, root=settings.data_root or None)
    dataset = subset(whole, 2 * settings.cnn_records, settings.seed)
    n_models = settings.n_reference + 1
    member = data.random_halves(n_models, len(dataset.y), settings.seed)
    seeds = [settings.seed * 10_000 + model for model in range(n_models)]
    ensemble = training.train(
        network(dataset),
        dataset,
        member,
        network_config(settings),
        seeds,
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    logits = ensemble.logits(dataset.x)
    targets = range(min(TARGETS, n_models))
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, dataset.y),
            "correct": signals.correct(logits, None, dataset.y) > 0,
            "member": member,
            "label": dataset.y,
            "shokri": shadow_scores(
                torch.log_softmax(logits, -1).numpy(), dataset.y, member, settings.seed, targets
            ),
        },
        targets=list(targets),
        complements=[None] * n_models,
        seed=settings.seed,
        device=str(ensemble.device),
        **network_origin(settings, whole),
    )


def network_config(settings: Any) -> training.TrainingConfig:
    """How the networks of Table 2 are trained."""
    return training.TrainingConfig(
        epochs=settings.cnn_epochs,
        batch_size=BATCH_SIZE,
        learning_rate=LEARNING_RATE,
        optimiser="adam",
    )


def shadow_scores(
    output: np.ndarray, label: np.ndarray, member: np.ndarray, seed: int, targets: Sequence[int]
) -> np.ndarray:
    """The shadow attack on each target, (models, records), all others being its shadow models.

    NaN for a network that is no target.
    """
    everyone = np.arange(len(member))
    found = np.full(member.shape, np.nan)
    for row in targets:
        others = everyone[everyone != row]
        found[row] = attacks.shadow(output[row], label, output[others], member[others], seed)
    return found


def network(dataset: data.Dataset) -> functools.partial:
    """The paper's network for images; for tabular records one with the same hidden layer."""
    if dataset.x.ndim == 2:
        return functools.partial(
            models.mlp, dataset.x.shape[1], (HIDDEN,), dataset.n_classes, "tanh"
        )
    return functools.partial(models.small_cnn, dataset.x.shape[1:], dataset.n_classes)


def subset(dataset: data.Dataset, n_records: int, seed: int) -> data.Dataset:
    """A random part of a data set."""
    data.require(dataset, n_records=n_records)
    rows = np.random.default_rng([seed, n_records]).permutation(len(dataset.y))[:n_records]
    return dataset.select(np.sort(rows))


def network_origin(settings: Any, dataset: data.Dataset) -> dict[str, Any]:
    """What the networks' file says of its data, recipe, sizes, and how they differ."""
    tabular, same = dataset.x.ndim == 2, dataset.name == "cifar10"
    stated = [
        (False, f"Adam, batches of {BATCH_SIZE} (the paper names neither)"),
        (
            settings.n_reference >= PAPER["reference models"],
            f"{settings.n_reference} reference models (the paper: {PAPER['reference models']})",
        ),
        (
            settings.cnn_epochs == PAPER["epochs"],
            f"{settings.cnn_epochs} epochs (the paper: {PAPER['epochs']})",
        ),
        (same, f"{dataset.name} instead of CIFAR-10"),
        (not tabular, f"one hidden layer of {HIDDEN}: tabular records take no convolution"),
        (
            settings.cnn_records == PAPER["members"],
            f"{settings.cnn_records} members a network (the paper: {PAPER['members']})",
        ),
    ]
    recipe = {"epochs": settings.cnn_epochs, "learning_rate": LEARNING_RATE}
    setup = {
        "data": "CIFAR-10" if same else dataset.name,
        "members": settings.cnn_records,
        "architecture": f"MLP with one hidden layer of {HIDDEN}"
        if tabular
        else "CNN 2conv+2fc tanh",
        "reference_models": settings.n_reference,
        "recipe": recipe,
    }
    return {
        "set": setup["data"],
        "data": {dataset.name: dataset.digest},
        "recipe": {
            **recipe,
            "batch_size": BATCH_SIZE,
            "optimiser": "Adam",
            "loss": "cross-entropy",
        },
        "setup": setup,
        "deviations": [said for holds, said in stated if not holds],
        "sizes": {
            "Networks": str(settings.n_reference + 1),
            "Target models, each of them": str(min(TARGETS, settings.n_reference + 1)),
            "Reference models": f"{settings.n_reference} (paper: {PAPER['reference models']})",
            "Members a network": f"{settings.cnn_records:,} (paper: {PAPER['members']:,})",
            "Epochs": f"{settings.cnn_epochs} (paper: {PAPER['epochs']})",
        },
    }
