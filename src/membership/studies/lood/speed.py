"""Seconds: every record from one inverse, one by one, and by retraining."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from membership import data, lood, published
from membership.studies.lood import leakage, theory
from membership.studies.lood.leakage import network_deviations
from membership.studies.lood.networks import factory, recipe
from membership.studies.lood.records import Records, attrs

N_TIMED = 3
RATIO = "retraining for one record over closed form for one"


def table(records: Records, settings: Any) -> pd.DataFrame:
    """Wall times in this run, on one core where the libraries allow (Control 2).

    One by one means a kernel matrix and two linear systems for each record, as the released code
    does. Retraining means the networks of both sides for one record,
    in one batch.

    Returns
    -------
    DataFrame
        Columns quantity, value (seconds, or a ratio), low, high.
    """
    kernel = leakage.kernel_of(settings)
    n = len(records)
    matrix, of_kernel = _timed(lambda: kernel(records.inputs()))
    _, of_all = _timed(lambda: lood.leave_one_out(matrix, records.targets, settings.noise))
    some = range(min(N_TIMED, n))
    _, of_some = _timed(lambda: [_by_itself(records, kernel, i, settings) for i in some])
    one = of_some / len(some)
    trained = _retraining(records, settings)
    closed = (of_kernel + of_all) / n
    rows = {
        f"kernel of {n} records (s)": of_kernel,
        f"LOOD and AUC of all {n} records from one inverse (s)": of_all,
        "one record by itself (s)": one,
        f"{n} records one by one over all at once": one * n / (of_kernel + of_all),
        f"{2 * settings.n_networks} networks for one record (s)": trained,
        RATIO: trained / closed,
    }
    found = pd.DataFrame({"quantity": list(rows), "value": list(rows.values())})
    found["low"] = found["high"] = found["value"]
    found.attrs = attrs([records], settings, network_deviations(settings))
    found.attrs |= {
        "timing": True,
        "note": "Wall times on this machine; a second run gives others.",
    }
    return found


def comparison(found: pd.DataFrame) -> pd.DataFrame:
    """The ratio beside that of the README: GPU hours of retraining over GPU minutes of LOOD."""
    text = published.table("lood_text").set_index("quantity")["value"]
    hours = float(text["GPU hours to train 200 models for one differing point"])
    minutes = float(text["GPU minutes to compute LOOD for the same point"])
    reference = pd.DataFrame({"quantity": [RATIO], "value": [60 * hours / minutes]})
    return published.compare(found, reference, ["quantity"])


def _by_itself(records: Records, kernel: Any, row: int, settings: Any) -> None:
    matrix = kernel(records.inputs())
    theory.directly(matrix, records.targets, row, settings.noise)


def _retraining(records: Records, settings: Any) -> float:
    """Seconds to train both sides for one record from nothing."""
    from membership import training

    few = records.first(settings.network_records)
    masks = data.leave_one_out(len(few), [0]).repeat(settings.n_networks, axis=0)
    seeds = list(range(len(masks)))
    with tempfile.TemporaryDirectory() as folder:
        run = {"cache_folder": Path(folder), "progress": False, "n_jobs": 1}
        make, config = factory(few, settings, "relu"), recipe(few, settings)
        place = {"device": settings.device}
        return _timed(
            lambda: training.train(make, few.dataset, masks, config, seeds, **place, **run)
        )[1]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start
