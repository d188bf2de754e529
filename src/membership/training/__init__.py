"""Stochastic gradient descent as the papers define it, for one model or many at once."""

from membership.training.config import TrainingConfig
from membership.training.ensemble import Ensemble, device_of
from membership.training.leave_one_out import train_neighbours
from membership.training.private import PrivateConfig, train_softmax_layers
from membership.training.quantile_regression import (
    ConditionalNormal,
    ConditionalQuantiles,
    fit_qmia,
)
from membership.training.sgd import batch_order, train

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
