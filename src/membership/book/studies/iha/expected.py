"""What a linear theory expects of each record of the clean game, beside what was found.

To first order in the weights, adding a record moves their law and leaves its spread: how far, in
standard deviations, is had from retrainings on D' alone (`neighbours`), for all parameters and for
the record's own answer. The square of their ratio is the share of the signal that one answer keeps.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, spearmanr

from membership import metrics, plots
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_error
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha import clean_game, subjects, whole_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

READ = {"parameters": subjects.EXPECTED[0], "outputs": subjects.EXPECTED[1]}
EXPECTED, FOUND, APART = "AUC expected", "AUC found", "AUC found less expected"
RANKS, SHARE = "rank correlation of expected and found", "share of the signal in one output"
ANSWER, ONE = "one output", "AUC found, one record"
RESAMPLES = 400


def expected(game: xr.Dataset) -> dict[str, FloatArray]:
    """Standard deviations between the two laws of each record, (R,), by what is read."""
    law = game["form"].sel(inverse=subjects.FITTED, side="without").isel(replicate=0)
    return {reads: law.sel(term=name).values.astype(float) for reads, name in READ.items()}


def found(game: xr.Dataset) -> dict[str, FloatArray]:
    """AUC among the models of each record, (R,), by what is read, each in its better direction.

    Of outputs that is the log-odds, higher with the record. The projection's direction is that of
    the references, and it is told higher with the record by those of both sides.
    """
    answers = game["answer"].values[..., 0, 0].astype(float)
    place = game["inverse"].values.tolist().index(subjects.FITTED)
    halves = []
    for half, name in enumerate(subjects.PROJECTED):
        signal = clean_game.form_of(game, place, name)
        played, references = signal[:, :, 1 - half :: 2], signal[:, :, half::2]
        sign = np.sign(np.diff(references.mean(2), axis=1))[:, :, None]
        halves.append(_aucs(sign * played))
    return {"parameters": np.mean(halves, axis=0), "outputs": _aucs(answers)}


def _aucs(signal: FloatArray) -> FloatArray:
    """Of each record's models without and with it, (R, sides, K)."""
    member = np.repeat([False, True], signal.shape[2])
    return np.array([metrics.auc(one.ravel(), member) for one in signal])


def control_27(whole: Sequence[xr.Dataset], games: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-27: by game and by what is read, and the share; at the paper's size each record."""
    rows: list[dict[str, Any]] = []
    for place, game in enumerate([*whole, *games]):
        key = {"dataset": game.attrs["set"], "training_records": game.attrs["recipe"]["members"]}
        key |= {"sets": len(set(game.attrs["others"]))}
        key |= {"schedule": whole_game.RATES[game.attrs["recipe"]["schedule"]]}
        theory, seen = expected(game), found(game)
        rows += _summaries(key, theory, seen, game.attrs["seed"])
        for reads, distance in theory.items() if place < len(whole) else ():
            points = zip(game["record"].values.tolist(), auc_of(distance), seen[reads], strict=True)
            rows += [
                {**key, "reads": reads, "metric": ONE, "record": record, EXPECTED: x, "value": y}
                for record, x, y in points
            ]
    note = "An error is that over records drawn again; the models are those of each game."
    return tidy(rows, clean_game.about([*whole[:1], *games]) | {"note": note})


def auc_of(distance: FloatArray) -> FloatArray:
    """Of two normal laws so many standard deviations apart."""
    return norm.cdf(distance / np.sqrt(2))


def _summaries(
    key: dict[str, Any], theory: dict[str, FloatArray], seen: dict[str, FloatArray], seed: int
) -> list[dict[str, Any]]:
    rows, count = [], len(seen["outputs"])
    drawn = np.random.default_rng([seed, 53]).integers(count, size=(RESAMPLES, count))
    for reads, distance in theory.items():
        of, auc = {**key, "reads": reads}, auc_of(distance)
        pairs = {EXPECTED: auc, FOUND: seen[reads], APART: seen[reads] - auc}
        rows += [_row({**of, "metric": name}, np.mean, drawn, v) for name, v in pairs.items()]
        rows.append(_row({**of, "metric": RANKS}, _ranks, drawn, auc, seen[reads]))
    share = (theory["outputs"] / theory["parameters"]) ** 2
    return [*rows, _row({**key, "reads": ANSWER, "metric": SHARE}, np.median, drawn, share)]


def _ranks(one: FloatArray, other: FloatArray) -> float:
    """Spearman's, 0 where one of them is the same for all that were drawn."""
    alike = np.ptp(one) == 0 or np.ptp(other) == 0
    return 0.0 if alike else float(spearmanr(one, other)[0])


def _row(key: dict[str, Any], statistic: Any, drawn: np.ndarray, *values: FloatArray) -> dict:
    """A number over records, its error over records drawn again."""
    redrawn = [statistic(*(part[rows] for part in values)) for rows in drawn]
    count = len(values[0])
    value, error = float(statistic(*values)), float(np.std(redrawn, ddof=1))
    return key | of_error(value, error, count, count - 1.0)


def control_27_drawn(table: pd.DataFrame) -> "Figure":
    """Control 27: a point a record, found against expected, by what is read and schedule."""
    shown = table[table["metric"] == ONE]
    rate = shown["schedule"].str.partition(" (")[0]
    panel = shown["reads"] + ", " + rate
    return plots.scatter_panels(
        shown.assign(panel=panel, series="a record"),
        x=EXPECTED,
        y="value",
        identity=True,
        labels={name: (f"{EXPECTED}: {name}", FOUND) for name in panel},
    )
