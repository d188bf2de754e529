"""What reference models cost and buy: power against their number, and against seconds."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics, plots
from membership.arrays import FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison.names import AREA, RATE, in_words, picked
from membership.book.studies.comparison.scores import (
    CONTRASTS,
    CellEvidence,
    Table,
    origin,
    per_target,
    typical,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = (2, 4, 8, 16, 32, 64)
POWER = (
    "loss",
    "lira-offline-global",
    "lira",
    "bavaria",
    "rmia",
    "base",
    "base-warm",
    "bmia-mixture",
)
FRONT = "on the front"
COLOURED = ("LOSS", "RMIA online (BASE), temperature 2", "LiRA", "BMIA, mixture")
NOT_DRAWN = "BASE"
"""The pictures have it at a temperature of 2, at which it finds more; the tables have both."""


FEW = ("LiRA", "BMIA, mixture", "BaVarIA-t", "RMIA", "BASE")
GAIN_RATE, GAIN_ACCURACY = "gain in TPR at 1% FPR (points)", "gain in accuracy (points)"
GAINERS, EIGHT = ("mast", "lira", "attack-r"), 8


def references_of(name: str, evidence: CellEvidence, count: int | None = None) -> int:
    """How many reference models an attack uses of those that there are."""
    attack = attacks.registry()[name]
    available = len(evidence.references) if count is None else count
    if "reference models" not in attack.knowledge:
        return 0
    if attack.single_reference:
        # A pair of complements: one of the two was trained without the record.
        return min(available, 2)
    return min(available, 2 * len(evidence.predicted)) if attack.reads_posteriors else available


def seconds_of(
    name: str, evidence: CellEvidence, times: xr.Dataset, count: int | None = None
) -> float:
    """End to end on one target: training and asking references, opening models, scoring.

    With fewer references the statistic is taken to cost in proportion. NaN where the run did not
    time the attack: it was entered later.
    """
    seconds = dict(zip(times["part"].values.tolist(), times["seconds"].values, strict=True))
    attack, used = attacks.registry()[name], references_of(name, evidence, count)
    share = 1.0 if count is None or not used else used / references_of(name, evidence)
    total = seconds["ask"] + used * (seconds["train"] + seconds["ask"])
    total += share * seconds.get(f"score: {name}", np.nan)
    if attack.reads_posteriors:
        # What was timed is of a pair.
        total += used / 2 * seconds["posterior"]
    total += seconds["regression"] if attack.reads_regression else 0.0
    total += seconds["open"] if attack.reads_curvature else 0.0
    return float(total)


def counts(source: Source) -> list[int]:
    """The numbers of reference models that are tried."""
    return [n for n in COUNTS if n <= source.settings.n_reference]


def against_references(source: Source) -> pd.DataFrame:
    """AUC and TPR at 1% FPR of attacks by the number of references, over one cell a data set.

    References come in pairs of complements: of two, each record has one trained without it.
    """
    cells, rows = typical(source), []
    times = {evidence.cell: source.evidence(f"times-{evidence.cell.word}") for evidence in cells}
    for count in counts(source):
        tables = [(evidence.set, evidence.fewer(POWER, count)) for evidence in cells]
        for name in POWER:
            if not all(name in table.score for _, table in tables):
                continue
            seconds = [
                seconds_of(name, evidence, times[evidence.cell], count) for evidence in cells
            ]
            key = {"references": count, "attack": attacks.registry()[name].display}
            more = {"seconds": float(np.mean(seconds))}
            for metric, contrast in CONTRASTS.items():
                number = contrast(tables, {name: 1.0}, source.settings)
                rows.append({**key, "metric": metric, **number, **more})
    return tidy(rows, {**origin(cells), "timing": True})


def against_references_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 2: AUC and TPR at 1% FPR by the number of references."""
    return plots.lines_with_intervals(
        table[table["attack"] != NOT_DRAWN],
        x="references",
        panel="metric",
        x_label="reference models",
        log_x=True,
        coloured=COLOURED,
    )


def against_references_said(table: pd.DataFrame) -> str:
    """Which attack leads with how many references, and how the attacks fare with few."""
    area = picked(table, AREA)
    first = area.loc[area.groupby("references")["value"].idxmax()]
    ends = sorted({first["references"].min(), first["references"].max()})
    first = first[first["references"].isin(ends)]
    clauses = [f"{row.attack} {row.value:.3f} with {row.references}" for row in first.itertuples()]
    loss = area[area["attack"] == "LOSS"]["value"].iloc[0]
    return f"Largest AUC: {joined(clauses)}; LOSS, with none, has {loss:.3f}.{_of_few(table)}"


