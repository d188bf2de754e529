"""The Gaussian game of Sablayrolles et al. (2019): membership of a mean's own points."""

from dataclasses import dataclass

import numpy as np

from membership.errors import InputError


@dataclass(frozen=True, eq=False)
class GaussianGame:
    """One play of the game.

    Parameters
    ----------
    z : ndarray of float64, shape (n, d)
        Records, independent draws from N(mu, I).
    member : ndarray of bool, shape (n,)
        Which records the model was fitted on; at least one.
    theta : ndarray of float64, shape (d,)
        The model: the mean of the members, the minimiser of their summed loss
        ``0.5 * ||z - theta||^2``.
    mu : ndarray of float64, shape (d,)
        The population mean, zero.
    """

    z: np.ndarray
    member: np.ndarray
    theta: np.ndarray
    mu: np.ndarray


def gaussian_game(n: int, d: int, seed: int) -> GaussianGame:
    """Play the Gaussian game once (Sablayrolles et al. 2019, Section 4.2 and Figure 1).

    Parameters
    ----------
    n : int
        Number of records, at least 2; each is a member with probability 1/2, independently.
    d : int
        Dimension, at least 1.
    seed : int
        At least 0.

    Returns
    -------
    GaussianGame
        With no member the mean would be undefined, so membership is drawn again until there
        is one: the number of members n' follows a binomial law given that n' > 0.

    Raises
    ------
    InputError
        A size is out of range.
    """
    if n < 2 or d < 1:
        raise InputError(f"gaussian_game(n={n}, d={d}): give n of at least 2 and d of at least 1")
    rng = np.random.default_rng(seed)
    mu = np.zeros(d)
    z = mu + rng.standard_normal((n, d))
    member = rng.random(n) < 0.5
    while not member.any():
        member = rng.random(n) < 0.5
    return GaussianGame(z=z, member=member, theta=z[member].mean(axis=0), mu=mu)
