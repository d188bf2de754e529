"""A convolutional network as a cell of the bench: the evidence of BMIA's, attacked as all others.

Nothing is trained here. The evidence is that of the full run of the chapter on BMIA: a
ResNet-18 on CIFAR-10's images, with augmented queries. Its references were trained without any of
the records that are asked, so that attacks which train on these are left out.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from membership import attacks, evidence, metrics, paths, plots
from membership.attacks.registry import BOTH
from membership.book.exhibits import Source, files
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison.leaderboard import ACCURACY, LOW
from membership.book.studies.comparison.names import AREA, RATE, picked
from membership.book.studies.comparison.scores import CARRIED, added
from membership.book.studies.comparison.settings import Settings
from membership.metrics.rate_names import tpr_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHAPTER = "bmia"
SINGLE, LAWS, VIEWS = (
    "outputs-convolutional",
    "posterior-convolutional",
    "outputs-views-convolutional",
)
ONE, TEN, LESS, ABSENT = "one", "ten, averaged", "less one query's", "targets there"
AGAIN = (
    "loss",
    "attack-r",
    "mast",
    "lira-offline",
    "lira-offline-global",
    "bavaria-offline",
    "rmia",
    "difference",
)
"""The attacks that are repeated on signals averaged over an image's shifts and mirror images."""
EQUAL = ("rmia-share",)
"""It orders records as RMIA does."""
RATES: dict[str, tuple[str | float, float]] = {
    AREA: ("auc", 1.0),
    RATE: (0.01, 100.0),
    LOW: (0.001, 100.0),
}
RESAMPLES = 40
"""Of the records at most: 24,000 are asked, and five targets make nearly all of the interval."""
_NOTE = (
    "Nothing is trained for it: the evidence is that of the ResNet-18 in Control 18 of BMIA's "
    "chapter. Attacks that train references with the record, such as online LiRA and BASE, would "
    "take other references."
)


def cell(source: Source) -> pd.DataFrame:
    """comparison-ctl-7: what attacks find on the network, and what ten queries add to one."""
    committed = [_committed(name) for name in (SINGLE, LAWS, VIEWS)]
    present = [_asked(part, source.settings) for part in committed if part is not None]
    if len(present) < len(committed):
        row = {"queries": "", "attack": "none", "metric": ABSENT, **metrics.exactly(0)}
        return tidy([row], {"note": "The paper-size evidence of BMIA's network is not here."})
    single, laws, views = present
    known = attacks.registry()
    table = attacks.score_table(single, laws)
    one = {
        name: score
        for name, score in table.score.items()
        if known[name].references != BOTH and name not in EQUAL
    }
    more = attacks.score_table(views)
    again = {name: s for name, s in more.score.items() if name in AGAIN}
    rows = _of_models(single)
    alone, several = (_rates(score, table.member, source.settings) for score in (one, again))
    for name, numbers in alone.items():
        rows += _rows(ONE, name, numbers)
    for name, numbers in several.items():
        rows += _rows(TEN, name, numbers)
        gains = {key: number + alone[name][key] * -1.0 for key, number in numbers.items()}
        rows += _rows(TEN, name, gains, f", {LESS}")
    return tidy(rows, _origin(single))


def cell_said(table: pd.DataFrame) -> str:
    """The three largest rates at 1%, and what ten queries add to LiRA and RMIA."""
    if ABSENT in set(table["metric"]):
        return "The paper-size evidence of BMIA's network is not here."
    if RATE not in set(table["metric"]):
        best = picked(table, AREA).nlargest(1, "value").iloc[0]
        return f"{best['attack']} has the largest AUC, {best['value']:.3f}."
    rate = picked(table, RATE).sort_values("value", ascending=False)
    first = rate[rate["queries"] == ONE].head(3)
    clauses = ", ".join(f"{row.attack} {row.value:.1f}%" for row in first.itertuples())
    gains = picked(table, f"{RATE}, {LESS}").set_index("attack")["value"]
    more = " and ".join(
        f"{name} {gains[name]:+.1f}" for name in ("LiRA offline", "RMIA") if name in gains
    )
    return (
        f"Largest TPR at 1% FPR with one query: {clauses}. Ten queries change it by points: {more}."
    )


def cell_drawn(table: pd.DataFrame) -> "Figure":
    """Control 7: the largest number that there is, by queries."""
    present = set(table["metric"])
    metric = next(name for name in (RATE, AREA, ABSENT) if name in present)
    rows = picked(table, metric).sort_values("value", ascending=False)
    baseline, label = (0.5, metric) if metric != RATE else (1.0, tpr_label(0.01))
    label = f"{label}, by queries an image"
    return plots.dots_by_row(rows, "attack", by="queries", baseline=baseline, label=label)


def _committed(name: str) -> xr.Dataset | None:
    path = files.location(name, CHAPTER, "paper").with_suffix(".evidence")
    path = paths.in_run(path)
    return evidence.load(path) if path.is_file() else None


def _asked(one: xr.Dataset, settings: Settings) -> xr.Dataset:
    """All records at paper size; smaller profiles ask the first so many."""
    return one if settings.profile == "paper" else one.isel(record=slice(settings.n_pool))


def _rates(score: dict[str, Any], member: Any, settings: Settings) -> dict[str, dict]:
    how = {"resamples": min(RESAMPLES, settings.resamples), "seed": settings.seed}
    fewest = int((~member).sum(axis=1).min())
    rates = [key for key, _ in RATES.values() if isinstance(key, float) and key * fewest >= CARRIED]
    return metrics.resampled_rates(score, member, fprs=rates, **how)


def _rows(queries: str, name: str, numbers: dict, suffix: str = "") -> list[dict[str, Any]]:
    display = attacks.registry()[name].display
    return [
        {
            "queries": queries,
            "attack": display,
            "metric": f"{metric}{suffix}",
            **added([numbers[key].interval()], scale),
        }
        for metric, (key, scale) in RATES.items()
        if key in numbers
    ]


def _of_models(single: xr.Dataset) -> list[dict[str, Any]]:
    """The targets' accuracy: a hinge above 0 is a right answer."""
    targets = single.attrs["targets"]
    right, member = single["hinge"].values[targets] > 0, single["member"].values[targets]
    shares = (
        [100 * answers[inside].mean() for answers, inside in zip(right, member, strict=True)],
        100 * (single["held_hinge"].values[targets] > 0).mean(axis=1),
    )
    key, values = {"queries": ONE, "attack": "(model)"}, dict(zip(ACCURACY, shares, strict=True))
    return of_each(key, "metric", values, lowest=0.0, highest=100.0)


def _origin(single: xr.Dataset) -> dict[str, Any]:
    attributes = single.attrs
    sizes = {
        "Target models": str(len(attributes["targets"])),
        "Reference models": str(len(attributes["references"])),
        "Members of each": f"{attributes['recipe']['members']:,}",
        "Records asked": f"{single.sizes['record']:,}",
        "Population records": f"{single.sizes['held']:,}",
    }
    return {
        "data": attributes["data"],
        "deviations": [
            *attributes["deviations"],
            "Queries are averaged; LiRA's and RMIA's authors combine them record by record",
        ],
        "device": attributes["device"],
        "sizes": sizes,
        "note": _NOTE,
    }
