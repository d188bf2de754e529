"""How often the retrained networks are right, on their records and on others."""

from typing import Any

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.studies.lood.networks import NETWORK_W_STD, Retrained, factory
from membership.studies.lood.records import load

ASKED = ("their records", "other records")


def accuracy(retrained: Retrained, settings: Any, activation: str) -> FloatArray:
    """Percent of records that each network with all of its own is right on, (2, networks).

    Of its own, and of the run's further ones; NaN where the networks have all of the run's.
    """
    own, every = retrained.records, load(settings)
    sets = [own.dataset]
    if len(every) > len(own):
        sets.append(every.dataset.select(np.arange(len(own), len(every))))
    module = factory(own, settings, activation)()
    first = next(iter(module.state_dict()))
    deviation = NETWORK_W_STD[activation] / np.sqrt(np.prod(own.shape))
    found = np.full((2, len(retrained.inside)), np.nan)
    for network, seed in enumerate(retrained.inside.seeds):
        state = {name: value[network] for name, value in retrained.inside.parameters.items()}
        weights = retrained.space.expanded(state[first].double().numpy(), deviation, seed)
        module.load_state_dict(state | {first: torch.tensor(weights, dtype=torch.float32)})
        for place, some in enumerate(sets):
            with torch.no_grad():
                answers = module(torch.tensor(some.x)).argmax(1).numpy()
            found[place, network] = 100 * np.mean(answers == some.y)
    return found
