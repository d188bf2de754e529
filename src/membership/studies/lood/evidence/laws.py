"""What three laws of wide networks say of the records that networks are retrained without."""

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood.evidence import of_records
from membership.studies.lood.experiment import load, square
from membership.studies.lood.laws import ENSEMBLE, NETWORKS, PROCESS, TANGENT
from membership.studies.lood.networks import NETWORK_W_STD, left_out_of
from membership.studies.lood.settings import Settings

NOISES = (0.005, 0.05, 0.5, 5.0)


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
                [_posterior(matrix, own.targets, noise)[:, chosen] for noise in NOISES]
                for matrix in (prior, tangent)
            ]
        )
        ensembles = (
            lood.trained_ensembles(prior, tangent, own.targets, chosen, ridge) for ridge in NOISES
        )
        by_activation[-1].append([_parts(contrast) for contrast in ensembles])
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


def _posterior(matrix: FloatArray, y: FloatArray, noise: float) -> FloatArray:
    """Excess, shift and mean distance of every record: (3, records)."""
    process = lood.leave_one_out(matrix, y, noise)
    share = process.variance / (process.variance + noise)
    return np.stack(
        [process.variance / noise, square(process) * share / noise, process.mean_distance]
    )


def _parts(contrast: lood.Contrast) -> FloatArray:
    return np.stack([contrast.excess[:, 0], contrast.shift[:, 0], contrast.mean_distance])
