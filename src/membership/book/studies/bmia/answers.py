"""What models answer and what their posteriors predict: the evidence that every attack reads.

Of each data set, of each architecture of Figure 4, and of the strangers of Table 2. Of the last
data set also of a network that trains in seconds, with many references, for those who ask what
retrained models would say.
"""

import functools
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, training
from membership.book.studies.bmia.experiment import strangers, world
from membership.book.studies.bmia.settings import Settings, sizes_up_to
from membership.book.studies.bmia.trained import (
    MARGINAL,
    Trained,
    moments,
    out_of_distribution,
    train,
)

VARIANTS = ("kron", "closed form", "qmia")
FULL_PARAMETERS, OTHERWISE = {"paper": 13_000}, 6000
"""With more, the full posterior takes minutes and gigabytes a model and is left out."""


def outputs(name: str, settings: Settings, architecture: str = "") -> xr.Dataset:
    """What every model answers for queries and for records that no model has seen."""
    trained = trained_on(name, architecture, settings)
    return answered(trained, about(trained, architecture=architecture))


def posterior(name: str, settings: Settings) -> xr.Dataset:
    """What each reference predicts by draws and in closed form, and QMIA of each target."""
    trained = trained_on(name, "", settings)
    return predicted(trained, VARIANTS, about(trained))


def one_posterior(name: str, settings: Settings, architecture: str) -> xr.Dataset:
    """What references of another architecture predict by draws."""
    trained = trained_on(name, architecture, settings)
    return predicted(trained, ("kron",), about(trained, architecture=architecture))


def strangers_outputs(settings: Settings) -> xr.Dataset:
    trained, digests = _strangers(settings)
    return answered(trained, about(trained, settings.ood_dataset, digests))


def strangers_posterior(settings: Settings) -> xr.Dataset:
    trained, digests = _strangers(settings)
    return predicted(trained, VARIANTS, about(trained, settings.ood_dataset, digests))


def variants(name: str, settings: Settings) -> xr.Dataset:
    """What first references predict with other posteriors, priors, draws and numbers of draws."""
    trained = trained_on(name, "", settings)
    layer = trained.layer(trained.firsts[0], "fit")
    parameters = layer.weight.size + layer.bias.size
    most = FULL_PARAMETERS.get(settings.profile, OTHERWISE)
    full = parameters <= most and len(layer.features) > layer.weight.shape[1]
    predictions = [_of_reference(trained, model, full) for model in trained.firsts]
    records = trained.records[trained.subset]
    precision = [
        [_precision(trained, m, variant) for variant in predictions[0]] for m in trained.firsts
    ]
    return evidence.dataset(
        "posterior",
        {
            "mean": [[pair[0] for pair in by_variant.values()] for by_variant in predictions],
            "sd": [[pair[1] for pair in by_variant.values()] for by_variant in predictions],
            "prior_precision": precision,
        },
        {"reference": trained.firsts, "variant": list(predictions[0]), "record": records},
        **about(trained),
        parameters=parameters,
    )


def _of_reference(trained: Trained, model: int, full: bool) -> dict[str, Any]:
    """Moments of some queries by variant: "kron, 10" for so many draws, "full", "mc"."""
    subset, n = trained.subset, trained.world.settings.n_samples

    def drawn(**choices: Any) -> Any:
        return trained.draws(model, n, queries=subset, **choices)

    by_variant = {
        f"kron, {size}": tuple(values[subset] for values in pair)
        for size, pair in trained.by_size(model).items()
    }
    diagonal = drawn(structure="diag")
    by_variant |= {f"diag, {size}": moments(diagonal[:size]) for size in sizes_up_to(n)}
    further = {"validation": {"prior": "validation"}, "mc": {"method": "mc"}}
    if full:
        further = {"full": {"structure": "full"}, **further}
    return by_variant | {name: moments(drawn(**choices)) for name, choices in further.items()}


def _precision(trained: Trained, model: int, variant: str) -> float:
    """The prior precision that was chosen, for the two variants that Figure 6 compares."""
    priors = {"validation": "validation", f"kron, {trained.world.settings.n_samples}": MARGINAL}
    prior = priors.get(variant)
    return trained.posterior(model, prior=prior).prior_precision if prior else np.nan


def quantile_scores(name: str, settings: Settings) -> xr.Dataset:
    """How far up its regressed quantiles each query of each target lies."""
    trained = trained_on(name, "", settings)
    quantiles = [trained.quantile_score(target) for target in range(trained.n_targets)]
    score = np.array(quantiles, dtype=np.float32)
    labels = {"record": trained.records}
    return evidence.dataset(
        "measured", {"score": (("target", "record"), score)}, labels, **about(trained)
    )


def answered(trained: Trained, attributes: dict[str, Any]) -> xr.Dataset:
    rows, n_targets = trained.records, trained.n_targets
    shape = (len(trained.ensemble), len(rows))
    member, queried = np.zeros(shape, dtype=bool), np.ones(shape, dtype=bool)
    member[:n_targets], queried[:n_targets] = trained.member, trained.queried
    variables = {
        "log_odds": trained.answers.log_odds,
        "hinge": trained.answers.hinge,
        "member": member,
        "label": trained.y,
        "held_log_odds": trained.held_out.log_odds,
        "held_hinge": trained.held_out.hinge,
        "held_label": trained.world.dataset.y[trained.world.validation],
    }
    if not trained.queried.all():
        known = len(trained.world.pool)
        variables |= {"asked": queried, "stranger": np.arange(len(rows)) >= known}
    labels = {"model": np.arange(len(trained.ensemble)), "record": rows}
    return evidence.dataset("outputs", variables, labels, **attributes)


