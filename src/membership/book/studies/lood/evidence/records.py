"""What the process says of records, at themselves and near them: variances and residuals."""

from typing import Any

import numpy as np
import xarray as xr
from scipy.integrate import quad

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.book.studies.lood.evidence import N_SETS, of_records, of_sets
from membership.book.studies.lood.experiment import (
    MAIN,
    MATCHED,
    MOST_RECORDS,
    NETWORK,
    NETWORK_MATCHED,
    NOISES,
    OFFSETS,
    RBF,
    RELU,
    SCALINGS,
    SETTING,
    SHOWN,
    Pictures,
    Records,
    every_record,
    family_of,
    kernel_name,
    kernel_of,
    kernels,
    lines,
    load,
    prepare,
    square,
    stacked,
    thumbnail,
)
from membership.book.studies.lood.leakage import NARROW, RELEASED, WIDE
from membership.book.studies.lood.networks import NETWORK_W_STD
from membership.book.studies.lood.settings import Settings

N_UNIFORM, N_LINES, N_AUCS = 50, 5, 5
CONTROL_DEPTHS = (1, 2, 5, 10)
CONTROL_RECORDS, SLIP_RECORDS = 1000, 100
MEASURES = ("kl", "kl_reverse", "mean_distance")
SIZES = (2.0, 0.2, 0.02, 0.002, 0.0002)
"""Shares of a correlation kernel that are added to a constant one, twice its distance from it."""
SET_DEPTHS = (2, 5, 10)
NETWORKS = {
    RELU: ("relu", 2**0.5),
    NARROW: ("gelu", 2**0.5),
    WIDE: ("gelu", NETWORK_W_STD["gelu"]),
}
"""Activation and deviation of the weights, by the kernel's family."""


def records(settings: Settings) -> xr.Dataset:
    """Variance and squared residual of every record under each kernel, and of uniform noise."""
    own = load(settings)
    cases = {MAIN: kernel_of(settings), **kernels(settings)}
    processes = {name: every_record(own, settings, kernel) for name, kernel in cases.items()}
    noise = uniform(own, settings, kernel_of(settings))
    shown = _most_and_least(processes[MAIN].kl, own.dataset.y)
    level = thumbnail(own.dataset.x[shown])
    return evidence.dataset(
        "process",
        {
            **stacked(list(processes.values()), "case"),
            "diagonal": (("case", "record"), [_diagonal(own, kernel) for kernel in cases.values()]),
            "label": ("record", own.dataset.y),
            "noise_variance": ("uniform", noise[0]),
            "noise_square": ("uniform", noise[1]),
            "shown": ("picture", shown),
            "level": (("picture", "channel", "height", "width"), level),
        },
        {"case": list(processes)},
        **of_records(own, settings),
    )


def _diagonal(own: Records, kernel: nngp.Kernel) -> FloatArray:
    """k(S, S) of every record."""
    x = own.inputs()
    return np.array([kernel(row[None])[0, 0] for row in x])


def uniform(
    own: Records, settings: Settings, kernel: nngp.Kernel, scaling: str = "raw"
) -> tuple[FloatArray, FloatArray]:
    """Uniform noise with random labels as differing records: variance and squared residual."""
    rng = np.random.default_rng([settings.seed, 3])
    x = rng.uniform(size=(N_UNIFORM, *own.shape))
    y = own.targets[rng.integers(len(own), size=N_UNIFORM)]
    base = lood.posterior(kernel, own.inputs(scaling), own.targets, settings.noise)
    mean, variance = base.predict(own.alike(x, scaling))
    return variance, np.square(y - mean).sum(axis=1)


@evidence.version(2)
def sets(settings: Settings) -> xr.Dataset:
    """Variances and squared residuals of training records and uniform noise, on each set.

    Pixels as they are, as in the released closed-form runs, and normalised by channel, as in the
    released searches, which alone have uniform noise. GeLU also at its released networks'
    deviation.
    """
    training_sets = [load(settings, part=part) for part in range(N_SETS)]
    raw = {
        kernel_name(family, depth): nngp.fully_connected(depth, *network)
        for family, network in NETWORKS.items()
        for depth in SET_DEPTHS
    }
    raw[RBF] = nngp.rbf()
    cases = [(name, "raw", kernel) for name, kernel in raw.items()]
    cases += [
        (name, "standardised", kernel)
        for name, kernel in raw.items()
        if family_of(name) not in RELEASED
    ]
    shape = (len(training_sets), len(cases))
    own, noise = np.zeros((2, *shape, len(training_sets[0]))), []
    for i, records in enumerate(training_sets):
        for j, (_, scaling, kernel) in enumerate(cases):
            matrix = kernel(records.inputs(scaling))
            process = lood.leave_one_out(matrix, records.targets, settings.noise)
            own[:, i, j] = process.variance, square(process)
            noise.append(uniform(records, settings, kernel, scaling))
    of_noise = np.stack(noise, axis=1).reshape(2, *shape, -1)
    dims, other = ("training_set", "case", "record"), ("training_set", "case", "uniform")
    return evidence.dataset(
        "process",
        {
            "variance": (dims, own[0]),
            "square": (dims, own[1]),
            "noise_variance": (other, of_noise[0]),
            "noise_square": (other, of_noise[1]),
            "inputs": ("case", [scaling for _, scaling, _ in cases]),
        },
        {"case": [name for name, _, _ in cases]},
        **of_sets(training_sets, settings, pictures_of_noise=of_noise.shape[-1]),
    )


