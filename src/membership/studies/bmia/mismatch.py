"""Figure 4: a reference of another architecture than the target's."""

from typing import Any

import numpy as np
import pandas as pd

from membership.attacks.bmia import bmia_sampled, difference
from membership.studies.bmia.evidence import Evidence, attrs
from membership.studies.bmia.summaries import rate_name, spread, tpr
from membership.studies.bmia.worlds import World, factory

RATE = 0.01


def figure_4(world: World, settings: Any) -> pd.DataFrame:
    """BMIA for every pair of architectures, beside the plain difference (Figure 4).

    Parameters
    ----------
    world : World
    settings : Settings
        Uses ``architectures`` and ``n_samples``.

    Returns
    -------
    DataFrame
        Columns target, reference, metric, value, low, high, n_repeats (targets), difference (the
        rate of the plain difference to the same references). The note compares the two.

    Raises
    ------
    InputError
        An architecture is unknown or does not take these records; nothing has been trained.
    """
    for name in settings.architectures:
        factory(name, world.dataset)
    models = {name: _evidence(world, name) for name in settings.architectures}
    listed = []
    for target, attacked in models.items():
        for reference, evidence in models.items():
            rates, plain = (
                tpr(attacked.each(lambda t, a=attacked, e=evidence, f=f: f(a, e, t)), RATE)
                for f in (_bmia, _difference)
            )
            key = {"target": target, "reference": reference, "metric": rate_name(RATE)}
            listed.append({**key, **spread(rates, 100, 0), "difference": np.mean(plain)})
    table = pd.DataFrame(listed)
    gain = table["value"] - table["difference"]
    own = table["target"] == table["reference"]
    matched, other = table[own]["value"].mean(), table[~own]["value"].mean()
    note = (
        f"On {world.label}. BMIA less the plain difference to the same reference: "
        f"{gain.mean():+.2f} points on average, ahead in {(gain > 0).sum()} of {len(gain)} pairs. "
        f"With a reference of the target's architecture: {matched:.2f}%, of another: {other:.2f}%."
    )
    text = f"architectures {', '.join(settings.architectures)} instead of seven networks"
    table.attrs = attrs([world], (text,), note=note)
    return table


def _evidence(world: World, architecture: str) -> Evidence:
    ensemble = world.train(architecture, min(len(world.targets), len(world.references)))
    x, y = world.dataset.x[world.pool], world.dataset.y[world.pool]
    return Evidence(world, ensemble, x, y, world.member, np.ones_like(world.member))


def _bmia(attacked: Evidence, evidence: Evidence, target: int) -> np.ndarray:
    reference = evidence.references(target, 1)[0]
    drawn = evidence.draws(reference, evidence.world.settings.n_samples)
    return bmia_sampled(attacked.signals.hinge[target], drawn)


def _difference(attacked: Evidence, evidence: Evidence, target: int) -> np.ndarray:
    reference = evidence.references(target, 1)[0]
    return difference(attacked.signals.hinge[target], evidence.signals.hinge[reference])
