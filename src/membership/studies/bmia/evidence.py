"""Every evidence file of the chapter and what gathers it; `names` says what they are called."""

from collections.abc import Callable
from functools import partial

import xarray as xr

from membership.studies.bmia import (
    accuracy,
    answers,
    convolutional,
    measured,
    names,
    toy,
)
from membership.studies.bmia.settings import Settings

OF_EACH = {
    "outputs": answers.outputs,
    "posterior": answers.posterior,
    "variants": answers.variants,
    "measured": measured.shapes,
    "times": measured.times,
    names.QMIA: answers.quantile_scores,
}
"""Of each data set."""
OF_LAST = {
    names.POPULATION: measured.population,
    **dict(zip(names.DRAWS, (measured.distances, measured.samplings), strict=True)),
    **dict(zip(names.MANY, (answers.many_outputs, answers.many_posterior), strict=True)),
    names.QUANTILES: answers.many_quantiles,
}
"""Of the last data set only."""
OF_ARCHITECTURES = {"outputs": answers.outputs, "posterior": answers.one_posterior}
"""Of each architecture of Figure 4, on the last data set."""
OF_STRANGERS = {"outputs": answers.strangers_outputs, "posterior": answers.strangers_posterior}
"""Of Table 2's non-members."""


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """What gathers each of the chapter's evidence files, by name."""
    words = names.words(settings)
    last = list(words)[-1]
    gatherers = {
        f"{kind}-{word}": partial(function, name, settings)
        for name, word in words.items()
        for kind, function in OF_EACH.items()
    }
    for architecture in names.architectures(settings):
        for kind, function in OF_ARCHITECTURES.items():
            gatherers[f"{kind}-of-{architecture}"] = partial(function, last, settings, architecture)
    for kind, function in OF_STRANGERS.items():
        gatherers[f"{kind}-strangers"] = partial(function, settings)
    for kind, function in OF_LAST.items():
        gatherers[f"{kind}-{words[last]}"] = partial(function, last, settings)
    gatherers |= {
        name: partial(function, settings) for name, function in convolutional.GATHERERS.items()
    }
    gatherers[names.TOY] = partial(toy.gather, settings)
    for file, (name, network) in names.sweep(settings).items():
        gatherers[file] = partial(accuracy.gather, name, network, settings)
    return gatherers
