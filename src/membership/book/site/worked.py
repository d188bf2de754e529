"""Small cases that a chapter works by hand before its theorems, by the closed forms themselves."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from scipy.special import logsumexp

from membership import lood, nngp, privacy
from membership.errors import InputError


def two_models() -> dict[str, float]:
    """Two models, equally likely without the record, which costs them so much loss (T = 1)."""
    loss = np.array([0.1, 2.3])
    with_record, without = np.exp(-loss - logsumexp(-loss)), np.full(2, 0.5)
    return {
        **_named("loss", loss),
        **_named("with the record", with_record),
        **_named("member", with_record / (with_record + without)),
        "threshold": float(np.log(2) - logsumexp(-loss)),
    }


def one_weight() -> dict[str, float]:
    """Losses (w - z)^2 / 2 of nine records whose mean is 0 and of one at 1: the Hessian is 1."""
    n, record, weight = 10, 1.0, 0.07
    without = (n - 1) / n * weight
    with_record = without + (weight - record) / n
    return {
        "weight": weight,
        "step without": abs(without),
        "step with": abs(with_record),
        "difference of squares": n * (with_record**2 - without**2),
    }


def one_step() -> dict[str, float]:
    """A step on a softmax layer of 65 features and ten classes, an average record, no noise."""
    d, found = 650, {}
    for n in (500, 5000):
        mu = privacy.mip_mu_step(d, n, d)
        found |= {f"mu, {n}": mu, f"TPR, {n}": float(privacy.gaussian_tpr(0.1, mu))}
    return found


def fog() -> dict[str, float]:
    """What three queries tell of a record at 0 with label 1, of a process with one other record."""
    game = lood.compare(nngp.rbf(0.5), [[1.0]], [0.0], ([[0.0]], [1.0]), noise=0.1)
    places = (0.0, 0.5, 1.0)
    return {
        str(at): float(kl) for at, kl in zip(places, game.measure(_column(places)), strict=True)
    }


def normalised() -> dict[str, float]:
    """The records -1, 0 and 1, then 3 as well: queries ever nearer to the mean of all four."""
    labels = [1.0, 0.0, 1.0]
    kernel = nngp.fully_connected(1)
    game = lood.compare_normalised(kernel, _column([-1, 0, 1]), labels, ([[3.0]], [1.0]), noise=0.1)
    steps, mean = (0.1, 0.01, 0.001), 0.75
    told = game.measure(_column([mean + step for step in steps]))
    return {str(step): float(kl) for step, kl in zip(steps, told, strict=True)}


def tempered() -> dict[str, float]:
    """Two models, equally likely without the record; in the second its loss is larger by 1."""
    return {str(t): float(1 / (1 + np.exp(-1 / t))) for t in (1, 4)}


def three_rulers() -> dict[str, float]:
    """Two places in a valley a hundred times as steep across as along."""
    curvature, found = np.array([100.0, 1.0]), {}
    for place, at in {"wall": np.array([0.1, 0.0]), "floor": np.array([0.0, 1.0])}.items():
        found |= {
            f"far, {place}": float(np.linalg.norm(at)),
            f"high, {place}": float(0.5 * curvature @ at**2),
            f"steep, {place}": float(np.linalg.norm(curvature * at)),
        }
    return found


CASES: Mapping[str, Callable[[], dict[str, float]]] = {
    "two models": two_models,
    "one weight": one_weight,
    "one step": one_step,
    "fog": fog,
    "normalised": normalised,
    "tempered": tempered,
    "three rulers": three_rulers,
}


@cache
def case(name: str) -> dict[str, float]:
    """The numbers of a case, each by its name."""
    if name not in CASES:
        raise InputError(f"no worked case {name!r}; there are {', '.join(CASES)}")
    return CASES[name]()


def number(name: str, quantity: str) -> float:
    """One number of a case."""
    numbers = case(name)
    if quantity not in numbers:
        raise InputError(f"the case {name!r} has no {quantity!r}; it has {', '.join(numbers)}")
    return numbers[quantity]


def _column(values: Sequence[float]) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def _named(name: str, values: np.ndarray) -> dict[str, float]:
    return {
        f"{name}, {which}": float(v) for which, v in zip(("first", "second"), values, strict=True)
    }
