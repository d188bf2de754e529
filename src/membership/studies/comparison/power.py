"""What reference models buy: power against their number, and against seconds."""

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import FloatArray
from membership.exhibits import Source
from membership.exhibits.tidy import tidy
from membership.studies.comparison.leaderboard import AREA, RATE, seconds_of
from membership.studies.comparison.scores import Table, contrast, each, origin, typical

COUNTS = (2, 4, 8, 16, 32, 64)
POWER = (
    "loss",
    "lira-offline-global",
    "lira",
    "bavaria",
    "rmia",
    "base",
    "bmia-mixture",
)
FRONT = "on the front"


def counts(source: Source) -> list[int]:
    """The numbers of reference models that are tried."""
    return [n for n in COUNTS if n <= source.settings.n_reference]


def against_references(source: Source) -> pd.DataFrame:
    """AUC and TPR at 1% FPR of attacks by the number of references, over one cell a data set.

    References come in pairs of complements: of two, each record has one trained without it.
    """
    some, rows = typical(source), []
    times = {one.cell: source.evidence(f"times-{one.cell.word}") for one in some}
    for count in counts(source):
        tables = [(one.set, one.fewer(POWER, count)) for one in some]
        for name in POWER:
            if not all(name in table.score for _, table in tables):
                continue
            taken = [seconds_of(name, one, times[one.cell], count) for one in some]
            key = {"references": count, "attack": attacks.registry()[name].display}
            more = {"seconds": float(np.mean(taken))}
            for metric, statistic, how in (
                (AREA, "auc", {}),
                (RATE, "tpr_at_fpr", {"scale": 100.0, "fpr": 0.01}),
            ):
                number = contrast(tables, {name: 1.0}, statistic, source.settings, **how)
                rows.append({**key, "metric": metric, **number, **more})
    return tidy(rows, {**origin(some), "timing": True})


def against_seconds(source: Source) -> pd.DataFrame:
    """The same numbers by seconds; on the front are those that none is cheaper and better than.

    Attacks that the run did not time are left out.
    """
    table = source.table("comparison-fig-2")
    timed = (table["metric"] == AREA) & table["seconds"].notna()
    found = table[timed].reset_index(drop=True)
    cheaper = found["seconds"].to_numpy()[None] < found["seconds"].to_numpy()[:, None]
    better = found["value"].to_numpy()[None] >= found["value"].to_numpy()[:, None]
    front = ~(cheaper & better).any(axis=1)
    made = found.assign(**{FRONT: np.where(front, "yes", "no")})
    made.attrs = dict(table.attrs)
    return made


GAIN_RATE, GAIN_ACCURACY = "gain in TPR at 1% FPR (points)", "gain in accuracy (points)"
GAINERS, EIGHT = ("mast", "lira", "attack-r"), 8


def gains(source: Source) -> pd.DataFrame:
    """What three attacks with eight references gain over the loss, target by target."""
    some, rows = typical(source), []
    for one in some:
        table = one.fewer(("loss", *GAINERS), min(EIGHT, source.settings.n_reference))
        base = _measured(table, "loss")
        for name in GAINERS:
            key = {**one.key, "attack": attacks.registry()[name].display}
            for metric, values in _measured(table, name).items():
                gain = metrics.summary(values - base[metric])
                rows.append({**key, "metric": metric, **gain})
    return tidy(rows, origin(some))


def _measured(table: Table, name: str) -> dict[str, FloatArray]:
    score, member = table.score[name], table.member
    return {
        GAIN_RATE: 100 * each(metrics.tpr_at_fpr, score, member, fpr=0.01),
        GAIN_ACCURACY: 100 * each(metrics.balanced_accuracy, score, member),
    }
