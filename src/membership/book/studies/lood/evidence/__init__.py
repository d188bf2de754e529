"""The chapter's evidence: what the process says of records, searches find and networks answer."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

    from membership.book.studies.lood.experiment import Records
    from membership.book.studies.lood.settings import Settings

SEARCHES, EDGE, CONSTANT = "process-searches", "process-edge", "process-constant"
COST = "measured-cost"
N_SETS = 3
SECOND = "digits"
"""A second data set: in one part of a quick run's size, or in three that share nothing."""
SECOND_RECORDS = {SEARCHES: 200, EDGE: 100, CONSTANT: 200}


def sources(settings: "Settings") -> "dict[str, Callable[[], xr.Dataset]]":
    """The evidence of a run, by name, each with the function that gathers it."""
    # Here and not above: who asks for a name only must not wait for torch.
    from membership.book.studies.lood.evidence import networks, queries, records, searches, wide

    of_settings = {
        "process-records": records.records,
        "process-lines": records.along_lines,
        "process-activations": records.activations,
        "process-slips": records.slips,
        "process-noise": records.by_noise,
        "process-sets": records.sets,
        "process-laws": wide.laws,
        "process-at-mean": queries.at_mean,
        "measured-identity": records.identity,
        "measured-times": networks.times,
        "process-influence": networks.influences,
        "process-attempts": queries.attempts,
        "process-groups": searches.groups,
        "process-normalised": queries.normalised,
        "process-influenced": queries.most_influenced,
        "measured-slopes": queries.slopes,
        "measured-worst": queries.worst_place,
        "pairs-relu": functools.partial(networks.pairs, "relu"),
        "pairs-gelu": functools.partial(networks.pairs, "gelu"),
    }
    if at_paper_size(settings):
        of_settings[COST] = networks.cost
    of_sets = {
        SEARCHES: lambda name, n: functools.partial(searches.searches, name, n, not n),
        EDGE: lambda name, n: functools.partial(wide.along_edge, name, n),
        CONSTANT: lambda name, n: functools.partial(records.nearly_constant, name, n),
    }
    for kind, gather in of_sets.items():
        for name in both(kind, settings):
            second = name != kind
            of_settings[name] = gather(
                SECOND if second else settings.dataset, SECOND_RECORDS[kind] if second else 0
            )
    return {name: functools.partial(gather, settings) for name, gather in of_settings.items()}


def at_paper_size(settings: "Settings") -> bool:
    """Whether there is room and time to measure what 10,000 records cost."""
    return settings.profile == "paper" and settings.dataset == "cifar10"


def costs(settings: "Settings") -> tuple[str, ...]:
    """The name of what is measured at the paper's size alone."""
    return (COST,) if at_paper_size(settings) else ()


def both(kind: str, settings: "Settings") -> tuple[str, ...]:
    """The names of what is gathered on two data sets, the run's own first."""
    return (kind,) if settings.dataset == SECOND else (kind, f"{kind}-{SECOND}")


def of_records(
    records: "Records", settings: "Settings", *deviations: str, **sizes: Any
) -> dict[str, Any]:
    """The attributes of evidence that was gathered on some records; sizes in a reader's words."""
    own = records.dataset.name.startswith("cifar10")
    other = [] if own else [f"{records.label}: none of the paper's data"]
    named = {key.replace("_", " ").capitalize(): f"{value:,}" for key, value in sizes.items()}
    return {
        "set": records.label,
        "data": {records.dataset.name: records.dataset.digest},
        "recipe": {"noise": settings.noise, "depth": settings.depth},
        "outputs": records.dataset.n_classes,
        "deviations": [*other, "the captions' numbers are not on record", *deviations],
        "sizes": {"Training records": f"{len(records):,}", **named},
        "device": "cpu",
        "seed": settings.seed,
    }


def of_sets(training_sets: "list[Records]", settings: "Settings", **sizes: Any) -> dict[str, Any]:
    """The same for several training sets of one data set."""
    digests = {
        f"{records.dataset.name}, set {i}": records.dataset.digest
        for i, records in enumerate(training_sets, 1)
    }
    return of_records(training_sets[0], settings, training_sets=len(training_sets), **sizes) | {
        "data": digests
    }


def of_networks(settings: "Settings") -> tuple[str, ...]:
    """What the retrained networks differ in from the paper's."""
    sizes = {
        "hidden layers": (settings.depth, 9),
        "units": (settings.network_width, 1024),
        "records": (settings.network_records, 10_000),
        "networks a side": (settings.n_networks, 100),
    }
    changed = [
        f"{name} {own} (the paper: {their})" for name, (own, their) in sizes.items() if own != their
    ]
    return (f"networks: {', '.join(changed)}",) if changed else ()
