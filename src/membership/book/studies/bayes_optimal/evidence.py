"""The chapter's evidence: every file of a run, each with the function that gathers it."""

import functools
from collections.abc import Callable

import xarray as xr

from membership.book.studies.bayes_optimal import (
    augmentation,
    ladder,
    names,
    networks,
    regressions,
)
from membership.book.studies.bayes_optimal.settings import Settings


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """The evidence of a run, by name, each with the function that gathers it."""
    sizes = {n: functools.partial(regressions.white_box, n, settings) for n in settings.n_records}
    return {
        **{names.logistic(n): gather for n, gather in sizes.items()},
        names.NETWORKS: functools.partial(networks.outputs, settings),
        names.LADDER: functools.partial(ladder.by_features, settings),
        names.PENALTIES: functools.partial(ladder.by_penalty, settings),
        **{
            file: functools.partial(augmentation.outputs, file, settings)
            for file in names.augmented(settings)
        },
    }