def _most_and_least(kl: FloatArray, label: np.ndarray) -> np.ndarray:
    """The most and the least exposed records of each class."""
    kept = []
    for class_label in np.unique(label):
        members = np.flatnonzero(label == class_label)
        order = members[np.argsort(-kl[members], kind="stable")]
        kept += [*order[:SHOWN], *order[-SHOWN:]]
    return np.unique(kept)


def by_noise(settings: Settings) -> xr.Dataset:
    """Variance and squared residual of the networks' records, by the label noise."""
    few = load(settings).first(settings.network_records)
    matrix = kernel_of(settings)(few.inputs())
    processes = [lood.leave_one_out(matrix, few.targets, noise) for noise in NOISES]
    return evidence.dataset(
        "process",
        stacked(processes, "level"),
        {"level": list(NOISES)},
        **of_records(few, settings),
    )


def along_lines(settings: Settings) -> xr.Dataset:
    """KL of queries along lines of uniform noise through a few records."""
    own = load(settings)
    x = own.dataset.x.astype(np.float64)
    queries = lines(x[:N_LINES], settings)
    kl, at = np.zeros(queries.shape[:2]), np.zeros(N_LINES)
    for row in range(N_LINES):
        kept = np.arange(len(x)) != row
        differing, pair = (x[row], own.targets[row]), (x[kept], own.targets[kept])
        comparison = lood.compare(kernel_of(settings), *pair, differing, settings.noise)
        kl[row], at[row] = comparison.measure(queries[row]), comparison.measure(x[row])
    return evidence.dataset(
        "process",
        {"kl": (("record", "offset"), kl), "kl_at_record": ("record", at)},
        {"offset": OFFSETS},
        **of_records(own, settings),
    )


def activations(settings: Settings) -> xr.Dataset:
    """Variances and squared residuals by scaling of the inputs, depth and kernel."""
    few = load(settings).first(MOST_RECORDS)
    names = list(_matrices(1, few.inputs()[:2]))
    processes = [
        lood.leave_one_out(matrix, few.targets, settings.noise)
        for scaling in SCALINGS
        for depth in CONTROL_DEPTHS
        for matrix in _matrices(depth, few.inputs(scaling)).values()
    ]
    shape = (len(SCALINGS), len(CONTROL_DEPTHS), len(names), len(few))
    dims = ("inputs", "depth", "kernel", "record")
    arrays = stacked(processes, "case")
    return evidence.dataset(
        "process",
        {name: (dims, values.reshape(shape)) for name, (_, values) in arrays.items()},
        {"inputs": list(SCALINGS), "depth": list(CONTROL_DEPTHS), "kernel": names},
        **of_records(few, settings),
    )


def _matrices(depth: int, x: np.ndarray) -> dict[str, np.ndarray]:
    """The ReLU kernel and the GeLU kernels that are compared with it, by name."""
    relu = nngp.fully_connected(depth)(x)
    as_is = nngp.fully_connected(depth, "gelu")(x)
    wide = nngp.fully_connected(depth, "gelu", NETWORK_W_STD["gelu"])(x)
    return {
        RELU: relu,
        SETTING: as_is,
        MATCHED: _rescaled(as_is, relu),
        NETWORK: wide,
        NETWORK_MATCHED: _rescaled(wide, relu),
    }


def _rescaled(kernel: np.ndarray, like: np.ndarray) -> np.ndarray:
    return kernel * (np.diag(like).mean() / np.diag(kernel).mean())


@evidence.version(2)
def nearly_constant(name: str, n_records: int, settings: Settings) -> xr.Dataset:
    """Leakage under kernels ever nearer to a constant: 1 and a share of a correlation kernel."""
    few = load(settings, name, n_records).first(CONTROL_RECORDS)
    base = kernel_of(settings)(few.inputs("unit sphere"))
    root = np.sqrt(np.diag(base))
    matrices = [1 + size * (base / np.outer(root, root) - 0.5) for size in SIZES]
    processes = [lood.leave_one_out(matrix, few.targets, settings.noise) for matrix in matrices]
    distance = [np.abs(matrix - 1).max() for matrix in matrices]
    return evidence.dataset(
        "process",
        {**stacked(processes, "share"), "distance": ("share", distance)},
        {"share": list(SIZES)},
        **of_records(few, settings),
    )


def slips(settings: Settings) -> xr.Dataset:
    """LOOD as it should be, and with either slip of the released code."""
    own = load(settings)
    few = own.first(SLIP_RECORDS)
    seen = prepare(own, min(SLIP_RECORDS, settings.search_records))
    pairs = np.array([_left_in(seen, row, settings) for row in range(len(seen.x))])
    return evidence.dataset(
        "process",
        {
            "mean_distance": ("record", every_record(few, settings).mean_distance),
            "wrong_label": ("record", _wrong_label(few, settings)),
            "label": ("record", few.dataset.y),
            "kl": ("searched", pairs[:, 0]),
            "kl_left_in": ("searched", pairs[:, 1]),
            "excess_left_in": ("searched", pairs[:, 2]),
        },
        **of_records(few, settings),
    )


