"""The chapter's records, the kernels of its processes, and its pictures as cells of a table."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import data, lood, nngp
from membership.arrays import FloatArray, deviation
from membership.book.studies.lood.settings import Settings, two_classes
from membership.lood import LeaveOneOut

NAMES = {"cifar10": "CIFAR-10, plane and car", "digits": "digits 3 and 8"}
CLASS_NAMES = {NAMES["cifar10"]: ("plane", "car"), NAMES["digits"]: ("digit 3", "digit 8")}
SCALINGS = ("raw", "standardised", "unit sphere")
SHOWN = 10
"""Pictures of each kind that evidence keeps."""
MOST_RECORDS = 500
"""Points of a figure, and records of the kernels that are compared."""
NOISES = (0.005, 0.05, 0.5, 5.0)
"""Label noises, or ridges, that laws of networks are compared at."""
OFFSETS = np.arange(-50, 51)
"""Steps along the lines of Figure 4."""


@dataclass(frozen=True)
class Records:
    """Training records of a Gaussian process.

    Attributes
    ----------
    dataset : Dataset
        Two classes, as many records as asked for, in random order, classes as they come.
    label : str
        Of the data set, for tables and titles.
    targets : numpy.ndarray of float64, shape (records, classes)
        One-hot labels less 1 / classes, as in the released code.
    """

    dataset: data.Dataset
    label: str
    targets: FloatArray

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one record: channels, height, width; or the number of features."""
        return self.dataset.x.shape[1:]

    def inputs(self, scaling: str = "raw") -> FloatArray:
        """The records as rows, scaled."""
        return scaled(self.dataset.x.astype(np.float64), scaling)

    def alike(self, x: FloatArray, scaling: str) -> FloatArray:
        """Other records as rows, scaled by the statistics of these."""
        return scaled(x, scaling, self.dataset.x.astype(np.float64))

    def first(self, n: int) -> "Records":
        """The first records only; scalings are then those of the fewer records."""
        kept = self.dataset.select(np.arange(min(n, len(self))))
        return Records(kept, self.label, self.targets[: len(kept)])


@dataclass(frozen=True)
class Pictures:
    """Training records as the reconstructions see them: each channel has mean 0, variance 1.

    Attributes
    ----------
    records : Records
    x : ndarray of float64, shape (records, *record)
    mean, std : ndarray that broadcasts against a record
        Of these records; they do not depend on which of them is left out.
    """

    records: Records
    x: FloatArray
    mean: FloatArray
    std: FloatArray

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """What black and white became."""
        return (0 - self.mean) / self.std, (1 - self.mean) / self.std

    def seen(self, query: FloatArray) -> FloatArray:
        """Queries as pictures again, in [0, 1] but for what went beyond black and white."""
        return query * self.std + self.mean

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The same in the shape of a record."""
        return tuple(np.broadcast_to(bound, self.x.shape[1:]) for bound in self.bounds)

    def noise(self, rng: np.random.Generator, *count: int) -> FloatArray:
        """Pictures of uniform noise between black and white, (*count, *record)."""
        low, high = self.limits
        return rng.random((*count, *low.shape)) * (high - low) + low

    def run(self, settings: Settings) -> dict[str, Any]:
        """How `lood.maximise` climbs on these records: a grey level is the unit of a step."""
        low, high = self.limits
        return {"unit": (high - low) / 255, "steps": settings.sizes.steps, "progress": False}

    def without(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Records and targets but for some rows."""
        kept = np.setdiff1d(np.arange(len(self.x)), rows)
        return self.x[kept], self.records.targets[kept]

    def compare(self, kernel: nngp.Kernel, rows: Any, noise: float) -> lood.Comparison:
        """Both posteriors, where D lacks these rows."""
        rows = np.atleast_1d(rows)
        differing = self.x[rows], self.records.targets[rows]
        return lood.compare(kernel, *self.without(rows), differing, noise)


def prepare(records: Records, n: int) -> Pictures:
    """Normalise the first n records, images channel by channel and other records as a whole."""
    records = records.first(n)
    x = records.dataset.x.astype(np.float64)
    axes = (0, 2, 3) if x.ndim == 4 else (0,)
    mean, std = x.mean(axis=axes, keepdims=True)[0], deviation(x, axes, keepdims=True)[0]
    std = np.where(std > 0, std, 1.0)
    return Pictures(records, (x - mean) / std, mean, std)


def load(settings: Settings, name: str = "", n_records: int = 0, part: int = 0) -> Records:
    """Records of the two classes, of another data set or number where given.

    Parts are different training sets, disjoint where the data set has enough records.

    Raises
    ------
    InputError
        The data set is unknown or missing, or holds fewer distinct records of its two classes.
    """
    loaded = data.load(name or settings.dataset, root=settings.data_root or None)
    two = two_classes(loaded)
    size = n_records or settings.n_records
    data.require(two, n_records=size, n_classes=2)
    order = np.random.default_rng([settings.seed, 1]).permutation(len(two))
    chosen = two.select(order[(np.arange(size) + part * size) % len(two)])
    one_hot = np.eye(two.n_classes)[chosen.y]
    return Records(chosen, NAMES.get(loaded.name, loaded.name), one_hot - 1 / two.n_classes)


