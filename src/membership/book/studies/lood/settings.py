"""The parameters of the chapter on Ye et al. (2024): a row a size, and what data they take."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from membership import data
from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies.data_settings import DataSettings, require_sides
from membership.errors import InputError

# Plane and car, as in the paper; of the digits two that are not told apart at a glance.
CLASSES = {"cifar10": (0, 1), "digits": (3, 8)}
LEAST_SIDE = 4
"""Pixels a side: the convolutional kernels look at patches of three."""
LEAST_RECORDS = 20
# Below, the kernel matrix cannot be inverted in double precision; above, nothing is learnt.
LEAST_NOISE, LARGEST_NOISE = 1e-6, 1e3


@dataclass(frozen=True)
class Sizes:
    """Sizes of the searches and trainings that are no parameters: a quick run's."""

    # Steps of Adam, as released; random starts of a search or an attempt of Control 5.
    steps: int = 300
    starts: int = 2
    # Of the kernels that records are reconstructed with, and the most of Controls 1, 5, 6 and 10.
    depths: tuple[int, int, int] = (2, 5, 10)
    convolutional_depths: tuple[int, int] = (1, 3)
    most_depth: int = 100
    # Records searched with each further kernel, and with other depths; groups, starts of each.
    others: int = 2
    deeper: int = 2
    groups: int = 2
    group_starts: int = 4
    # Records of Control 5 and of Figure 10; training sets along the edge of chaos, at most.
    attempted: int = 2
    normalised: int = 8
    edge_sets: int = 3
    # Of the retrained networks.
    epochs: int = 40
    # Records of Control 1, with the first kernel and with the others; of Control 6, at most.
    compared: tuple[int, int] = (500, 100)
    beside_mean: int = 200
    # Training records under convolutional kernels, which cost a covariance a pixel.
    convolutional_records: int = 60
    # Whether JAX has time to compile: it optimises, and every kernel's sets of queries are climbed.
    compiled: bool = True


SIZES = {
    "tiny": Sizes(
        steps=60,
        depths=(1, 1, 1),
        convolutional_depths=(1, 1),
        most_depth=1,
        groups=1,
        group_starts=2,
        attempted=1,
        normalised=2,
        epochs=5,
        compared=(60, 60),
        compiled=False,
    ),
    "quick": Sizes(
        attempted=1,
        normalised=4,
        group_starts=2,
        beside_mean=120,
        convolutional_records=30,
        compiled=False,
    ),
    "paper": Sizes(
        starts=3,
        others=100,
        deeper=20,
        groups=34,
        group_starts=10,
        edge_sets=6,
    ),
}


