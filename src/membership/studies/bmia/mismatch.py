"""Figure 4: a reference of another architecture than the target's."""

from typing import Any

import numpy as np
import pandas as pd

from membership.attacks.bmia import bmia_from_moments
from membership.attacks.references import difference
from membership.exhibits.tidy import origin
from membership.studies.bmia import names
from membership.studies.bmia.seen import Seen, pairs_of
from membership.studies.bmia.summaries import percent, rate_name, tpr

RATE = 0.01


def figure_4(source: Any) -> pd.DataFrame:
    """BMIA for every pair of architectures, beside the plain difference (Figure 4)."""
    found = pairs_of([source.evidence(n) for n in names.of_architectures(source.settings)])
    models = {seen.outputs.attrs["recipe"]["architecture"]: seen for seen in found}
    listed = []
    for target, attacked in models.items():
        for reference, seen in models.items():
            key = {"target": target, "reference": reference, "metric": rate_name(RATE)}
            rates = tpr(attacked.each(_bmia(attacked, seen)), RATE)
            plain = tpr(attacked.each(_difference(attacked, seen)), RATE)
            listed.append({**key, **percent(rates), "difference": np.mean(plain)})
    table = pd.DataFrame(listed)
    text = f"architectures {', '.join(models)} instead of seven networks"
    table.attrs = origin(found[:1], text, note=_note(table, found[0].label))
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


def _bmia(attacked: Seen, seen: Seen):
    return lambda t: bmia_from_moments(attacked.hinge[t], *seen.moments(seen.first(t)))


def _difference(attacked: Seen, seen: Seen):
    return lambda t: difference(attacked.hinge[t], seen.hinge[seen.first(t)])