def lines(x: np.ndarray, settings: Settings) -> np.ndarray:
    """Queries around each record as in the released code, (records, offsets, *record)."""
    rng = np.random.default_rng([settings.seed, 6])
    step = rng.uniform(-1, 1, size=x.shape) / 255
    return x[:, None] + OFFSETS.reshape(-1, *[1] * (x.ndim - 1)) * step[:, None]


def parts(settings: Settings, name: str, n_records: int) -> int:
    """How many training sets of this size share no record, up to the profile's number."""
    there = len(two_classes(data.load(name, root=settings.data_root or None)))
    return max(1, min(settings.sizes.edge_sets, there // n_records))


def scaled(x: FloatArray, scaling: str, like: FloatArray | None = None) -> FloatArray:
    """Records (n, ...) as rows, scaled as in `Records.inputs`, by their statistics or others'."""
    if scaling == "standardised":
        axes, like = (0, *range(2, x.ndim)), x if like is None else like
        spread = deviation(like, axes, keepdims=True)
        x = (x - like.mean(axis=axes, keepdims=True)) / np.where(spread > 0, spread, 1)
    rows = x.reshape(len(x), -1)
    if scaling == "unit sphere":
        rows = rows / np.sqrt(np.mean(rows**2, axis=1, keepdims=True))
    return rows


MAIN = "main"
"""The kernel of the closed-form runs, among the cases of the evidence."""
RELU, RBF, POLYNOMIAL = "ReLU", "RBF", "polynomial, degree 3"
SETTING = "repository: both sqrt(2)"
MATCHED = "both sqrt(2), same mean variance"
NETWORK = "GeLU 1.9822, as its networks"
NETWORK_MATCHED = "GeLU 1.9822, same mean variance"


def kernel_of(settings: Settings) -> nngp.Kernel:
    """The kernel of the released code's closed-form runs: weights of variance 2, no bias."""
    return nngp.fully_connected(settings.depth)


def kernels(settings: Settings) -> dict[str, nngp.Kernel]:
    """A homogeneous kernel, an isotropic one, and one that is neither normalised nor stationary."""
    depth = min(settings.depth, settings.sizes.most_depth)
    return {
        kernel_name(RELU, depth): nngp.fully_connected(depth),
        RBF: nngp.rbf(),
        POLYNOMIAL: nngp.polynomial(3),
    }


def kernel_name(family: str, depth: int) -> str:
    """As tables name the kernel of a wide network; the family is its activation, or convolution."""
    return f"{family}, depth {depth}"


def family_of(kernel: str) -> str:
    """The family in a name that `kernel_name` made, or that begins with one."""
    return kernel.partition(", ")[0]


def every_record(
    records: Records, settings: Settings, kernel: nngp.Kernel | None = None
) -> LeaveOneOut:
    """Leave each record out in turn, by the kernel given or that of `kernel_of`, on raw pixels."""
    matrix = (kernel or kernel_of(settings))(records.inputs())
    return lood.leave_one_out(matrix, records.targets, settings.noise)


def square(process: LeaveOneOut) -> FloatArray:
    """The squared length of each record's residual."""
    return np.square(process.residual).sum(axis=1)


def stacked(processes: list[LeaveOneOut], dim: str) -> dict[str, Any]:
    """Variance and squared residual of every record, for each of some kernels."""
    return {
        "variance": ((dim, "record"), np.stack([process.variance for process in processes])),
        "square": ((dim, "record"), np.stack([square(process) for process in processes])),
    }


def at_edge(x: np.ndarray, w_std: float, b_std: float, q: float) -> np.ndarray:
    """Inputs scaled so that the mean variance of the first layer is the one that is kept."""
    return x * np.sqrt((q - b_std**2) / w_std**2 / np.mean(x**2))


def thumbnail(image: Any) -> np.ndarray:
    """A picture of [0, 1] in grey levels from 0 to 255; what lies outside is cut off."""
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)


def cells(levels: Any) -> dict[str, str]:
    """Shape and pixels of a thumbnail (channels, height, width) as two cells; None leaves them
    empty."""
    if levels is None:
        return {"shape": "", "pixels": ""}
    levels = np.asarray(levels)
    return {
        "shape": "x".join(map(str, levels.shape)),
        "pixels": " ".join(map(str, levels.ravel())),
    }


def stretched(image: Any) -> FloatArray:
    """A picture shifted and scaled to fill [0, 1], for what has no scale of its own."""
    image = np.asarray(image, dtype=np.float64)
    spread = np.ptp(image)
    return (image - image.min()) / (spread if spread > 0 else 1.0)


def correlation(first: Any, second: Any) -> float:
    """Pearson's correlation of two records' entries; 0 where one is constant."""
    return float(correlations(np.asarray(first)[None], np.asarray(second)[None])[0, 0])


def correlations(first: Any, second: Any) -> FloatArray:
    """Pearson's correlation of each of some records with each of others, as `correlation`."""
    off = []
    for part in (first, second):
        rows = np.asarray(part, dtype=np.float64).reshape(len(part), -1)
        rows = rows - rows.mean(axis=1, keepdims=True)
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        off.append(rows / np.where(size > 0, size, 1.0))
    return off[0] @ off[1].T