class Settings(DataSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "lood"
    shared: ClassVar = {"dataset": ("digits", "digits", "cifar10")}
    # Tables are scaled, pictures are not.
    least_data: ClassVar = Takes(
        LEAST_RECORDS, "different ones of classes 0 and 1", LEAST_SIDE, scaled=False
    )
    against_divergence: ClassVar[str] = (
        "give networks of fewer layers or units, such as `-p depth 2 -p network_width 32`"
    )

    n_records: int = size(
        "training records", (60, 200, 1000), least=(LEAST_RECORDS, "a process"), le=20_000
    )
    depth: int = size("hidden layers of kernel and networks", (2, 2, 2), le=100)
    noise: float = size(
        "variance of the label noise, positive", (0.05, 0.05, 0.05), le=LARGEST_NOISE
    )
    n_reconstructed: int = size(
        "records to reconstruct", (2, 20, 100), least=(2, "a share of them"), le=200
    )
    n_networks: int = size(
        "networks a side", (4, 50, 100), least=(4, "a law fitted on half of them"), le=1000
    )
    n_retrained: int = size(
        "records to retrain without", (4, 10, 50), least=(4, "a correlation"), le=1000
    )
    network_records: int = size(
        "training records of the networks",
        (30, 100, 500),
        least=(LEAST_RECORDS, "a network"),
        le=20_000,
    )
    network_width: int = size("units of a hidden layer of the networks", (16, 64, 256), le=8192)

    def resolve(self) -> Self:
        """Fill in the profile's values, and refuse sizes that the figures cannot be drawn with."""
        filled = super().resolve()
        if not self.network_records:
            fewer = min(filled.network_records, filled.n_records)
            filled = filled.model_copy(update={"network_records": fewer})
        if filled.noise < LEAST_NOISE:
            raise InputError(f"noise = {filled.noise:g}: give at least {LEAST_NOISE:g}")
        at_most = {
            "n_reconstructed": filled.n_records // 2,
            "network_records": filled.n_records,
            "n_retrained": filled.network_records // 2,
        }
        for name, most in at_most.items():
            if getattr(filled, name) > most:
                raise InputError(
                    f"{name} = {getattr(filled, name)}: give at most {most} with "
                    f"n_records = {filled.n_records} and network_records = {filled.network_records}"
                )
        return filled

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the profile's sizes to the different records of the two classes."""
        outline = self.outlines()[self.dataset]
        there = len(self._two_classes(outline))
        n = self.n_records if "n_records" in asked else min(self.n_records, there)
        if n < LEAST_RECORDS:
            raise InputError(
                f"dataset {outline.name!r} holds {there:,} different records of its first two "
                f"classes; give at least {LEAST_RECORDS}"
            )
        networks = self.network_records
        networks = networks if "network_records" in asked else min(networks, n)
        most = {
            "n_records": n,
            "n_reconstructed": min(self.n_reconstructed, n // 2),
            "network_records": networks,
            "n_retrained": min(self.n_retrained, networks // 2),
        }
        why = f"{outline.name} holds {there:,} different records of the two classes"
        return self.cut(asked, most, why)

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that the data are in scale, differ, and are as many as asked for."""
        two = self._two_classes(outline)
        require_sides(outline, LEAST_SIDE)
        if outline.is_image:  # features of a table are scaled
            data.require_scaled(outline)
        if len(two) < self.n_records:
            raise InputError(
                f"n_records = {self.n_records}: dataset {outline.name!r} holds {len(two):,} "
                f"different records of the two classes; give at most as many: "
                f"`-p n_records {len(two)}`"
            )
        blank = ~two.x.reshape(len(two), -1).any(axis=1)
        if blank.any():
            raise InputError(
                f"dataset {outline.name!r}: {blank.sum():,} records of the two classes are zero "
                "everywhere, or least in every feature, which has no norm to scale to; leave them "
                "out"
            )
        if np.ptp(two.x) == 0:
            raise InputError(
                f"dataset {outline.name!r}: every record is the same; give different ones"
            )

    def _two_classes(self, outline: data.Outline) -> data.Dataset:
        if outline.dataset is None:
            raise InputError(
                f"dataset={self.dataset!r}: its records are simulated in a hundred classes, and "
                "this chapter compares two; give digits, cifar10 or data of your own"
            )
        return two_classes(outline.dataset)

    @property
    def sizes(self) -> Sizes:
        """What the profile fixes beside the parameters."""
        return SIZES[self.profile]

    @property
    def search_records(self) -> int:
        """Training records of the searches for queries: at most 200, for the time they take."""
        return min(self.n_records, 200)

    @property
    def reconstruction_records(self) -> int:
        """Those of the reconstructions, which share one inverse: at most 1,000."""
        return min(self.n_records, 1000)


def two_classes(loaded: data.Dataset) -> data.Dataset:
    """The different records of the two classes that the chapter compares."""
    kept = data.deduplicate(data.keep_classes(loaded, CLASSES.get(loaded.name, (0, 1))))
    return kept if kept.x.ndim == 4 else as_bars(kept)


def as_bars(table: data.Dataset) -> data.Dataset:
    """A table as pictures one line high: a bar a feature, from its least value, black, to white."""
    x = table.x.astype(np.float64)
    low, spread = x.min(axis=0), np.ptp(x, axis=0)
    x = ((x - low) / np.where(spread > 0, spread, 1.0))[:, None, None].astype(np.float32)
    source = f"{table.source} Each feature scaled to run from 0 to 1."
    bars = replace(table, x=x, source=source, columns=(), verified=False)
    return bars.select(np.arange(len(bars)))  # which takes the digest anew