def _wrong_label(few: Records, settings: Settings) -> FloatArray:
    """Mean distance at each record where, without it, the one before has its label."""
    matrix = kernel_of(settings)(few.inputs())
    noise, y = settings.noise * np.eye(len(matrix)), few.targets
    with_all = matrix @ np.linalg.solve(matrix + noise, y)
    moved = np.zeros(len(matrix))
    for row in range(len(matrix)):
        kept = np.arange(len(matrix)) != row
        labels = y.copy()
        labels[max(row - 1, 0)] = y[row]
        solved = np.linalg.solve((matrix + noise)[np.ix_(kept, kept)], labels[kept])
        moved[row] = np.square(with_all[row] - matrix[row, kept] @ solved).sum() / 2
    return moved


def _left_in(seen: Pictures, row: int, settings: Settings) -> tuple[float, float, float]:
    """KL at the record where it is left out and where it stays in D, and then the excess."""
    kernel, x, y = kernel_of(settings), seen.x, seen.records.targets
    out = seen.compare(kernel, row, settings.noise).measure(x[row])
    pair = x[row], y[row]
    stays = lood.compare(kernel, x, y, pair, settings.noise, allow_repeated=True).contrast(x[row])
    return out, float(stays.kl()), float(stays.excess[0])


def identity(settings: Settings) -> xr.Dataset:
    """Every record from one inverse, and each from two posteriors of its own."""
    own = load(settings)
    most = max(settings.sizes.compared)
    cases = kernels(settings)
    numbers = np.full((2, len(cases), len(MEASURES), min(most, len(own))), np.nan)
    areas = np.zeros((2, len(cases), N_AUCS))
    for i, kernel in enumerate(cases.values()):
        # The network's kernel on 500 records, as in the released code; the others on fewer.
        few = own.first(settings.sizes.compared[min(i, 1)])
        matrix = kernel(few.inputs())
        fast = lood.leave_one_out(matrix, few.targets, settings.noise)
        numbers[0, i, :, : len(few)] = [getattr(fast, name) for name in MEASURES]
        alone = [directly(matrix, few.targets, row, settings.noise) for row in range(len(few))]
        numbers[1, i, :, : len(few)] = np.transpose(alone)
        exposed = np.argsort(-fast.kl)[:N_AUCS]
        areas[0, i] = fast.auc[exposed]
        areas[1, i] = [area(fast, row, settings.noise) for row in exposed]
    dims = ("way", "kernel", "measure", "record")
    return evidence.dataset(
        "measured",
        {"value": (dims, numbers), "auc": (("way", "kernel", "exposed"), areas)},
        {"way": ["one inverse", "one by one"], "kernel": list(cases), "measure": list(MEASURES)},
        **of_records(own.first(most), settings),
    )


def area(process: lood.LeaveOneOut, row: int, noise: float) -> float:
    """AUC of the best test at one record, by integrating over false-positive rates."""
    variance = process.variance[row]
    excess = variance / noise
    shift = square(process)[row] * excess / (variance + noise)
    pair = lood.Contrast(np.array([excess]), np.array([shift]), np.nan, process.residual.shape[1])
    return 1 - quad(pair.tradeoff, 0, 1, epsabs=1e-9, epsrel=1e-9, limit=200)[0]


def directly(
    matrix: FloatArray, targets: FloatArray, row: int, noise: float
) -> tuple[float, float, float]:
    """KL, the reverse KL and the mean distance at one record, from two linear systems."""
    everyone = np.arange(len(matrix))
    pair = [
        posterior(matrix, targets, training, row, noise)
        for training in (np.delete(everyone, row), everyone)
    ]
    moved, classes = float(np.square(pair[0][0] - pair[1][0]).sum()), targets.shape[1]
    variance, variance_s = pair[0][1], pair[1][1]
    kl = gaussian_kl(variance, variance_s, moved, classes)
    return kl, gaussian_kl(variance_s, variance, moved, classes), moved / 2


def posterior(
    matrix: FloatArray, targets: FloatArray, training: Any, row: int, noise: float
) -> tuple[FloatArray, float]:
    """Mean and variance at one row of a kernel matrix given some others, by one linear system."""
    cross = matrix[row, training]
    system = matrix[np.ix_(training, training)] + noise * np.eye(len(training))
    solved = np.linalg.solve(system, np.column_stack([cross, targets[training]]))
    return cross @ solved[:, 1:], float(matrix[row, row] - cross @ solved[:, 0])


def gaussian_kl(a: float, b: float, moved: float, classes: int) -> float:
    """KL(N(m, a I) || N(m', b I)) with |m - m'|^2 = moved."""
    return 0.5 * (classes * (np.log(b / a) - 1 + a / b) + moved / b)
