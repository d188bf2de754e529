"""The regression of QMIA: how a non-member's score is distributed, given its features.

Networks and trees see scores of mean 0 and standard deviation 1, and predict such.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import torch
from torch import nn

from membership.arrays import FloatArray, as_float64, check_rate, deviation, one_of, whole
from membership.errors import InputError

Predict = Callable[[FloatArray], FloatArray]

HEADS = ("gaussian", "pinball", "boosted")
# 1 - 10^-4, ..., 1 - 10^-0.1. The released code's 41st level is 0, which has no finite quantile.
PINBALL_LEVELS = 1 - np.logspace(-0.1, -4, 40, dtype=np.float64)
BOOSTED_LEVELS = np.array([0.5, 0.75, 0.9, 0.95, 0.99])
# Least distance of neighbouring quantiles, in standard deviations of the score.
_GAP = 1e-6
# Records of a leaf above the quantile that the leaf estimates.
_ABOVE = 5
# The fit does not gain from a smaller sigma, and exact predictions would drive it to 0.
LEAST_LOG_SIGMA = np.log(1e-3)
MOST_LOG_SIGMA = 300.0
# In standard deviations of the public records: a network in float32 answers numbers up to here.
FARTHEST = 1e9


@dataclass(frozen=True)
class ConditionalNormal:
    """A normal distribution of the non-members' score for each record.

    Attributes
    ----------
    n_features : int
    predict : function of an array of shape (records, n_features)
        Gives mean and standard deviation, each of shape (records,).
    """

    n_features: int
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]]

    def score(self, x: Any, target_score: Any) -> FloatArray:
        """Return (score - mean) / sigma, of shape (records,)."""
        x, target = _query(x, target_score, self.n_features)
        mean, sigma = self.predict(x)
        return (target - mean) / sigma

    def threshold(self, x: Any, fpr: float) -> FloatArray:
        """Return the score above which a share `fpr` of non-members like each record lies."""
        check_rate(fpr)
        mean, sigma = self.predict(_features(x, self.n_features))
        return mean + sigma * scipy.stats.norm.isf(fpr)


@dataclass(frozen=True)
class ConditionalQuantiles:
    """Quantiles of the non-members' score for each record.

    Between the quantiles, -log(1 - level) is linear in the score. Beyond them it goes on as a line,
    an exponential tail, with the slope from the middle level to the last one.

    Attributes
    ----------
    n_features : int
    levels : ndarray of shape (levels,)
        Rising, in (0, 1).
    predict : function of an array of shape (records, n_features)
        Gives the quantiles, of shape (records, levels), rising strictly along each row.
    """

    n_features: int
    levels: FloatArray
    predict: Callable[[FloatArray], FloatArray]

    def score(self, x: Any, target_score: Any) -> FloatArray:
        """Return -log of the share of non-members like each record with a higher score."""
        x, target = _query(x, target_score, self.n_features)
        quantile = self.predict(x)
        return _line(target, quantile, np.broadcast_to(self._evidence, quantile.shape))

    def threshold(self, x: Any, fpr: float) -> FloatArray:
        """Return the score above which a share `fpr` of non-members like each record lies."""
        check_rate(fpr)
        quantile = self.predict(_features(x, self.n_features))
        evidence = np.full(len(quantile), -np.log(fpr))
        return _line(evidence, np.broadcast_to(self._evidence, quantile.shape), quantile)

    @property
    def _evidence(self) -> FloatArray:
        return -np.log1p(-self.levels)


def _line(value: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Read y at each row's value from the points (x, y) of that row, x rising along it."""
    last, middle = x.shape[1] - 1, x.shape[1] // 2
    inside = np.clip((x < value[:, None]).sum(axis=1), 1, last)
    below, above = value < x[:, 0], value > x[:, -1]
    right = np.where(below, 0, inside)
    # The outermost pair alone would make a tail of the noise between two extreme quantiles.
    left = np.where(below | above, middle, inside - 1)
    row = np.arange(len(x))
    slope = (y[row, right] - y[row, left]) / (x[row, right] - x[row, left])
    return y[row, right] + slope * (value - x[row, right])


