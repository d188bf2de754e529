"""The clean game at the paper's size again: by damping, with many outputs, as a probability.

Numbers over records and models drawn again come from the evidence called damped; the loss, its
ratio and the projection are drawn again alike, so that all differences are paired.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import plots
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha import clean_game, damped, further_records, probability, whole_game
from membership.book.studies.iha.clean_game import DIFFERENCES, METRICS
from membership.book.studies.iha.whole_game import BETWEEN, RATES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = 0.2
AT_PUBLISHED = f"less itself at damping {PUBLISHED:g}"
HALF = f"half of the lead less what {further_records.CHOSEN} components leave of it"

Numbers = dict[str, FloatArray]


def lira_less(count: int) -> str:
    """The loss ratio with so many components subtracted."""
    parts = f", {count} component{'s' * (count > 1)} subtracted"
    return f"loss ratio{parts * (count > 0)}"


def beside(games: Sequence[xr.Dataset], names: Sequence[str]) -> list[Numbers]:
    """Attacks of iha-ctl-20 by schedule: numbers (draws, readings), the draws those of `damped`."""
    parts = []
    for game in games:
        scores = whole_game.scored(game)
        size = game.sizes["record"], game.sizes["replicate"], game.attrs["seed"]
        draws = whole_game.draws_of(*size, damped.DRAWS)
        parts.append({name: whole_game.measured(scores[name], draws) for name in names})
    return parts


def control_24(measurements: Sequence[xr.Dataset], games: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-24: IHA and IHA* by damping under both schedules, and less LOSS, paired."""
    (found,), rows = measurements, []
    losses = [part["LOSS"] for part in beside(games, ["LOSS"])]
    key = {"dataset": found.attrs["set"]}
    for rate, loss in zip(RATES.values(), losses, strict=True):
        at = {**key, "schedule": rate, "damping": np.nan, "attack": "LOSS"}
        rows += whole_game.rows_of(at, METRICS, loss, len(found.attrs["others"]))
    for damping in found["damping"].values.tolist():
        for attack in damped.STATIONARITIES:
            numbers = [_of(found, schedule, damping, attack) for schedule in RATES]
            best = [_of(found, schedule, PUBLISHED, attack) for schedule in RATES]
            led = [own - loss for own, loss in zip(numbers, losses, strict=True)]
            of = {**key, "damping": damping}
            for rate, own, lead, chosen in zip(RATES.values(), numbers, led, best, strict=True):
                values = {attack: own, f"{attack} less LOSS": lead}
                values |= {f"{attack} {AT_PUBLISHED}": own - chosen}
                rows += _rows(of | {"schedule": rate}, values, found)
            gap = {f"{attack} less LOSS": led[1] - led[0]}
            rows += _rows(of | {"schedule": BETWEEN}, gap, found)
    note = f"Damping {damped.UNDAMPED:g} is none, along directions of curvature above twice alpha."
    return tidy(rows, _about(found) | {"note": note})


def _of(found: xr.Dataset, schedule: str, damping: float, attack: str) -> FloatArray:
    """AUC in both readings, (draws, 2)."""
    part = found["number"].sel(schedule=schedule, damping=damping, attack=attack)
    return part.sel(metric=list(METRICS)).values.astype(float).T


def _rows(key: dict[str, Any], values: Numbers, found: xr.Dataset) -> list[dict[str, Any]]:
    """One row a number and reading; differences have names of their own."""
    rows = []
    for attack, numbers in values.items():
        names = DIFFERENCES if " less " in attack else METRICS
        rows += whole_game.rows_of(
            {**key, "attack": attack}, names, numbers, len(found.attrs["others"])
        )
    return rows


def _about(found: xr.Dataset) -> dict[str, Any]:
    name, records = found.attrs["set"], len(found.attrs["others"])
    size = (
        f"{found.attrs['recipe']['members']:,} training records, one set D', {records} records "
        f"played for, {found.attrs['models']} models a side"
    )
    return {
        "data": found.attrs["data"],
        "deviations": [f"{name}: {size}"],
        "sizes": {name: size},
        "device": found.attrs["device"],
    }


