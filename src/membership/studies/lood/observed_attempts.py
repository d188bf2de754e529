"""Attempts to find a query, or a set of queries, that tells more than the record."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood.kernels import kernels
from membership.studies.lood.origin import of_records
from membership.studies.lood.records import load
from membership.studies.lood.search import Pictures, prepare, quickly_compiled

ATTEMPTED = ("kl", "kl-reverse", "auc")
TRIED = 200


@quickly_compiled
def attempts(settings: Any) -> xr.Dataset:
    """Three measures at random and optimised queries, single and in sets, and at the record."""
    seen = prepare(load(settings), settings.search_records)
    kernel_of, kinds, values, at_record = [], [], [], []
    for name, kernel in kernels(settings).items():
        for row in range(settings.sizes.attempted):
            comparison = seen.compare(kernel, row, settings.noise)
            at = [comparison.measure(seen.x[row], measure) for measure in ATTEMPTED]
            for kind, (queries, joint) in _trials(seen, comparison, row, settings).items():
                found = _measured(comparison, queries, joint)
                kernel_of += [name] * len(found)
                kinds += [kind] * len(found)
                values.append(found)
                at_record += [at] * len(found)
    return evidence.dataset(
        "process",
        {
            "kernel": ("attempt", kernel_of),
            "queries": ("attempt", kinds),
            "value": (("attempt", "measure"), np.concatenate(values)),
            "at_record": (("attempt", "measure"), at_record),
        },
        {"measure": list(ATTEMPTED)},
        **of_records(seen.records, settings, records_tried=settings.sizes.attempted),
    )


def _measured(comparison: Any, queries: FloatArray, joint: bool) -> FloatArray:
    """Each measure at each query, or set of queries: (attempts, measures)."""
    if joint:
        return np.array(
            [[comparison.measure(q, m, joint=True) for m in ATTEMPTED] for q in queries]
        )
    return np.stack([comparison.measure(queries, m) for m in ATTEMPTED], axis=1)


def _trials(seen: Pictures, comparison: Any, row: int, settings: Any) -> dict[str, tuple]:
    """Queries by kind, and whether they are observed together."""
    rng = np.random.default_rng([settings.seed, 7, row])
    record, others = seen.x[row], seen.without(row)[0]
    low, high = seen.limits
    noise = rng.random((TRIED, *record.shape)) * (high - low) + low
    size = 10.0 ** rng.uniform(-3, 0, TRIED).reshape(-1, *[1] * record.ndim)
    near = record + size * rng.standard_normal((TRIED, *record.shape))
    share = rng.random(TRIED).reshape(-1, *[1] * record.ndim)
    between = share * record + (1 - share) * others[rng.integers(len(others), size=TRIED)]
    mixed = np.concatenate([noise[:50], near[:50], between[:50]])
    sets = mixed[rng.permutation(len(mixed)).reshape(-1, 3)]
    run, starts = seen.run(settings), settings.sizes.attempt_starts
    half = starts // 2
    single = lood.maximise(comparison, np.concatenate([noise[:half], near[:half]]), **run)
    trials = {
        "one, random": (np.concatenate([noise, near, between, others]), False),
        "one, optimised": (single.query, False),
        "three, random": (sets, True),
    }
    if settings.sizes.everywhere or isinstance(comparison.without.kernel, type(nngp.rbf())):
        together = np.stack([noise[:starts], near[:starts], between[:starts]], axis=1)
        joint = lood.maximise(comparison, together, joint=True, **run)
        trials["three, optimised"] = joint.query, True
    return trials