def _query(x: Any, target_score: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    x, target = _features(x, n_features), as_float64("target_score", target_score, 1)
    if len(x) != target.size:
        raise InputError(f"x has {len(x)} records and target_score {target.size}; give as many")
    return x, target


def _features(x: Any, n_features: int) -> FloatArray:
    x = as_float64("x", x, 2)
    if x.shape[1] != n_features:
        raise InputError(f"x has {x.shape[1]} features; give {n_features}, as the fit had")
    return x


def fit_qmia(
    public_x: Any,
    public_score: Any,
    head: str = "gaussian",
    *,
    hidden: Sequence[int] = (128, 128),
    epochs: int = 60,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-4,
    trees: int = 200,
    held_out: float = 0.1,
    seed: int = 0,
) -> ConditionalNormal | ConditionalQuantiles:
    """Fit the regression of `membership.attacks.qmia` once, for any number of queries.

    Parameters
    ----------
    public_x, public_score
        As in `membership.attacks.qmia`; 20 records or more, and scores that differ.
    head : {"gaussian", "pinball", "boosted"}
        "gaussian": a network gives mu and log sigma, fitted by log sigma + (s - mu)^2 / 2 sigma^2.
        "pinball": a network gives the quantiles of the 40 levels 1 - 10^-4, ..., 1 - 10^-0.1,
        fitted by the pinball loss and sorted where they cross (Chernozhukov et al. 2010).
        "boosted": scikit-learn's `HistGradientBoostingRegressor` at five levels, 0.5 to 0.99, for
        tabular records. A leaf holds at least five records above its quantile, so that a high
        level falls back on larger leaves, and in the end on the marginal quantile, where records
        are too few; beyond 0.99 the tail is extrapolated. The paper used CatBoost.
    hidden : sequence of int
        Units of the network's hidden layers.
    epochs, batch_size : int
        Most passes over the public records; records a step. The epoch with the least loss on
        the records held out is kept, the state before the first epoch included, which is the
        marginal distribution and ranks as Attack-P.
    learning_rate, weight_decay : float
        Of AdamW.
    trees : int
        Most trees a level; fewer where ten more do not lower the loss on the records held out.
    held_out : float
        Share of the public records, in (0, 0.5].
    seed : int
        Decides the split, the initial weights and the order of records. Same seed, same numbers.

    Returns
    -------
    ConditionalNormal or ConditionalQuantiles
        With `score(x, target_score)` and `threshold(x, fpr)`, each of shape (records,).

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, too few records, scores all equal, or an option
        is outside its range.

    Notes
    -----
    The released code searches learning rates and architectures (ConvNeXt for images); here one
    multilayer perceptron or one set of trees is fitted, with its stopping point chosen on records
    held out.
    """
    x, y = as_float64("public_x", public_x, 2), as_float64("public_score", public_score, 1)
    if len(x) != y.size:
        raise InputError(f"public_x has {len(x)} records and public_score {y.size}; give as many")
    one_of("head", head, HEADS)
    units = tuple(np.atleast_1d(hidden).tolist())
    how = Schedule(units, epochs, batch_size, learning_rate, weight_decay, trees, held_out, seed)
    if y.size < 20 or y.min() == y.max():
        raise InputError(
            f"public_score has {y.size} records from {y.min():g} to {y.max():g}; "
            "give 20 or more, not all equal"
        )
    centre, unit = y.mean(), y.std()
    standard = (y - centre) / unit
    if head == "gaussian":
        network = fit_network(x, standard, None, how)

        def normal(query: FloatArray) -> tuple[FloatArray, FloatArray]:
            mean, log_sigma = network(query).T
            return centre + unit * mean, unit * np.exp(
                np.clip(log_sigma, LEAST_LOG_SIGMA, MOST_LOG_SIGMA)
            )

        return ConditionalNormal(x.shape[1], normal)
    levels = PINBALL_LEVELS if head == "pinball" else BOOSTED_LEVELS
    predict = (fit_network if head == "pinball" else fit_trees)(x, standard, levels, how)

    def quantiles(query: FloatArray) -> FloatArray:
        rising = np.sort(predict(query), axis=1) + _GAP * np.arange(levels.size)
        return centre + unit * rising

    return ConditionalQuantiles(x.shape[1], levels, quantiles)


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

    def held_out_loss() -> float:
        with torch.no_grad():
            return float(loss(network(x[:n_held_out]), y[:n_held_out]))

    def state() -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in network.state_dict().items()}

    least, best = held_out_loss(), state()
    for _ in range(how.epochs):
        shuffled = n_held_out + torch.randperm(len(x) - n_held_out)
        for batch in shuffled.split(how.batch_size):
            optimiser.zero_grad()
            loss(network(x[batch]), y[batch]).backward()
            optimiser.step()
        now = held_out_loss()
        if now < least:
            least, best = now, state()
    network.load_state_dict(best)


def _negative_log_likelihood(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    mean, log_sigma = output[:, 0], output[:, 1].clamp(min=LEAST_LOG_SIGMA)
    return (log_sigma + ((y - mean) / log_sigma.exp()).square() / 2).mean()


def _pinball(levels: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    def loss(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        above = y[:, None] - output
        return torch.maximum(levels * above, (levels - 1) * above).mean()

    return loss
