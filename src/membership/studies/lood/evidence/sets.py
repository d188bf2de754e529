"""Closed forms on several training sets, and along the edge of chaos."""

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import edge
from membership.studies.lood.evidence import of_sets
from membership.studies.lood.evidence.records import uniform
from membership.studies.lood.experiment import (
    RBF,
    RELU,
    SCALINGS,
    Records,
    at_edge,
    family_of,
    kernel_name,
    load,
    parts,
    square,
)
from membership.studies.lood.leakage import NARROW, RELEASED, WIDE
from membership.studies.lood.networks import NETWORK_W_STD
from membership.studies.lood.settings import Settings

N_SETS = 3
SET_DEPTHS = (2, 5, 10)
NETWORKS = {
    RELU: ("relu", 2**0.5),
    NARROW: ("gelu", 2**0.5),
    WIDE: ("gelu", NETWORK_W_STD["gelu"]),
}
"""Activation and deviation of the weights, by the kernel's family."""
EDGE_QS, EDGE_DEPTHS, RATIOS = edge.QS, (1, 2, 5, 10), (0.01, 0.1)
OTHERS = ("ELU", "tanh")


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


def along_edge(name: str, n_records: int, settings: Settings) -> xr.Dataset:
    """Whether GeLU's KL is above ReLU's, by record, at fixed points of the edge of chaos.

    Both kernels keep the same mean variance q, and the noise is a share of it. ReLU's KL does not
    depend on q then. ELU and tanh stand beside where every input has the same variance, on three of
    the training sets, which share no record.
    """
    size = n_records or settings.n_records
    training_sets = [
        load(settings, name, size, part) for part in range(parts(settings, name, size))
    ]
    log_ratios = [[_along(records, scaling) for scaling in SCALINGS] for records in training_sets]
    sphere = [_others_on_sphere(records) for records in training_sets[:N_SETS]]
    dims = ("training_set", "inputs", "depth", "q", "ratio")
    levels = {"inputs": list(SCALINGS), "depth": list(EDGE_DEPTHS), "q": list(EDGE_QS)}
    return evidence.dataset(
        "process",
        {
            "more": ((*dims, "record"), np.array(log_ratios) > 0),
            "log_ratio": (dims, np.mean(log_ratios, axis=-1)),
            "more_on_sphere": (("set_on_sphere", "activation", *dims[2:], "record"), sphere),
        },
        levels | {"ratio": list(RATIOS), "activation": list(OTHERS)},
        **of_sets(training_sets, settings),
    )


def _along(records: Records, scaling: str) -> FloatArray:
    """Log ratios of GeLU's KL and ReLU's, (depth, q, ratio, record)."""
    x = records.inputs(scaling)
    log_ratios = np.zeros((len(EDGE_DEPTHS), len(EDGE_QS), len(RATIOS), len(records)))
    for i, depth in enumerate(EDGE_DEPTHS):
        relu = nngp.fully_connected(depth)(x)
        below = _log_kl(relu / np.diag(relu).mean(), records)
        for j, q in enumerate(EDGE_QS):
            point = edge.point("GeLU", q)
            stds = point.w_std, float(np.sqrt(point.b_variance))
            kernel = nngp.fully_connected(depth, "gelu", *stds)(at_edge(x, *stds, q))
            log_ratios[i, j] = _log_kl(kernel / np.diag(kernel).mean(), records) - below
    return log_ratios


def _others_on_sphere(records: Records) -> np.ndarray:
    """Whether ELU and tanh are above ReLU on the sphere, (activation, depth, q, ratio, record)."""
    x = records.inputs("unit sphere")
    cosine = x @ x.T / x.shape[1]
    relus = [nngp.fully_connected(depth)(x) for depth in EDGE_DEPTHS]
    below = [_log_kl(relu / np.diag(relu).mean(), records) for relu in relus]
    comparisons = []
    for name in OTHERS:
        of_q = [edge.on_sphere(name, q, cosine, EDGE_DEPTHS) for q in EDGE_QS]
        above = [[_log_kl(k / q, records) for k in ks] for q, ks in zip(EDGE_QS, of_q, strict=True)]
        comparisons.append(np.swapaxes(above, 0, 1) > np.array(below)[:, None])
    return np.array(comparisons)


def _log_kl(matrix: FloatArray, records: Records) -> FloatArray:
    return np.log([lood.leave_one_out(matrix, records.targets, ratio).kl for ratio in RATIOS])
