"""What wide networks say: three laws by their noise, and kernels along the edge of chaos."""

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.book.studies.lood.activations import (
    EDGE_DEPTHS,
    OTHERS,
    QS,
    RATIOS,
    on_sphere,
    point,
)
from membership.book.studies.lood.evidence import N_SETS, of_records, of_sets
from membership.book.studies.lood.experiment import (
    NOISES,
    SCALINGS,
    Records,
    at_edge,
    load,
    parts,
    square,
)
from membership.book.studies.lood.laws import ENSEMBLE, NETWORKS, PROCESS, TANGENT
from membership.book.studies.lood.networks import NETWORK_W_STD, left_out_of
from membership.book.studies.lood.settings import Settings


def laws(settings: Settings) -> xr.Dataset:
    """How far apart each law is with a record and without it, at the record, by noise or ridge.

    Kernels have the depth and deviation of the networks; no network is trained.
    """
    own = load(settings).first(settings.network_records)
    chosen = left_out_of(own, settings)
    by_activation = []
    for activation in NETWORKS:
        kernel = nngp.fully_connected(settings.depth, activation, NETWORK_W_STD[activation])
        prior, tangent = kernel(own.inputs()), nngp.tangent_kernel(kernel, own.inputs())
        by_activation.append(
            [
                [_of_posterior(matrix, own.targets, noise)[:, chosen] for noise in NOISES]
                for matrix in (prior, tangent)
            ]
        )
        ensembles = (
            lood.trained_ensembles(prior, tangent, own.targets, chosen, ridge) for ridge in NOISES
        )
        by_activation[-1].append([_of_ensemble(contrast) for contrast in ensembles])
    excess, shift, distance = np.moveaxis(by_activation, 3, 0)
    dims = ("activation", "law", "level", "record")
    return evidence.dataset(
        "process",
        {"excess": (dims, excess), "shift": (dims, shift), "mean_distance": (dims, distance)},
        {
            "activation": list(NETWORKS),
            "law": [PROCESS, TANGENT, ENSEMBLE],
            "level": list(NOISES),
            "record": chosen,
        },
        **of_records(own, settings, records_left_out=len(chosen)),
    )


def _of_posterior(matrix: FloatArray, y: FloatArray, noise: float) -> FloatArray:
    """Excess, shift and mean distance of every record: (3, records)."""
    process = lood.leave_one_out(matrix, y, noise)
    share = process.variance / (process.variance + noise)
    return np.stack(
        [process.variance / noise, square(process) * share / noise, process.mean_distance]
    )


def _of_ensemble(contrast: lood.Contrast) -> FloatArray:
    return np.stack([contrast.excess[:, 0], contrast.shift[:, 0], contrast.mean_distance])


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
    levels = {"inputs": list(SCALINGS), "depth": list(EDGE_DEPTHS), "q": list(QS)}
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
    log_ratios = np.zeros((len(EDGE_DEPTHS), len(QS), len(RATIOS), len(records)))
    for i, depth in enumerate(EDGE_DEPTHS):
        relu = nngp.fully_connected(depth)(x)
        below = _log_kl(relu / np.diag(relu).mean(), records)
        for j, q in enumerate(QS):
            fixed_point = point("GeLU", q)
            stds = fixed_point.w_std, float(np.sqrt(fixed_point.b_variance))
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
        of_q = [on_sphere(name, q, cosine, EDGE_DEPTHS) for q in QS]
        above = [[_log_kl(k / q, records) for k in ks] for q, ks in zip(QS, of_q, strict=True)]
        comparisons.append(np.swapaxes(above, 0, 1) > np.array(below)[:, None])
    return np.array(comparisons)


def _log_kl(matrix: FloatArray, records: Records) -> FloatArray:
    return np.log([lood.leave_one_out(matrix, records.targets, ratio).kl for ratio in RATIOS])
