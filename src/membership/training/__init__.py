"""Stochastic gradient descent as the papers define it, for one model or many at once."""

from membership.training.config import TrainingConfig
from membership.training.ensemble import Ensemble, device_of
from membership.training.loop import batch_order, train

__all__ = ["Ensemble", "TrainingConfig", "batch_order", "device_of", "train"]