def _of_few(table: pd.DataFrame) -> str:
    """The rates with the fewest references that give every attack its numbers."""
    rate = picked(table, RATE)
    few = rate[rate["references"] == rate.loc[rate["attack"] == "LiRA", "references"].min()]
    if few.empty:
        return ""
    few = few[few["attack"].isin(FEW)].sort_values("value")
    clauses = [f"{row.attack} {row.value:.1f}%" for row in few.itertuples()]
    return f" TPR at 1% FPR with {few['references'].iloc[0]}: {joined(clauses)}."


def against_seconds(source: Source) -> pd.DataFrame:
    """The same numbers by seconds; on the front are those that none is better than for no more.

    Costs are equal that differ by less than the training of one reference model: a second is spent
    on whole models, and was timed once. Attacks that the run did not time are left out.
    """
    table = source.table("comparison-fig-2")
    timed = (table["metric"] == AREA) & table["seconds"].notna()
    points = table[timed].reset_index(drop=True)
    is_on = front(points, _of_one_reference(source))
    marked = points.assign(**{FRONT: np.where(is_on, "yes", "no")})
    marked.attrs = dict(table.attrs)
    return marked


def front(points: pd.DataFrame, step: float) -> np.ndarray:
    """Which points no other is better than for no more, nor as good for less, by whole steps."""
    dearer, better = (
        points[name].to_numpy()[None] - points[name].to_numpy()[:, None]
        for name in ("seconds", "value")
    )
    return ~(((dearer < step) & (better > 0)) | ((dearer <= -step) & (better == 0))).any(axis=1)


def _of_one_reference(source: Source) -> float:
    """Seconds that one reference model takes to train, averaged as those of the attacks are."""
    timed = [source.evidence(f"times-{evidence.cell.word}") for evidence in typical(source)]
    return float(np.mean([times["seconds"][times["part"] == "train"].item() for times in timed]))


def against_seconds_said(table: pd.DataFrame) -> str:
    """Who is on the front, and the seconds and AUC of its ends."""
    front = table[table["on the front"] == "yes"].sort_values("seconds")
    front = front.drop_duplicates("attack", keep="first")
    takes = [
        f"{row.attack} takes {row.seconds:.2g} s for an AUC of {row.value:.3f}"
        for row in front.itertuples()
    ]
    ends = ", ".join(dict.fromkeys((takes[0], takes[-1])))
    attacks = joined(list(front["attack"]))
    return f"For the seconds that they take, none is better than {attacks}. {ends}."


def against_seconds_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 3: the AUC by seconds."""
    shown = table[table["attack"] != NOT_DRAWN]
    shown = shown.assign(panel="one target, end to end", x=shown["seconds"], y=shown["value"])
    return plots.scatter_panels(
        shown,
        by="attack",
        log_x=True,
        labels={"one target, end to end": ("processor seconds", "AUC")},
        coloured=COLOURED,
    )


def gains(source: Source) -> pd.DataFrame:
    """What three attacks with eight references gain over the loss, target by target."""
    cells, rows = typical(source), []
    for evidence in cells:
        table = evidence.fewer(("loss", *GAINERS), min(EIGHT, source.settings.n_reference))
        base = _measured(table, "loss")
        for name in GAINERS:
            key = {**evidence.key, "attack": attacks.registry()[name].display}
            gained = {
                metric: values - base[metric] for metric, values in _measured(table, name).items()
            }
            rows += of_each(key, "metric", gained)
    return tidy(rows, origin(cells))


def _measured(table: Table, name: str) -> dict[str, FloatArray]:
    score, member = table.score[name], table.member
    return {
        GAIN_RATE: 100 * per_target(metrics.tpr_at_fpr, score, member, fpr=0.01),
        GAIN_ACCURACY: 100 * per_target(metrics.balanced_accuracy, score, member),
    }


def gains_drawn(table: pd.DataFrame) -> "Figure":
    """Control 2: what calibration adds at few false positives, and on average."""
    words = {GAIN_RATE: "TPR at 1% FPR", GAIN_ACCURACY: "accuracy"}
    return plots.dots_by_row(
        table.assign(cell=in_words(table), metric=table["metric"].map(words)),
        "attack",
        by="metric",
        panel="cell",
        label="gain over LOSS (points)",
        baseline=0.0,
        stems=True,
        told="+.1f",
    )
