"""The clean game on a few records (iha-ctl-5), and which of them give themselves away (iha-ctl-10).

Models are those of the leave-one-out experiments; the clean game at scale has the rules.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks
from membership.arrays import BoolArray, FloatArray
from membership.data.public import DIGITS
from membership.exhibits.tidy import tidy
from membership.published import Contrast
from membership.studies.iha.clean_game import COUNTED, METRICS, NORM, WHITE, Compared
from membership.studies.iha.leave_one_out import Experiment, origin_of
from membership.studies.iha.left_out import small_task
from membership.studies.iha.scores import PAIRED, white_box
from membership.studies.iha.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What the page's table leaves out: other tables have it.
ELSEWHERE = ("LiRA-L, two-sided", "residual cosine")
CONTRASTS = (
    ("IHA", "LOSS", 0),
    ("IHA", "LOSS", 1),
    ("IHA*", "IHA", 0),
    ("IHA", "IHA, identity", 0),
    ("LiRA-L, online", "IHA", 0),
    ("LiRA-L, online", "IHA", 1),
)
Scores = dict[str, FloatArray]


def play(experiments: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-5: every attack in the clean game, and the norm that a per-model curve rewards.

    Half of the models retrained on D' and on D' + z are played for; the other half are the
    references of the attacks that need some. After the attacks, their paired differences.
    """
    rows = []
    for experiment in experiments:
        scores, trained_on = scored(experiment)
        numbers = {name: redrawn(s, trained_on, settings.seed) for name, s in scores.items()}
        key, count = {"dataset": experiment.label}, len(experiment.outside)
        for name in [name for name in scores if name not in ELSEWHERE]:
            rows += _rows(key | {"attack": name}, numbers[name], count)
        for first, second, place in CONTRASTS:
            name = f"{first} less {second}, {COUNTED[place]}"
            contrast = _less(numbers[first], numbers[second], name, place, count)
            key |= {"attack": name, "metric": PAIRED}
            ends = {"low": contrast.low, "high": contrast.high, "n_repeats": contrast.units}
            rows.append({**key, "value": contrast.difference, **ends})
    return tidy(rows, origin_of(experiments))


def scored(experiment: Experiment) -> tuple[dict[str, FloatArray], BoolArray]:
    """Scores of every played model for its record."""
    half = experiment.groups["with"].shape[1] // 2
    out = experiment.groups["targets"][:half]
    parts = [
        _black(experiment, z, out, experiment.groups["with"][r], half)
        for r, z in enumerate(experiment.outside)
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    trained_on = np.repeat([False, True], [half, half])
    return {**scores, **_white(experiment, out, half)}, trained_on


def _black(
    experiment: Experiment, z: int, out: np.ndarray, retrained: np.ndarray, half: int
) -> Scores:
    """Attacks on outputs: for each played model the score of the one record z."""
    played = np.concatenate([out, retrained[half : 2 * half]])
    references = [experiment.groups["references"], retrained[:half]]
    seen = np.repeat([False, True], [len(group) for group in references])
    phi, loss = experiment.scaled[:, z], experiment.loss[:, z]
    of_target, count = phi[played], len(played)

    def repeated(rows: np.ndarray, signal: FloatArray) -> FloatArray:
        return np.repeat(signal[rows][:, None], count, axis=1)

    outside = repeated(references[0], phi)
    all_references = repeated(np.concatenate(references), phi)
    member = np.repeat(seen[:, None], count, axis=1)
    return {
        "LOSS": attacks.malt(loss[played]),
        "L-attack": attacks.attack_r(loss[played], repeated(references[0], loss)),
        "LiRA-L, one-sided": attacks.lira(of_target, outside, mode="offline"),
        "LiRA-L, two-sided": attacks.lira(of_target, outside, mode="offline", sided="two"),
        "LiRA-L, online": attacks.lira(of_target, all_references, member),
    }


def _white(experiment: Experiment, out: np.ndarray, half: int) -> Scores:
    """Attacks on parameters, shape (R, models) each."""
    retrained = experiment.groups["with"][:, half : 2 * half]
    # A model trained on D' is asked about every z, one trained on D' + z about that one.
    shared = [_of_model(experiment, model, experiment.outside) for model in out]
    own = [
        [_of_model(experiment, model, experiment.outside[[r]]) for model in models]
        for r, models in enumerate(retrained)
    ]
    return {
        name: np.concatenate(
            [
                np.stack([part[name] for part in shared], axis=1),
                np.array([[part[name][0] for part in parts] for parts in own]),
            ],
            axis=1,
        )
        for name in (*WHITE, NORM)
    }


def _of_model(experiment: Experiment, model: int, z: np.ndarray) -> Scores:
    """Scores of some records for one model, with D' as the training set whatever it was."""
    recipe, nobody = experiment.outputs.attrs["recipe"], np.zeros(len(z), bool)
    forms, norm = experiment.white_box(model, z)
    scores = white_box(forms, norm, experiment.loss[model, z], nobody, recipe)
    return {**{name: scores[name] for name in WHITE}, NORM: np.full(len(z), norm[0])}


def record_by_record(score: FloatArray, trained_on: BoolArray) -> FloatArray:
    """The AUC of one attack among the models of each record."""
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    return compared.same.mean(axis=(1, 2))


def redrawn(score: FloatArray, trained_on: BoolArray, seed: int) -> FloatArray:
    """Numbers of one attack by `METRICS`: as they are, then under draws of records and models.

    Every attack sees the same draws.
    """
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    weights = [compared.ones, *compared.redrawn(seed)]
    return np.stack([compared.numbers(*each) for each in weights])


def _less(first: FloatArray, second: FloatArray, label: str, place: int, count: int) -> Contrast:
    """One attack less another by one of `METRICS`, redrawn alike; the records are the units."""
    value, *draws = (first - second)[:, place]
    return Contrast(label, float(value), float(np.std(draws, ddof=1)), count - 1.0, count)


def _rows(key: dict[str, str], numbers: FloatArray, count: int) -> list[dict[str, Any]]:
    """Rows of one attack: pooled over the records, and record by record."""
    low, high = np.quantile(numbers[1:], [0.025, 0.975], axis=0)
    return [
        {**key, "metric": metric, "value": v, "low": a, "high": b, "n_repeats": count}
        for metric, v, a, b in zip(METRICS, numbers[0], low, high, strict=True)
    ]


ATTACKS = ("LOSS", "LiRA-L, online", "SIF", "IHA", "residual norm")
MOST, MOST_NARROW = 10, 5
"""Records that the picture shows of each attack, and that of a phone."""


def control_10(experiments: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-10: the records in the order in which each attack tells them, best first.

    The value is the AUC of an attack among the models of one record.
    """
    rows = []
    for experiment in experiments:
        scores, trained_on = scored(experiment)
        pictures = _pictures(experiment, settings)
        for attack in ATTACKS:
            values = record_by_record(scores[attack], trained_on)
            # Ties in the order of the records, so that the same run has the same order.
            for place, i in enumerate(np.argsort(-values, kind="stable").tolist()):
                picture = pictures[i]
                cell = {"row": attack, "column": place + 1, "text": f"{values[i]:.2f}"}
                key = {"dataset": experiment.label, "attack": attack}
                key |= {"record": experiment.outputs.attrs["outside"][i]}
                rows.append({**key, "value": values[i], **cell, **picture})
    return tidy(rows, origin_of(experiments))


def _pictures(experiment: Experiment, settings: Settings) -> list[dict[str, str]]:
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
