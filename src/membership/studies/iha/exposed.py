"""Which records give themselves away in the clean game, and to which attack."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership.data.registry import DIGITS
from membership.exhibits.tidy import tidy
from membership.studies.iha import game
from membership.studies.iha.experiment import Experiment, origin_of
from membership.studies.iha.loo import small_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTACKS = ("LOSS", "LiRA-L, online", "SIF", "IHA", "residual norm")
MOST, MOST_NARROW = 10, 5
"""Records that the picture shows of each attack, and that of a phone."""


def control_10(some: Sequence[Experiment], settings: Any) -> pd.DataFrame:
    """iha-ctl-10: the records in the order in which each attack tells them, best first.

    The value is the AUC of an attack among the models of one record.
    """
    found = []
    for experiment in some:
        scores, trained_on = game.scored(experiment)
        pictures = _pictures(experiment, settings)
        for attack in ATTACKS:
            values = game.record_by_record(scores[attack], trained_on)
            # Ties in the order of the records, so that the same run has the same order.
            for place, i in enumerate(np.argsort(-values, kind="stable").tolist()):
                picture = pictures[i]
                cell = {"row": attack, "column": place + 1, "text": f"{values[i]:.2f}"}
                key = {"dataset": experiment.label, "attack": attack}
                key |= {"record": experiment.outputs.attrs["outside"][i]}
                found.append({**key, "value": values[i], **cell, **picture})
    return tidy(found, origin_of(some))


def _pictures(experiment: Experiment, settings: Any) -> list[dict[str, str]]:
    """Label and picture of every record played for; empty but for the data set that is embedded.

    Evidence holds no pictures, and the exhibit is computed from it where no data are.
    """
    outside = experiment.outputs.attrs["outside"]
    if DIGITS in experiment.outputs.attrs["data"]:
        task = small_task(DIGITS, settings)
        if task.origin == experiment.outputs.attrs["data"]:
            return [_picture(task.pool.x[row], int(task.pool.y[row])) for row in outside]
    return [{"label": "", "shape": "", "pixels": ""} for _ in outside]


def _picture(x: np.ndarray, y: int) -> dict[str, str]:
    levels = np.rint(255 * x).astype(np.uint8)
    pixels = " ".join(map(str, levels.ravel()))
    return {"label": f"digit {y}", "shape": "x".join(map(str, levels.shape)), "pixels": pixels}


def most_exposed(table: pd.DataFrame) -> "Figure":
    """The records that each attack tells best, side by side."""
    from membership import plots
    from membership.plots.look import is_narrow

    return plots.image_grid(table[table["column"] <= (MOST_NARROW if is_narrow() else MOST)])


def one_by_one(table: pd.DataFrame) -> pd.DataFrame:
    """One row a record with the AUC of every attack, for those who look at them one by one."""
    key = ["dataset", "record", "label", "shape", "pixels"]
    cells = table.assign(**{name: table[name].fillna("") for name in key[2:]})
    wide = cells.pivot(index=key, columns="attack", values="value")[list(table["attack"].unique())]
    flat = wide.reset_index().rename_axis(columns=None).rename(columns={"dataset": "group"})
    label = flat["label"] + ", record " + flat["record"].astype(str)
    return flat.assign(label=label).drop(columns="record")
