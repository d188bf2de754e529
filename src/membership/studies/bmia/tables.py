"""Tables 1 and 2, the difference without a posterior, and LiRA's variances."""

from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, published
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia import names, scores
from membership.studies.bmia.predictive import asked_less, full_posterior
from membership.studies.bmia.seen import Seen, further, pairs_of, read
from membership.studies.bmia.summaries import measured, rows
from membership.studies.bmia.worlds import LABELS, PUBLISHED

TABLE_2_RATES = (0.001, 0.005, 0.01, 0.05)
TABLE_2_SIZE = 8
ON = ["dataset", "attack", "n_reference", "metric"]
_SETUP = (
    "LiRA offline, one-sided, a variance a record; RMIA with a = 0.3, untuned; QMIA a small "
    "network that fits a normal law, without hyper-parameter search"
)


def table_1(source: Any) -> pd.DataFrame:
    """True-positive rates of all attacks (Table 1); times are in `times`."""
    some, listed, fully = read(source), [], []
    for seen, variants in zip(some, further(source, "variants"), strict=True):
        found = scores.all_scores(seen)
        if full := full_posterior(seen, variants):
            fully.append((seen, full[0]))
            found[scores.FULL, 1] = full[1]
        for (name, n), pairs in found.items():
            listed += rows({"dataset": seen.label, "attack": name, "n_reference": n}, pairs)
    return tidy(listed, origin(some, _SETUP, note=asked_less(fully)))


def table_1_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_1` beside the published one, where the paper has one."""
    return published.compare(table, printed_1(), ON)


def printed_1() -> pd.DataFrame:
    """The published Table 1, a data set's rows under each name that stands for it here."""
    found = published.reference("bmia_table1")
    parts = [
        found[found["dataset"] == theirs].assign(dataset=LABELS[ours])
        for ours, theirs in PUBLISHED.items()
    ]
    rest = found[~found["dataset"].isin(PUBLISHED.values())]
    return tidy([*parts, rest], found.attrs)


def control_1(source: Any) -> pd.DataFrame:
    """What the posterior adds to the plain difference to the same reference (Control 1)."""
    some, listed = read(source), []
    for seen in some:
        plain = measured(seen.attack("difference"))
        largest = scores.keys(seen)[-1][1]
        others = {
            "BMIA": seen.attack("bmia"),
            scores.CONSTANT: scores.constant_sd(seen),
            scores.CLOSED: seen.attack("bmia-closed"),
            scores.MIXTURE: seen.attack("bmia-mixture", largest),
        }
        for name, pairs in others.items():
            for metric, values in measured(pairs).items():
                gain = np.subtract(values, plain[metric])
                key = {"dataset": seen.label, "attack": name}
                name_of_gain = f"{metric.replace('auc', 'AUC')} gained"
                listed.append({**key, "metric": name_of_gain, **metrics.summary(gain)})
    return tidy(listed, origin(some))


def control_6(source: Any) -> pd.DataFrame:
    """LiRA with a variance a record, with one for all records, and two-sided (Control 6)."""
    kinds: dict[str, dict[str, str]] = {
        "a record, one-sided": {},
        "global, one-sided": {"variance": "global"},
        "a record, two-sided": {"sided": "two"},
    }
    some, listed = read(source), []
    for seen in some:
        sizes = [n for name, n in scores.keys(seen) if name == "LiRA"]
        for name, choice in kinds.items():
            for n in sizes:
                key = {"dataset": seen.label, "variance": name, "n_reference": n}
                listed += rows(key, scores.lira(seen, n, **choice))
    return tidy(listed, origin(some))


def strangers_seen(source: Any) -> Seen:
    """The evidence of Table 2."""
    return pairs_of([source.evidence(name) for name in names.of_strangers(source.settings)])[0]


def table_2(source: Any) -> pd.DataFrame:
    """Members against non-members of another source (Table 2)."""
    seen = strangers_seen(source)
    return tidy(
        [
            row
            for (name, n), pairs in scores.all_scores(seen).items()
            if n in (0, 1, TABLE_2_SIZE)
            for row in rows({"attack": name, "n_reference": n}, pairs, TABLE_2_RATES)
        ],
        origin([seen]),
    )


def table_2_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_2` beside the published one."""
    return published.compare(table, published.reference("bmia_table2"), ON[1:])