def predicted(
    trained: Trained,
    variants: tuple[str, ...],
    attributes: dict[str, Any],
    models: list[int] | None = None,
) -> xr.Dataset:
    """Moments by model, all of them or some; NaN where nobody asks.

    Draws are of every target's first reference, closed forms of every reference, "qmia" of every
    target.
    """
    models = list(range(len(trained.ensemble))) if models is None else models
    shape = (len(models), len(variants), len(trained.records))
    mean, sd = np.full(shape, np.nan), np.full(shape, np.nan)
    functions = {
        "kron": (trained.sampled, trained.firsts),
        "closed form": (trained.closed_form, trained.references),
        "qmia": (trained.qmia, range(trained.n_targets)),
    }
    for at, variant in enumerate(variants):
        function, own = functions[variant]
        for model in own:
            place = models.index(model)
            mean[place, at], sd[place, at] = function(model)
    return evidence.dataset(
        "posterior",
        {"mean": mean, "sd": sd},
        {"reference": models, "variant": list(variants), "record": trained.records},
        **attributes,
    )


def about(
    trained: Trained, ood: str = "", digests: dict | None = None, architecture: str = ""
) -> dict[str, Any]:
    """The attributes of evidence gathered from one world."""
    world = trained.world
    setup, deviations, n = dict(world.setup), list(world.deviations), len(world.pool) // 2
    if architecture:
        setup["architecture"] = architecture
    if ood:
        setup["data"] = f"{world.label} against {ood}"
        setup["queried_non_members"] = int((trained.queried & ~trained.member).sum(axis=1).min())
        deviations.append(f"non-members {ood!r} instead of CINIC-10, members {world.label}")
    recipe = {"architecture": setup["architecture"], "batch_size": world.config.batch_size}
    samples = world.settings.n_samples
    return {
        "set": world.label,
        "data": {world.name: world.dataset.digest, **(digests or {})},
        "recipe": {**recipe, **setup["recipe"], "members": n},
        "targets": list(range(trained.n_targets)),
        "references": list(trained.references),
        "reference_members": int(world.references[0].sum()),
        "n_samples": samples,
        "setup": setup,
        "deviations": deviations,
        "device": world.device,
        "seed": world.settings.seed,
        "sizes": {
            "Target models": str(trained.n_targets),
            "Reference models": str(trained.n_reference),
            "Members of each": f"{n:,}",
            "Draws": f"{samples:,}",
        },
    }


# Every data set of a run, and one architecture at a time.
@functools.lru_cache(maxsize=4)
def trained_on(name: str, architecture: str, settings: Settings) -> Trained:
    return train(world(name, settings), architecture)


@functools.lru_cache(maxsize=1)
def _strangers(settings: Settings) -> tuple[Trained, dict[str, str]]:
    members, x, y, digests = strangers(settings)
    return out_of_distribution(members, x, y), digests


REFERENCES = 65
"""Of models with many: one for BMIA and 64 that it has not seen."""
NETWORKS = {"digits": "mlp-32", "location30": "mlp-256-128"}
"""What trains in seconds; of other data there are the run's own models and no more."""
ALPHA = 0.05


def many_outputs(name: str, settings: Settings) -> xr.Dataset:
    """What all answer, with many references; of held records those that thresholds take."""
    trained = _with_many(name, settings)
    whole = answered(trained, _about_many(trained)).drop_vars(["held_log_odds", "held_label"])
    used = whole["model"].isin([*range(trained.n_targets), *trained.firsts])
    return whole.assign(held_hinge=whole["held_hinge"].where(used))


def many_posterior(name: str, settings: Settings) -> xr.Dataset:
    """Moments of the hinge by draws (of first references) and of QMIA (of targets)."""
    trained = _with_many(name, settings)
    models = [*range(trained.n_targets), *trained.firsts]
    return predicted(trained, ("kron", "qmia"), _about_many(trained), models)


def many_quantiles(name: str, settings: Settings) -> xr.Dataset:
    """The 5% threshold of every query by a regression of each target's quantiles."""
    trained = _with_many(name, settings)
    held_out, queries = trained.held_with_label(), trained.with_label(trained.x, trained.y)
    thresholds = []
    for hinge in trained.held_out.hinge[: trained.n_targets]:
        seed = trained.world.settings.seed
        model = training.fit_qmia(held_out, hinge, head="pinball", seed=seed)
        thresholds.append(model.threshold(queries, ALPHA))
    threshold = np.array(thresholds, dtype=np.float32)
    return evidence.dataset(
        "measured",
        {"threshold": (("target", "record"), threshold)},
        {"record": trained.records},
        **_about_many(trained),
    )


def _about_many(trained: Trained) -> dict[str, Any]:
    """As of the run's other evidence; the set is told apart by the network where that is ours."""
    attributes, world = about(trained), trained.world
    if world.name in NETWORKS:
        attributes["set"] += f", {world.architecture}"
    return attributes


@functools.lru_cache(maxsize=1)
def _with_many(name: str, settings: Settings) -> Trained:
    network = NETWORKS.get(name.partition(":")[0])
    if network:
        n = max(settings.n_reference, REFERENCES)
        settings = settings.model_copy(update={"n_reference": n, "architecture": network})
    return train(world(name, settings))
