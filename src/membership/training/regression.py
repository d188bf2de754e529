"""The regressions of QMIA: a score's distribution given a record's features.

Scores come in standardised, mean 0 and standard deviation 1; so do what the fits predict.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray, deviation, whole
from membership.errors import InputError

Predict = Callable[[FloatArray], FloatArray]
# Records of a leaf above the quantile that the leaf estimates.
_ABOVE = 5
# The fit does not gain from a smaller sigma, and exact predictions would drive it to 0.
LEAST_LOG_SIGMA = np.log(1e-3)
MOST_LOG_SIGMA = 300.0
# In standard deviations of the public records: a network in float32 answers numbers up to here.
FARTHEST = 1e9


@dataclass(frozen=True)
class Schedule:
    """How a regression is trained; `fit_qmia` describes the fields."""

    hidden: tuple[int, ...]
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    trees: int
    held_out: float
    seed: int

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "trees", "seed"):
            whole(name, getattr(self, name), 0 if name == "seed" else 1)
        for units in self.hidden:
            whole("hidden", units, 1)
        if not 0 < self.learning_rate <= 1:
            raise InputError(
                f"learning_rate is {self.learning_rate}; give a number up to 1, above 0"
            )
        if not 0 <= self.weight_decay <= 1:
            raise InputError(f"weight_decay is {self.weight_decay}; give a number from 0 to 1")
        if not 0 < self.held_out <= 0.5:
            raise InputError(f"held_out is {self.held_out}; give a share up to 0.5, above 0")


def fit_network(x: FloatArray, y: FloatArray, levels: FloatArray | None, how: Schedule) -> Predict:
    """Fit a multilayer perceptron.

    Parameters
    ----------
    x, y : array of shape (records, features) and (records,)
    levels : array of shape (levels,), optional
        Predict their quantiles by the pinball loss. None: mean and log sigma, by the likelihood.
    how : Schedule

    Returns
    -------
    function
        From features, in the units of `x`, to float64 of shape (records, levels) or (records, 2).
    """
    centre, unit = x.mean(axis=0), deviation(x)
    unit = np.where(unit > 0, unit, 1.0)

    def prepared(values: FloatArray) -> torch.Tensor:
        scaled = (values - centre) / unit
        if np.abs(scaled).max() > FARTHEST:
            record = np.abs(scaled).max(axis=1).argmax()
            raise InputError(
                f"x: a feature of record {record} lies {np.abs(scaled[record]).max():.3g} standard "
                "deviations from those of the public records; leave the record out"
            )
        return torch.tensor(scaled, dtype=torch.float32)

    order = np.random.default_rng(how.seed).permutation(len(x))
    n_held_out = max(1, round(how.held_out * len(x)))
    features, target = prepared(x[order]), torch.tensor(y[order], dtype=torch.float32)
    if levels is None:
        start, loss = torch.zeros(2), _negative_log_likelihood
    else:
        start = torch.tensor(np.quantile(y, levels), dtype=torch.float32)
        loss = _pinball(torch.tensor(levels, dtype=torch.float32))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)
        network = _perceptron(x.shape[1], how.hidden, start)
        _train(network, loss, features, target, n_held_out, how)

    def predict(query: FloatArray) -> FloatArray:
        with torch.no_grad():
            return network(prepared(query)).numpy().astype(np.float64)

    return predict


def fit_trees(x: FloatArray, y: FloatArray, levels: FloatArray, how: Schedule) -> Predict:
    """Fit gradient-boosted trees, one set a quantile level; as `fit_network`."""
    # Here and not above: it takes a second to import, and nothing else here needs it.
    from sklearn.ensemble import HistGradientBoostingRegressor

    models = [
        HistGradientBoostingRegressor(
            loss="quantile",
            quantile=level,
            max_iter=how.trees,
            min_samples_leaf=int(np.ceil(_ABOVE / (1 - level))),
            early_stopping=True,
            validation_fraction=how.held_out,
            random_state=how.seed,
        ).fit(x, y)
        for level in levels
    ]
    return lambda query: np.stack([model.predict(query) for model in models], axis=1)


def _perceptron(n_features: int, hidden: tuple[int, ...], start: torch.Tensor) -> nn.Module:
    widths = [n_features, *hidden]
    layers = []
    for width, following in itertools.pairwise(widths):
        layers += [nn.Linear(width, following), nn.ReLU()]
    last = nn.Linear(widths[-1], start.numel())
    # The first prediction is the marginal distribution, whatever the record.
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(start)
    return nn.Sequential(*layers, last)


def _train(
    network: nn.Module,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    y: torch.Tensor,
    n_held_out: int,
    how: Schedule,
) -> None:
    """Train in place; leave the state with the least loss on the first `n_held_out` records."""
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=how.learning_rate, weight_decay=how.weight_decay
    )

    def judged() -> float:
        with torch.no_grad():
            return float(loss(network(x[:n_held_out]), y[:n_held_out]))

    def state() -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in network.state_dict().items()}

    least, best = judged(), state()
    for _ in range(how.epochs):
        shuffled = n_held_out + torch.randperm(len(x) - n_held_out)
        for batch in shuffled.split(how.batch_size):
            optimiser.zero_grad()
            loss(network(x[batch]), y[batch]).backward()
            optimiser.step()
        found = judged()
        if found < least:
            least, best = found, state()
    network.load_state_dict(best)


def _negative_log_likelihood(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    mean, log_sigma = output[:, 0], output[:, 1].clamp(min=LEAST_LOG_SIGMA)
    return (log_sigma + ((y - mean) / log_sigma.exp()).square() / 2).mean()


def _pinball(levels: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    def loss(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        above = y[:, None] - output
        return torch.maximum(levels * above, (levels - 1) * above).mean()

    return loss
