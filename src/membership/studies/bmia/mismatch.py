"""A reference of another architecture than the target's, and non-members of another source."""

import numpy as np
import pandas as pd

from membership import published
from membership.attacks.references import difference
from membership.exhibits.source import Source
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia import names, scores
from membership.studies.bmia.predictive import scored
from membership.studies.bmia.scores import (
    LESS_BMIA,
    Seen,
    less,
    pairs_of,
    percent,
    rate_name,
    rows,
    tpr,
)

RATE = 0.01
TABLE_2_RATES = (0.001, 0.005, 0.01, 0.05)
TABLE_2_SIZE = 8
ON = ["attack", "n_reference", "metric"]


def figure_4(datasets: list[Seen]) -> pd.DataFrame:
    """BMIA for every pair of architectures, beside the plain difference (Figure 4)."""
    models = {seen.outputs.attrs["recipe"]["architecture"]: seen for seen in datasets}
    listed = []
    for target, attacked in models.items():
        for reference, seen in models.items():
            key = {"target": target, "reference": reference, "metric": rate_name(RATE)}
            rates = tpr(scored(attacked, seen.posterior, "kron"), RATE)
            plain = tpr(attacked.each(_difference(attacked, seen)), RATE)
            listed.append({**key, **percent(rates), "difference": np.mean(plain)})
    table = pd.DataFrame(listed)
    text = f"architectures {', '.join(models)} instead of seven networks"
    table.attrs = origin(datasets[:1], text, note=_note(table, datasets[0].label))
    return table


def _note(table: pd.DataFrame, label: str) -> str:
    gain = table["value"] - table["difference"]
    own = table["target"] == table["reference"]
    matched, other = table[own]["value"].mean(), table[~own]["value"].mean()
    return (
        f"On {label}. BMIA less the plain difference to the same reference: "
        f"{gain.mean():+.2f} points on average, ahead in {(gain > 0).sum()} of {len(gain)} pairs. "
        f"With a reference of the target's architecture: {matched:.2f}%, of another: {other:.2f}%."
    )


def _difference(attacked: Seen, seen: Seen):
    return lambda t: difference(attacked.hinge[t], seen.hinge[seen.first(t)])


def read_architectures(source: Source) -> list[Seen]:
    """The evidence of Figure 4."""
    return pairs_of([source.evidence(name) for name in names.of_architectures(source.settings)])


def read_strangers(source: Source) -> Seen:
    """The evidence of Table 2."""
    return pairs_of([source.evidence(name) for name in names.of_strangers(source.settings)])[0]


def table_2(seen: Seen) -> pd.DataFrame:
    """Members against non-members of another source, and less BMIA's (Table 2)."""
    attacked, listed = scores.all_scores(seen), []
    data, bmia = seen.attrs["setup"]["data"], attacked["BMIA", 1]
    for (name, n), pairs in attacked.items():
        if n in (0, 1, TABLE_2_SIZE):
            key = {"data": data, "attack": name, "n_reference": n}
            listed += rows(key, pairs, TABLE_2_RATES)
            if name != "BMIA":
                listed += less(key, pairs, bmia, LESS_BMIA, TABLE_2_RATES)
    return tidy(listed, origin([seen]))


def table_2_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_2` beside the published one."""
    return published.compare(table, published.reference("bmia_table2"), ON)
