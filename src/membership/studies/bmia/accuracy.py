"""What the posterior gains against how well the networks generalise (Control 16)."""

from typing import Any

import numpy as np
import pandas as pd

from membership import metrics
from membership.exhibits.tidy import tidy
from membership.studies.bmia import names
from membership.studies.bmia.seen import Seen, origin, pairs_of, read
from membership.studies.bmia.summaries import measured

TEST = "test accuracy (%)"
ON_OTHERS, ON_MEMBERS = "accuracy on other records (%)", "accuracy on members (%)"


def control_16(source: Any) -> pd.DataFrame:
    """BMIA's gains over the plain difference by data set and network, and accuracies (Control 16).

    A hinge above 0 is a right answer. Networks other than a data set's own are those of Figure 4.
    """
    listed: list[dict[str, Any]] = []
    known: set[tuple[str, str]] = set()
    others = pairs_of([source.evidence(n) for n in names.of_architectures(source.settings)])
    some = read(source)
    for seen in [*some, *others]:
        network = seen.outputs.attrs["recipe"]["architecture"]
        if (seen.label, network) in known:
            continue
        known.add((seen.label, network))
        members = int(seen.outputs.attrs["recipe"]["members"])
        own = _of(seen)
        tested = float(np.mean(own[ON_OTHERS]))
        key = {"dataset": seen.label, "network": network, "members": members, TEST: tested}
        listed += [
            {**key, "metric": name, **metrics.summary(values)} for name, values in own.items()
        ]
    return tidy(listed, origin(some))


def _of(seen: Seen) -> dict[str, Any]:
    plain, ours = (measured(seen.attack(name)) for name in ("difference", "bmia"))
    gain = {
        f"{name.replace('auc', 'AUC')} gained": np.subtract(ours[name], plain[name])
        for name in ours
    }
    found = {**gain, ON_OTHERS: [], ON_MEMBERS: []}
    for t in seen.targets:
        found[ON_OTHERS].append(100 * (seen.outputs["held_hinge"].values[t] > 0).mean())
        found[ON_MEMBERS].append(100 * (seen.hinge[t][seen.member[t]] > 0).mean())
    return found
