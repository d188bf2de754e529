"""Every evidence file of the chapter: what it is called, and what gathers it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from membership.book.studies import experiment
from membership.book.studies.bmia.settings import Settings

if TYPE_CHECKING:
    import xarray as xr

MAIN = ("outputs", "posterior")
"""What every attack reads."""
POPULATION = "outputs-population"
DRAWS = ("measured-distances", "measured-samplings")
"""With the one above: of the last data set only."""
MANY = ("outputs-many", "posterior-many")
QUANTILES = "measured-quantiles"
"""Of the last data set with many references, of a network that trains in seconds."""
TOY = "measured-toy"
QMIA = "qmia"
"""What begins the name of each data set's file of it."""
CONVOLUTIONAL = tuple(
    f"{kind}-convolutional" for kind in ("outputs", "posterior", "variants", "outputs-views")
)
"""Of one convolutional network, on data of its own."""
SWEPT = {
    "tiny": (("purchase_like:500", "mlp-32"),),
    "quick": (("purchase_like:1000", "mlp-32"), ("purchase_like:2500", "mlp-32")),
    "paper": (
        ("purchase_like:25000", "mlp-32"),
        ("purchase_like:50000", "mlp-32"),
        ("purchase_like:125000", "mlp-32"),
        ("purchase_like:197324", "mlp-32"),
        ("cifar100-patches", "mlp-128"),
    ),
}
"""Data and network: the same data in several numbers, a fifth of which are members."""


def words(settings: Settings) -> dict[str, str]:
    """The word for each data set of a run that names its files."""
    return experiment.words([settings.dataset, *settings.also_datasets])


def files(kinds: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of these kinds for each data set, data set by data set."""
    return tuple(f"{kind}-{word}" for word in words(settings).values() for kind in kinds)


def architectures(settings: Settings) -> tuple[str, ...]:
    """The architectures that Figure 4 pairs, each once."""
    return tuple(dict.fromkeys(settings.architectures))


def of_architectures(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of Figure 4."""
    return tuple(f"{kind}-of-{name}" for name in architectures(settings) for kind in MAIN)


def of_strangers(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of Table 2."""
    return tuple(f"{kind}-strangers" for kind in MAIN)


def of_last(kinds: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Names of evidence that only the last data set has."""
    last = list(words(settings).values())[-1]
    return tuple(f"{kind}-{last}" for kind in kinds)


def sweep(settings: Settings) -> dict[str, tuple[str, str]]:
    """Data and network of the sweep over numbers of members, by the name of the evidence."""
    return {
        f"measured-swept-{experiment.word('-'.join(setup))}": setup
        for setup in SWEPT[settings.profile]
    }


def of_sweep(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of one small network on several numbers of members."""
    return tuple(sweep(settings))


def sources(settings: Settings) -> "dict[str, Callable[[], xr.Dataset]]":
    """What gathers each of the chapter's evidence files, by name."""
    # Here and not above: who asks what files are called does not wait for torch.
    from membership.book.studies.bmia import accuracy, answers, convolutional, measured, toy

    of_each = {
        "outputs": answers.outputs,
        "posterior": answers.posterior,
        "variants": answers.variants,
        "measured": measured.shapes,
        "times": measured.times,
        QMIA: answers.quantile_scores,
    }
    of_last = {
        POPULATION: measured.population,
        **dict(zip(DRAWS, (measured.distances, measured.samplings), strict=True)),
        **dict(zip(MANY, (answers.many_outputs, answers.many_posterior), strict=True)),
        QUANTILES: answers.many_quantiles,
    }
    of_one = {
        **dict(
            zip(
                of_strangers(settings),
                (answers.strangers_outputs, answers.strangers_posterior),
                strict=True,
            )
        ),
        **dict(zip(CONVOLUTIONAL, convolutional.GATHERERS, strict=True)),
        TOY: toy.gather,
    }
    by_name = words(settings)
    last = list(by_name)[-1]
    gatherers = {
        f"{kind}-{word}": partial(function, name, settings)
        for name, word in by_name.items()
        for kind, function in of_each.items()
    }
    for architecture in architectures(settings):
        for kind, function in zip(MAIN, (answers.outputs, answers.one_posterior), strict=True):
            gatherers[f"{kind}-of-{architecture}"] = partial(function, last, settings, architecture)
    for kind, function in of_last.items():
        gatherers[f"{kind}-{by_name[last]}"] = partial(function, last, settings)
    gatherers |= {name: partial(function, settings) for name, function in of_one.items()}
    for file, (name, network) in sweep(settings).items():
        gatherers[file] = partial(accuracy.gather, name, network, settings)
    return gatherers
