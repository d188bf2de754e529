"""Simulated records: Purchase-like ones, and the Gaussian game.

Purchase-like records stand in for Purchase-100, which cannot be passed on. The recipe was
calibrated on what the papers report for it. With IHA's two-layer network (600-32-100) one run each
reached a test accuracy of 83.4% on 25,000 training records and 89.7% on 80,000; the papers report
84% and 90%. The records share the shape and the way of labelling of the original; the real records
were not at hand to compare anything else. Every page that uses them says "simulated"."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from membership.data.dataset import Dataset, record_digest
from membership.errors import InputError

N_FEATURES, N_CLASSES = 600, 100
N_LATENT = 25
SLOPE = 4.5
OFFSET_MEAN = -2.2
WORLD_SEED = 0
CENTRE_RECORDS = 20_000
LLOYD_ITERATIONS = 30
CHUNK = 10_000  # records drawn at a time, to bound memory
MOST_RECORDS = 2_000_000  # nearly 5 GB as float32
BLOCK = 500  # records labelled at a time, to stay in the processor's cache


def simulate_purchase(n: int, seed: int, n_classes: int = N_CLASSES) -> Dataset:
    """Draw Purchase-like records.

    A record has taste ``z ~ N(0, I_25)`` and buys product j with probability
    ``sigmoid(b_j + 4.5 a_j . z)``, where ``a_j ~ N(0, I/25)`` and ``b_j ~ N(-2.2, 1)``. Its label
    is the nearest of the centres that k-means found among 20,000 other records, in the space
    of the 600 purchases, as Purchase-100 itself was labelled.

    Parameters
    ----------
    n : int
        Number of records, 1 to 2,000,000.
    seed : int
        At least 0. It draws the records; products and centres are one fixed world, so two
        seeds give independent samples of the same population.
    n_classes : int
        Number of centres, 2 to 20,000.

    Returns
    -------
    Dataset
        x of shape (n, 600) in {0, 1}; records in the order drawn. A small sample may lack a
        class.

    Raises
    ------
    InputError
        A size or the seed is out of range.
    """
    if not 1 <= n <= MOST_RECORDS or seed < 0 or not 2 <= n_classes <= CENTRE_RECORDS:
        raise InputError(
            f"simulate_purchase(n={n}, seed={seed}, n_classes={n_classes}): give n of 1 to "
            f"{MOST_RECORDS:,}, a seed of at least 0 and 2 to {CENTRE_RECORDS:,} classes"
        )
    x = _draw(n, np.random.default_rng([2, seed]))
    y = _nearest(x, _centres(n_classes))
    return Dataset(
        x=x,
        y=y,
        name="purchase_like",
        n_classes=n_classes,
        source=(
            f"Simulated Purchase-like records, not Purchase-100: {n:,} draws with seed {seed} "
            f"from a calibrated latent-factor model, labelled by k-means ({n_classes} classes)."
        ),
        digest=record_digest(x, y),
    )


@lru_cache
def _products() -> tuple[np.ndarray, np.ndarray]:
    """Return the world's loadings (products, latent) and offsets (products,)."""
    rng = np.random.default_rng([1, WORLD_SEED])
    loadings = rng.normal(0.0, 1.0 / np.sqrt(N_LATENT), (N_FEATURES, N_LATENT))
    return loadings, rng.normal(OFFSET_MEAN, 1.0, N_FEATURES)


def _draw(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw records as uint8."""
    loadings, offsets = _products()
    x = np.empty((n, N_FEATURES), dtype=np.uint8)
    for start in range(0, n, CHUNK):
        rows = x[start : start + CHUNK]
        logits = offsets + SLOPE * rng.standard_normal((len(rows), N_LATENT)) @ loadings.T
        rows[:] = rng.random(rows.shape) < 1.0 / (1.0 + np.exp(-logits))
    return x


@lru_cache
def _centres(n_classes: int) -> np.ndarray:
    """Return the centres (classes, products) of the world's k-means, by Lloyd's iterations.

    They start at the first records drawn. Labels must not hang on the number of threads, so
    distances are taken in float64, where no two centres tie, and sums of 0s and 1s are exact;
    scikit-learn's KMeans promises neither.
    """
    x = _draw(CENTRE_RECORDS, np.random.default_rng([3, WORLD_SEED]))
    centres = x[:n_classes].astype(np.float64)
    for _ in range(LLOYD_ITERATIONS):
        label = _nearest(x, centres)
        for k in range(n_classes):
            if (members := x[label == k]).size:
                centres[k] = members.mean(axis=0)
    return centres


def _nearest(x: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of the centre with the least squared distance; ``||x||^2`` is common."""
    half_norm = 0.5 * np.sum(centres**2, axis=1)
    label = np.empty(len(x), dtype=np.int64)
    for start in range(0, len(x), BLOCK):
        rows = x[start : start + BLOCK].astype(np.float64)
        label[start : start + BLOCK] = np.argmin(half_norm - rows @ centres.T, axis=1)
    return label


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
