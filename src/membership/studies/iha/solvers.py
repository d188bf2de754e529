"""What approximations and reference models cost: Tables 3 and 6."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, published
from membership.studies.iha import names, rows
from membership.studies.iha.audit import Audit, design, origin, table_of

MEGABYTE = 1e6


def table_3(audits: Sequence[Audit], solved: Sequence[xr.Dataset], settings: Any) -> pd.DataFrame:
    """Exact scores against conjugate gradients on the same records (Table 3)."""
    found, said, asked, count = [], [], {}, {}
    for audit, one in zip(audits, solved, strict=True):
        places = np.searchsorted(audit.outputs["record"].values, one["query"].values)
        exact = [scores[places] for scores in audit.scores("IHA")]
        member = [truth[places] for truth in audit.member]
        cg = [a + b for a, b in zip(exact, one["difference"].values.astype(float), strict=True)]
        for attack, parts in {"IHA (Exact)": exact, "IHA (CG)": cg}.items():
            found += rows.measured(
                {"dataset": audit.label, "attack": attack}, parts, member, units=audit.units
            )
        apart = [
            float(np.max(np.abs(b - a)) / np.max(np.abs(a))) for a, b in zip(exact, cg, strict=True)
        ]
        metric = {"metric": "largest difference from exact, relative"}
        found.append(
            {
                "dataset": audit.label,
                "attack": "IHA (CG)",
                **metric,
                **rows.over_models(apart, units=audit.units),
            }
        )
        said.append(
            f"{audit.label}: {len(places):,} records asked of each of {len(exact)} models (the "
            "paper: 10,000 records)"
        )
        asked[audit.label] = {
            "queried_members": min(int(truth.sum()) for truth in member),
            "queried_non_members": min(int((~truth).sum()) for truth in member),
        }
        count[audit.label] = len(places)
    table = table_of(found, audits, said)
    for label, facts in asked.items():
        table.attrs["setup"][label] |= facts
    table.attrs["asked"] = count
    return table


def table_3_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 3 beside the published one."""
    return _beside(table, "iha_table3")


def table_6_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 6 beside the published one, made on another machine."""
    return _beside(table, "iha_table6")


def _beside(table: pd.DataFrame, name: str) -> pd.DataFrame:
    reference = published.reference(name)
    # For Purchase-100(S) the paper has neither table, so Purchase-100 stands beside it.
    if "Purchase-100" not in {setup["published"] for setup in table.attrs["setup"].values()}:
        reference["dataset"] = reference["dataset"].replace({"Purchase-100": "Purchase-100(S)"})
    return rows.judged(table, reference)


def table_6(costs: xr.Dataset, settings: Any) -> pd.DataFrame:
    """Time and memory of the attacks on one model (Table 6), as measured when it was gathered."""
    models, p = int(costs["reference_models"]), costs.attrs["recipe"]["parameters"]
    times = {part: costs[part].values for part in ("before", "each", "held", "held_after")}
    whole = times["before"] + 1000 * times["each"]
    exact = whole[list(costs["attack"].values).index("IHA")]
    found = []
    for case, attack in enumerate(map(str, costs["attack"].values)):
        held = [float(np.max(times[part][case])) / MEGABYTE for part in ("held", "held_after")]
        numbers = {
            "precompute time (s)": times["before"][case],
            "time per sample (s)": times["each"][case],
            "time for 1000 samples (s)": whole[case],
            names.RATIO: whole[case] / exact,
            "memory precompute (MB)": held[:1],
            "memory runtime (MB)": held[1:],
            "memory max (MB)": [max(held)],
        }
        key = {"dataset": costs.attrs["set"], "attack": attack}
        found += [{**key, "metric": m, **_over_timings(v)} for m, v in numbers.items()]
    table = pd.DataFrame(found).dropna(subset="value")
    size = f"{p:,} parameters (the paper: 22,532), {models} reference models (the paper: 128)"
    # One model is attacked; the others are timed and not kept.
    kept = [text for text in costs.attrs["deviations"] if "models (the paper" not in text]
    attributes = origin([{**costs.attrs, "deviations": kept}], [size, *design([])])
    attributes["setup"][costs.attrs["set"]] |= {"reference_models": models}
    table.attrs = {**attributes, "timing": True}
    return table


def _over_timings(values: Any) -> dict[str, float]:
    """The mean of several timings with its interval; one number stands by itself."""
    if len(values) == 1 or np.ptp(values) == 0:
        return metrics.exactly(float(values[0]))
    return metrics.summary(values, lowest=0.0)
