"""The clean game on a few records: fixed other records, a coin, many retrainings.

Every attack (iha-ctl-5), and which records give themselves away (iha-ctl-10); the clean game at
scale has the rules.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, plots
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits.rows import rank_correlation
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.published import Contrast
from membership.book.studies.iha.clean_game import COUNTED, METRICS, RESAMPLES, WHITE
from membership.book.studies.iha.leave_one_out import leads
from membership.book.studies.iha.left_out import Experiment, origin_of, small_task
from membership.book.studies.iha.scores import NORM, PAIRED, Compared, Scores
from membership.book.studies.iha.settings import Settings
from membership.data.public import DIGITS
from membership.plots.look import is_narrow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTRASTS = (
    ("IHA", "LOSS", 0),
    ("IHA", "LOSS", 1),
    ("IHA*", "IHA", 0),
    ("IHA", "IHA, identity", 0),
    ("loss ratio", "IHA", 0),
    ("loss ratio", "IHA", 1),
)


def play(retrained: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-5: every attack in the clean game, and the norm that a per-model curve rewards.

    Half of the models retrained on D' and on D' + z are played for; the other half are the
    references of the attacks that need some. After the attacks, their paired differences.
    """
    rows = []
    for experiment in retrained:
        scores, trained_on = scored(experiment)
        numbers = {name: redrawn(s, trained_on, settings.seed) for name, s in scores.items()}
        key, count = {"dataset": experiment.label}, len(experiment.outside)
        # Other tables have the residual's cosine.
        for name in [name for name in scores if name != "residual cosine"]:
            rows += _rows(key | {"attack": name}, numbers[name], count)
        for first, second, place in CONTRASTS:
            name = f"{first} less {second}, {COUNTED[place]}"
            contrast = _less(numbers[first], numbers[second], name, place, count)
            key |= {"attack": name, "metric": PAIRED}
            ends = {"low": contrast.low, "high": contrast.high, "n_repeats": contrast.units}
            rows.append({**key, "value": contrast.difference, **ends})
    return tidy(rows, origin_of(retrained))


def play_said(table: pd.DataFrame) -> str:
    """Parameters without retraining beside the loss, and beside outputs with retraining."""
    return leads(table, "IHA less LOSS, pooled", "loss ratio less IHA, pooled")


def scored(experiment: Experiment) -> tuple[dict[str, FloatArray], BoolArray]:
    """Scores of every played model for its record."""
    half = experiment.groups["with"].shape[1] // 2
    out = experiment.groups["targets"][:half]
    parts = [
        _by_losses(experiment, z, out, experiment.groups["with"][r], half)
        for r, z in enumerate(experiment.outside)
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    trained_on = np.repeat([False, True], [half, half])
    return {**scores, **_by_parameters(experiment, out, half)}, trained_on


def _by_losses(
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
        "loss ratio": attacks.lira(of_target, all_references, member),
    }


def _by_parameters(experiment: Experiment, out: np.ndarray, half: int) -> Scores:
    """Attacks on parameters, shape (R, models) each."""
    retrained = experiment.groups["with"][:, half : 2 * half]
    # A model trained on D' is asked about every z, one trained on D' + z about that one.
    nobody = np.zeros(len(experiment.outside), bool)
    shared = [experiment.white_box(model, experiment.outside, nobody) for model in out]
    own = [
        [experiment.white_box(model, experiment.outside[[r]], nobody[[r]]) for model in models]
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


def record_by_record(score: FloatArray, trained_on: BoolArray) -> FloatArray:
    """The AUC of one attack among the models of each record."""
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    return compared.same.mean(axis=(1, 2))


def redrawn(score: FloatArray, trained_on: BoolArray, seed: int) -> FloatArray:
    """Numbers of one attack by `METRICS`: as they are, then under draws of records and models.

    Every attack sees the same draws.
    """
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    rng = np.random.default_rng([seed, 23])
    (count, n_in), n_out = compared.ins.shape, compared.out.shape[1]
    numbers = [compared.numbers(*compared.ones)]
    for _ in range(RESAMPLES):
        records = rng.multinomial(count, np.full(count, 1 / count))
        having = rng.multinomial(n_in, np.full(n_in, 1 / n_in), size=count)
        without = rng.multinomial(n_out, np.full(n_out, 1 / n_out))
        numbers.append(compared.numbers(records, having, without))
    return np.stack(numbers)


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


ATTACKS = ("LOSS", "loss ratio", "SIF", "IHA", "residual norm")
MOST, MOST_NARROW = 10, 5
"""Records that the picture shows of each attack, and that of a phone."""


def control_10(retrained: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-10: the records in the order in which each attack tells them, best first.

    The value is the AUC of an attack among the models of one record.
    """
    rows = []
    for experiment in retrained:
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
    return tidy(rows, origin_of(retrained))


def control_10_said(table: pd.DataFrame) -> str:
    """How alike two attacks order the records of each data set."""
    parts = []
    for dataset, part in table.groupby("dataset", sort=False):
        wide = part.pivot(index="record", columns="attack", values="value")
        rank = rank_correlation(wide["IHA"].to_numpy(), wide["loss ratio"].to_numpy())
        value, low, high = rank.values()
        parts.append(f"{value:.2f} [{low:.2f}, {high:.2f}] over {len(wide)} records of {dataset}")
    return f"Rank correlation of IHA and the loss ratio: {joined(parts)}."


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


def control_10_drawn(table: pd.DataFrame) -> "Figure":
    """The records that each attack tells best, side by side."""
    return plots.image_grid(table[table["column"] <= (MOST_NARROW if is_narrow() else MOST)])


def one_by_one(table: pd.DataFrame) -> pd.DataFrame:
    """One row a record with the AUC of every attack, for those who look at them one by one."""
    key = ["dataset", "record", "label", "shape", "pixels"]
    cells = table.assign(**{name: table[name].fillna("") for name in key[2:]})
    wide = cells.pivot(index=key, columns="attack", values="value")[list(table["attack"].unique())]
    flat = wide.reset_index().rename_axis(columns=None).rename(columns={"dataset": "group"})
    label = flat["label"] + ", record " + flat["record"].astype(str)
    return flat.assign(label=label).drop(columns="record")
