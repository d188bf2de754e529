"""What batched training is worth: many small networks in one program against one by one."""

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

from membership import data, models, training
from membership.training.ensemble import initial_module

# tanh, as in Shokri et al. (2017): with ReLU a unit whose input lies within rounding of zero may
# switch, after which the two ways part by more than rounding.
FACTORY = partial(models.mlp, 600, (32,), 100, activation="tanh")
CONFIG = training.TrainingConfig(
    epochs=5, batch_size=64, learning_rate=0.01, momentum=0.9, weight_decay=5e-4
)


def train_one_by_one(
    dataset: data.Dataset, members: np.ndarray, config: training.TrainingConfig, seed: int
) -> torch.nn.Module:
    """The usual way: a DataLoader, a module, torch's SGD."""
    model = initial_module(FACTORY, seed)
    optimiser = config.make_optimiser(list(model.parameters()))
    records = TensorDataset(torch.tensor(dataset.x), torch.tensor(dataset.y))
    for epoch in range(config.epochs):
        order = training.batch_order(seed, epoch, members).tolist()
        for x, y in DataLoader(records, batch_size=config.batch_size, sampler=order):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimiser.step()
    return model


def run(n_models: int = 32, n_records: int = 8000) -> pd.DataFrame:
    """Train the same networks both ways in one process and compare times and parameters.

    Parameters
    ----------
    n_models : int
        Networks 600-32-100, each trained on a random half of the records.
    n_records : int
        Purchase-like records, simulated.

    Returns
    -------
    pandas.DataFrame
        One row: what, size, ours (s), reference (s), ratio, note. The reference trains one network
        after the other with a DataLoader, from the same starts and with the same batches; the note
        has the largest difference of any parameter of any network.
    """
    dataset = data.simulate_purchase(n_records, seed=0)
    membership = data.random_halves(n_models, n_records, seed=0)
    seeds = list(range(n_models))
    # The first optimiser of a process imports torch's compiler, which is no part of training.
    CONFIG.make_optimiser(list(initial_module(FACTORY, 0).parameters()))
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        ensemble = training.train(
            FACTORY,
            dataset,
            membership,
            CONFIG,
            seeds,
            device="cpu",
            n_jobs=0,
            cache_folder=Path(folder),
            progress=False,
        )
    batched = time.perf_counter() - started
    started = time.perf_counter()
    singles = [
        train_one_by_one(dataset, np.flatnonzero(membership[i]), CONFIG, seeds[i])
        for i in tqdm(seeds, desc="one by one", leave=False)
    ]
    one_by_one = time.perf_counter() - started
    difference = max(
        float((ensemble.parameters[name][i] - value).abs().max())
        for i, model in enumerate(singles)
        for name, value in model.state_dict().items()
    )
    row = {
        "what": f"{n_models} networks 600-32-100",
        "size": f"{n_records // 2:,} members, {CONFIG.epochs} epochs",
        "ours (s)": batched,
        "reference (s)": one_by_one,
        "ratio": one_by_one / batched,
        "note": f"parameters equal to {difference:.0e}",
    }
    return pd.DataFrame([row])
