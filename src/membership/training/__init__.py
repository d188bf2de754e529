"""Stochastic gradient descent as the papers define it, for one model or many at once."""

import warnings

with warnings.catch_warnings():
    # Without ipywidgets tqdm draws its bars as text, which is what is wanted, but warns first.
    warnings.filterwarnings("ignore", message="IProgress not found")
    import tqdm.auto  # noqa: F401

from membership import processes
from membership.training.conditional import ConditionalNormal, ConditionalQuantiles
from membership.training.config import TrainingConfig
from membership.training.ensemble import Ensemble, device_of
from membership.training.loop import batch_order, train
from membership.training.neighbours import train_neighbours
from membership.training.private import PrivateConfig, train_softmax_layers
from membership.training.qmia import fit_qmia

# What joblib's workers run imports this room, so that none of them outlives a killed kernel.
processes.follow_parent()

__all__ = [
    "ConditionalNormal",
    "ConditionalQuantiles",
    "Ensemble",
    "PrivateConfig",
    "TrainingConfig",
    "batch_order",
    "device_of",
    "fit_qmia",
    "train",
    "train_neighbours",
    "train_softmax_layers",
]
