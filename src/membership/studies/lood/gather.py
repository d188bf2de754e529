"""The chapter's evidence: what the process says of records, searches find and networks answer."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


SEARCHES, EDGE, CONSTANT = "process-searches", "process-edge", "process-constant"
COST = "measured-cost"
SECOND = "digits"
"""A second data set: in one part of a quick run's size, or in three that share nothing."""
SECOND_RECORDS = {SEARCHES: 200, EDGE: 100, CONSTANT: 200}


def sources(settings: Any) -> "dict[str, Callable[[], xr.Dataset]]":
    """The evidence of a run, by name, each with the function that gathers it."""
    # Here and not above: who asks for a name only must not wait for torch.
    from membership.studies.lood import (
        observed_attempts,
        observed_cost,
        observed_mean,
        observed_networks,
        observed_queries,
        observed_records,
        observed_sets,
    )

    of_settings = {
        "process-records": observed_records.records,
        "process-lines": observed_records.along_lines,
        "process-activations": observed_records.activations,
        "process-slips": observed_records.slips,
        "process-noise": observed_records.by_noise,
        "process-sets": observed_sets.sets,
        "process-at-mean": observed_mean.at_mean,
        "measured-identity": observed_records.identity,
        "measured-times": observed_networks.times,
        "process-influence": observed_networks.influences,
        "process-attempts": observed_attempts.attempts,
        "process-groups": observed_queries.groups,
        "process-normalised": observed_queries.normalised,
        "process-influenced": observed_queries.most_influenced,
        "measured-slopes": observed_queries.slopes,
        "measured-worst": observed_queries.worst_place,
        "pairs-relu": functools.partial(observed_networks.pairs, "relu"),
        "pairs-gelu": functools.partial(observed_networks.pairs, "gelu"),
    }
    if at_paper_size(settings):
        of_settings[COST] = observed_cost.cost
    of_sets = {
        SEARCHES: lambda name, n: functools.partial(observed_queries.searches, name, n, not n),
        EDGE: lambda name, n: functools.partial(observed_sets.along_edge, name, n),
        CONSTANT: lambda name, n: functools.partial(observed_records.nearly_constant, name, n),
    }
    for kind, made in of_sets.items():
        for name in both(kind, settings):
            second = name != kind
            of_settings[name] = made(
                SECOND if second else settings.dataset, SECOND_RECORDS[kind] if second else 0
            )
    return {name: functools.partial(made, settings) for name, made in of_settings.items()}


def at_paper_size(settings: Any) -> bool:
    """Whether there is room and time to measure what 10,000 records cost."""
    return settings.profile == "paper" and settings.dataset == "cifar10"


def costs(settings: Any) -> tuple[str, ...]:
    """The name of what is measured at the paper's size alone."""
    return (COST,) if at_paper_size(settings) else ()


def both(kind: str, settings: Any) -> tuple[str, ...]:
    """The names of what is gathered on two data sets, the run's own first."""
    return (kind,) if settings.dataset == SECOND else (kind, f"{kind}-{SECOND}")
