"""The chapter's evidence: what the process says of records, searches find and networks answer."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


SECOND = "digits"
"""A second data set of reconstructions, with as many records as a quick run."""
SECOND_RECORDS = 200
OWN = "process-searches"


def sources(settings: Any) -> "dict[str, Callable[[], xr.Dataset]]":
    """The evidence of a run, by name, each with the function that gathers it."""
    # Here and not above: who asks for a name only must not wait for torch.
    from membership.studies.lood import (
        observed_attempts,
        observed_networks,
        observed_queries,
        observed_records,
    )

    of_settings = {
        "process-records": observed_records.records,
        "process-lines": observed_records.along_lines,
        "process-activations": observed_records.activations,
        "process-constant": observed_records.nearly_constant,
        "process-slips": observed_records.slips,
        "measured-identity": observed_records.identity,
        "measured-times": observed_networks.times,
        "process-influence": observed_networks.influences,
        "process-attempts": observed_attempts.attempts,
        "process-groups": observed_queries.groups,
        "process-normalised": observed_queries.normalised,
        "process-influenced": observed_queries.most_influenced,
        "measured-slopes": observed_queries.slopes,
        "measured-worst": observed_queries.worst_place,
    }
    found = {name: functools.partial(made, settings) for name, made in of_settings.items()}
    for activation in ("relu", "gelu"):
        found[f"pairs-{activation}"] = functools.partial(
            observed_networks.pairs, activation, settings
        )
    found[OWN] = functools.partial(observed_queries.searches, settings.dataset, 0, True, settings)
    for name in searched(settings)[1:]:
        found[name] = functools.partial(
            observed_queries.searches, SECOND, SECOND_RECORDS, False, settings
        )
    return found


def searched(settings: Any) -> tuple[str, ...]:
    """The names of the reconstructions' files, the run's own data set first."""
    return (OWN,) if settings.dataset == SECOND else (OWN, f"{OWN}-{SECOND}")
