"""One inverse for all records: against each by itself, and what both and retraining cost."""

import numpy as np
import pandas as pd
import xarray as xr

from membership.arrays import FloatArray
from membership.book import published
from membership.book.exhibits.rows import of_each

README_RECORDS = 10_000
"""Training records in the README's example."""
LAYERS, WIDTH, BATCH, EPOCHS, TRAININGS = 9, 1024, 64, 50, 200
"""Hidden layers, units, records of a batch, epochs; networks for one record, half without it."""
ENSEMBLE = 128
"""Networks that would serve all audited records, each of which is in a random half of them."""
BATCHES = -(-README_RECORDS // BATCH) * EPOCHS


COSTS = "trainings of the paper's networks over LOOD for one record, processor time"
ALONE, AT_ONCE = "one record by itself (s)", "records one by one over all at once"
KERNEL, RETRAINING = "kernel of", "networks for one record (s)"
HOURS = "trainings of the paper's networks, processor (h)"
RATIO = "retraining for one record over closed form for one"


def ratios(cost: xr.Dataset) -> FloatArray:
    """How many times as long 200 trainings of the paper's networks take, a number a timing."""
    return cost["batch"].values * BATCHES * TRAININGS / cost["lood"].values


def table(times: xr.Dataset, costs: list[xr.Dataset]) -> pd.DataFrame:
    """Wall times of the run, and what the paper's sizes cost one processor (Control 2).

    Returns
    -------
    DataFrame
        Columns quantity, value (seconds, GiB, or a ratio), low, high.
    """
    seconds = times["seconds"].to_series()
    n = times.attrs["records"]
    together = seconds["kernel"] + seconds["all"]
    rows = {
        f"{KERNEL} {n} records (s)": seconds["kernel"],
        f"LOOD and AUC of all {n} records from one inverse (s)": seconds["all"],
        ALONE: seconds["one"],
        f"{n} {AT_ONCE}": seconds["one"] * n / together,
        f"{times.attrs['networks']} {RETRAINING}": seconds["retraining"],
        RATIO: seconds["retraining"] / (together / n),
    }
    if "kernel of many" in seconds:
        most = times.attrs["records_at_most"]
        rows |= {
            f"{KERNEL} {most} records (s)": seconds["kernel of many"],
            f"LOOD and AUC of all {most} records from one inverse (s)": seconds["all of many"],
            f"largest memory of the run, with {most} records (GiB)": times.attrs["peak_gib"],
        }
    whole = pd.DataFrame({"quantity": list(rows), "value": list(rows.values())})
    whole["low"] = whole["high"] = whole["value"]
    for cost in costs:
        rows = {
            "a batch of the paper's networks, processor (s)": cost["batch"].values,
            f"LOOD with its kernel, {README_RECORDS} records, processor (s)": cost["lood"].values,
            f"{TRAININGS} {COSTS}": ratios(cost),
            f"{ENSEMBLE} {HOURS}": cost["batch"].values * BATCHES * ENSEMBLE / 3600,
        }
        several = of_each({}, "quantity", rows)
        whole = pd.concat([whole, pd.DataFrame(several)], ignore_index=True)
    whole.attrs = {
        "setup": {"networks": times.attrs["setup"]},
        "timing": True,
        "note": "Wall times on one machine; a second run gives others.",
    }
    return whole


def table_said(table: pd.DataFrame) -> str:
    """Control 2."""
    value = table.set_index("quantity")["value"]
    one_by_one = value[value.index.str.endswith(AT_ONCE)].iloc[0]
    alone, training = value[ALONE], value[value.index.str.endswith(RETRAINING)]
    kernel = value[value.index.str.startswith(KERNEL)].iloc[0]
    times, with_kernel = (training.iloc[0] / seconds for seconds in (alone, alone + kernel))
    sentence = (
        f"Retraining for a record takes {times:,.0f} times as long as its closed form "
        f"({with_kernel:,.0f} with the kernel). "
    )
    paper = value[value.index.str.endswith(COSTS)]
    if paper.empty:
        return f"{sentence}One by one records take {one_by_one:,.0f} times as long as all at once."
    return f"{sentence}At the paper's size it takes {paper.iloc[0]:,.0f} times as long."


def table_judged(regenerated: pd.DataFrame) -> pd.DataFrame:
    """The ratio beside that of the README: GPU hours of retraining over GPU minutes of LOOD."""
    text = published.table("lood_text").set_index("quantity")["value"]
    hours = float(text["GPU hours to train 200 models for one differing point"])
    minutes = float(text["GPU minutes to compute LOOD for the same point"])
    reference = pd.DataFrame({"metric": [RATIO], "value": [60 * hours / minutes]})
    reference = published.noted(reference, "lood", decimals=0).assign(quantity=RATIO)
    return published.compare(regenerated, reference, ["quantity"])


def one_by_one(identity: xr.Dataset) -> pd.DataFrame:
    """All records from one inverse against each from its own posteriors (Control 1)."""
    rows = []
    for kernel in identity["kernel"].values:
        part = identity.sel(kernel=kernel)
        for measure in identity["measure"].values:
            fast, slow = part["value"].sel(measure=measure).dropna("record").values
            off, size = np.abs(fast - slow), np.abs(fast)
            label = measure.replace("_", " ").replace("kl", "KL")
            for metric, value in (
                ("largest deviation over the largest value", off.max() / size.max()),
                ("largest deviation over the record's own value", (off / size).max()),
            ):
                key = {"kernel": kernel, "metric": f"{label}: {metric}"}
                rows.append({**key, "value": float(value), "records": len(fast)})
        fast, slow = part["auc"].values
        key = {"kernel": kernel, "metric": "AUC of the most exposed: largest deviation"}
        rows.append({**key, "value": np.abs(fast - slow).max(), "records": len(fast)})
    table = pd.DataFrame(rows)
    table.attrs["residue"] = 1e-8
    return table