def control_24_drawn(table: pd.DataFrame) -> "Figure":
    """Control 24: AUC against damping, a line an attack and one for the loss, by schedule."""
    shown = table[table["metric"].isin(METRICS) & (table["damping"] > 0)]
    flat = table[(table["attack"] == "LOSS") & table["metric"].isin(METRICS)]
    at = sorted(shown["damping"].unique())
    levels = pd.concat([flat.assign(damping=damping) for damping in at])
    shown = pd.concat([shown, levels], ignore_index=True)
    words = shown["metric"].map(clean_game.READINGS)
    rate = shown["schedule"].str.partition(" (")[0]
    return plots.lines_with_intervals(
        shown.assign(panel=rate + ", " + words, series=shown["attack"]),
        "damping",
        by="series",
        panel="panel",
        log_x=True,
        same_scale=True,
        y_label="AUC",
    )


def control_25(measurements: Sequence[xr.Dataset], games: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-25: the loss ratio with answers elsewhere in account, beside the projection."""
    (found,), rows = measurements, []
    by_rate = zip(RATES.items(), beside(games, ["loss ratio", "projection"]), strict=True)
    for (schedule, rate), others in by_rate:
        answered = found["answered"].sel(schedule=schedule)
        by_count = {
            count: answered.sel(components=count).values.astype(float).T
            for count in found["components"].values.tolist()
        }
        best, cleaned = others["projection"], by_count[further_records.CHOSEN]
        values = {lira_less(count): numbers for count, numbers in by_count.items()}
        values |= {"projection": best, whole_game.PARAMETERS_LED: best - by_count[0]}
        values |= {f"projection less {lira_less(further_records.CHOSEN)}": best - cleaned}
        values |= {HALF: (best - by_count[0]) / 2 - (best - cleaned)}
        rows += _rows({"dataset": found.attrs["set"], "schedule": rate}, values, found)
    note = f"Every model is asked about {len(found.attrs['asked'])} records of D' besides."
    return tidy(rows, _about(found) | {"note": note})


def control_25_drawn(table: pd.DataFrame) -> "Figure":
    """Control 25: AUC by what is asked, a panel a schedule."""
    shown = table[table["metric"].isin(METRICS)]
    rate = shown["schedule"].str.partition(" (")[0]
    return plots.dots_by_row(
        shown.assign(panel=rate, series=shown["metric"].map(clean_game.READINGS)),
        "attack",
        by="series",
        panel="panel",
        baseline=0.5,
        label="AUC",
    )


def control_26(measurements: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-26: the score as a probability, by damping and schedule."""
    (found,), rows = measurements, []
    for (schedule, rate), damping, attack in (
        (pair, damping, attack)
        for pair in RATES.items()
        for damping in found["damping"].values.tolist()
        for attack in damped.STATIONARITIES
    ):
        at = found["number"].sel(schedule=schedule, damping=damping, attack=attack)
        numbers = at.sel(metric=list(probability.METRICS)).values.astype(float).T
        key = {"dataset": found.attrs["set"], "schedule": rate}
        key |= {"damping": damping, "attack": attack}
        rows += whole_game.rows_of(key, probability.METRICS, numbers, len(found.attrs["others"]))
    note = (
        "The coin is fair: a log loss of 0.693 is that of one half for every model. "
        f"Damping {damped.UNDAMPED:g} is none, along directions of curvature above twice alpha."
    )
    return tidy(rows, _about(found) | {"note": note})


def control_26_drawn(table: pd.DataFrame) -> "Figure":
    """Control 26: how far what is said is from what is, and the log loss, against damping."""
    shown = table[table["metric"].isin([probability.OFF, probability.LOG_LOSS])]
    shown = shown[shown["damping"] > 0]
    rate = shown["schedule"].str.partition(" (")[0]
    return plots.lines_with_intervals(
        shown.assign(panel=shown["metric"] + ", " + rate, series=shown["attack"]),
        "damping",
        by="series",
        panel="panel",
        log_x=True,
    )
