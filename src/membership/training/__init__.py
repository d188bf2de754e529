"""Stochastic gradient descent as the papers define it, for one model or many at once."""

from membership.training.conditional import ConditionalNormal, ConditionalQuantiles
from membership.training.config import TrainingConfig
from membership.training.ensemble import Ensemble, device_of
from membership.training.loop import batch_order, train
from membership.training.neighbours import train_neighbours
from membership.training.private import PrivateConfig, train_softmax_layers
from membership.training.qmia import fit_qmia

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
