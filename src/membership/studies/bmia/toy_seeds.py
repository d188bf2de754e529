"""Figure 1 again on other records: how much wider each band is where there are none.

Control 11.
"""

from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from torch import nn

from membership import evidence, metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.bmia import names, toy
from membership.training.ensemble import forward, stack

READINGS = {"variance 0.8": 0.8, "standard deviation 0.8": 0.64}
"""The two readings of the paper's 0.8, as variances."""
SEEDS = {"tiny": 2, "quick": 5, "paper": 20}
STEPS = {"tiny": 100, "quick": toy.STEPS, "paper": toy.STEPS}

RATIO = "width in the middle / near the records"
EXCESS = f"{RATIO}, less the quantile regression's"


def gather(settings: Any) -> xr.Dataset:
    """Mean widths of the 90% bands in the middle and near the records, by reading and seed."""
    n, places = SEEDS[settings.profile], list(enumerate(READINGS.values()))
    drawn = [_records(settings.seed, at, var, seed) for at, var in places for seed in range(n)]
    x, y = np.moveaxis(np.array(drawn), 1, 0)
    seeds = [1000 * settings.seed + seed for seed in range(n)] * len(places)
    networks = [_fit(x, y, *one, seeds, STEPS[settings.profile]) for one in toy.ANSWERS]
    found = [_widths(toy.bands_of(*each)) for each in zip(*networks, x, y, strict=True)]
    shape = (len(places), n, len(toy.MODELS), 2)
    return evidence.dataset(
        "measured",
        {"width": (("reading", "seed", "model", "place"), np.reshape(found, shape))},
        {"reading": list(READINGS), "model": list(toy.MODELS), "place": ["middle", "near"]},
        set="toy regression",
        data={},
        recipe={"records": toy.RECORDS, "steps": STEPS[settings.profile]},
        device="cpu",
    )


def _records(seed: int, reading: int, variance: float, own: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([seed, 25, reading, own])
    x = toy.draw_x(rng, toy.RECORDS, variance)
    return x, np.sin(1.2 * x) + toy.NOISE * rng.standard_normal(toy.RECORDS)


def _fit(
    x: FloatArray, y: FloatArray, outputs: int, loss: Any, seeds: list[int], steps: int
) -> list[nn.Module]:
    """What `toy` fits to each row of records, in one batched program; Adam acts entry by entry."""
    networks = [toy.start(outputs, seed) for seed in seeds]
    parameters, _ = stack(networks, torch.device("cpu"))
    optimiser = torch.optim.Adam(parameters.values(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    given, truth = torch.tensor(x)[..., None], torch.tensor(y)[..., None]
    for _ in range(steps):
        optimiser.zero_grad()
        # The mean over all networks, times their number: each has its own loss's gradient.
        (len(seeds) * loss(forward(networks[0], parameters, {}, given), truth)).backward()
        optimiser.step()
        schedule.step()
    for place, network in enumerate(networks):
        network.load_state_dict({name: one[place].detach() for name, one in parameters.items()})
    return networks


def _widths(bands: dict[str, Any]) -> list[list[float]]:
    """Each model's two widths."""
    middle, near = np.abs(toy.GRID) < 1, np.abs(np.abs(toy.GRID) - 3) < 1
    found = []
    for name in toy.MODELS:
        low, _, high = bands[name](toy.GRID)
        found.append([float((high - low)[place].mean()) for place in (middle, near)])
    return found


def control_11(source: Any) -> pd.DataFrame:
    """Widths in the middle over those near the records, over seeds (Control 11)."""
    seen, listed = source.evidence(names.TOY), []
    ratio = seen["width"].sel(place="middle") / seen["width"].sel(place="near")
    for reading in ratio["reading"].values:
        part = {str(name): ratio.sel(reading=reading, model=name).values for name in toy.MODELS}
        for name, values in part.items():
            key = {"reading": str(reading), "model": name}
            listed.append({**key, "metric": RATIO, **metrics.summary(values)})
            if name in toy.BAYES:
                excess = values - part["quantile regression"]
                listed.append({**key, "metric": EXCESS, **metrics.summary(excess)})
    recipe = seen.attrs["recipe"]
    attrs = {
        "data": {},
        "deviations": [f"{recipe['records']} records, networks and training chosen here"],
        "device": seen.attrs["device"],
        "sizes": {"Data seeds": str(ratio.sizes["seed"])},
    }
    return tidy(listed, attrs)
