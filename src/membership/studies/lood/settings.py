"""The parameters of the chapter on Ye et al. (2024), and their sizes by profile."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import Field

from membership.addresses import Takes
from membership.errors import InputError
from membership.settings import ChapterSettings

_SIZES = ("n_records", "depth", "noise", "n_reconstructed", "n_networks", "n_retrained")
_NAMES = ("dataset", *_SIZES, "network_records", "network_width")
_PROFILES = {
    "tiny": ("digits", 60, 2, 0.05, 2, 4, 4, 30, 16),
    "quick": ("digits", 200, 2, 0.05, 20, 50, 20, 100, 64),
    "paper": ("cifar10", 1000, 2, 0.05, 20, 100, 50, 500, 256),
}
PROFILES: dict[str, dict[str, Any]] = {
    profile: dict(zip(_NAMES, values, strict=True)) for profile, values in _PROFILES.items()
}


@dataclass(frozen=True)
class Sizes:
    """Sizes of the searches and trainings that are no parameters.

    Attributes
    ----------
    steps, starts, attempt_starts : int
        Steps of Adam, those of the released default but in tests; random starts of a search, and
        of an attempt of Control 5.
    depths, convolutional_depths : tuple of int
        Of the kernels that records are reconstructed with.
    most_depth : int
        Largest depth of the kernels of Controls 1, 5, 6 and 10.
    others, groups, group_starts, attempted, normalised : int
        Records searched with each further kernel; groups, and starts of each; records of Control 5
        and of Figure 10.
    edge_sets : int
        Training sets along the edge of chaos, at most.
    epochs : int
        Of the retrained networks.
    compared : tuple of int
        Records of Control 1, with the first kernel and with the others.
    everywhere : bool
        Whether sets of queries are optimised with every kernel, which compiles each anew.
    optimised : bool
        Whether JAX optimises what it compiles.
    """

    steps: int = 300
    starts: int = 4
    attempt_starts: int = 4
    depths: tuple[int, int, int] = (2, 5, 10)
    convolutional_depths: tuple[int, int] = (1, 3)
    most_depth: int = 100
    others: int = 2
    groups: int = 2
    group_starts: int = 4
    attempted: int = 2
    normalised: int = 8
    edge_sets: int = 3
    epochs: int = 40
    compared: tuple[int, int] = (500, 100)
    everywhere: bool = True
    optimised: bool = True


SIZES = {
    "tiny": Sizes(
        steps=60,
        starts=2,
        attempt_starts=2,
        depths=(1, 1, 1),
        convolutional_depths=(1, 1),
        most_depth=1,
        others=2,
        groups=1,
        group_starts=2,
        attempted=1,
        normalised=2,
        epochs=5,
        compared=(60, 60),
        everywhere=False,
        optimised=False,
    ),
    "quick": Sizes(optimised=False),
    "paper": Sizes(starts=5, attempt_starts=3, others=20, groups=20, group_starts=10, edge_sets=6),
}
# Below, the kernel matrix cannot be inverted in double precision; above, nothing is learnt.
LEAST_NOISE, LARGEST_NOISE = 1e-6, 1e3
LEAST = {"n_records": 20, "n_reconstructed": 2, "network_records": 20}
LEAST |= {"n_networks": 4, "n_retrained": 4}


def _size(what: str, most: int) -> Any:
    return Field(0, ge=0, le=most, description=f"{what}; 0: the profile's")


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "lood"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    against_divergence: ClassVar[str] = (
        "give networks of fewer layers or units, such as `-p depth 2 -p network_width 32`"
    )

    n_records: int = _size("training records, 20 or more", 20_000)
    depth: int = _size("hidden layers of kernel and networks", 100)
    noise: float = Field(
        0.0,
        ge=0,
        le=LARGEST_NOISE,
        description="variance of the label noise, positive; 0: the profile's",
    )
    n_reconstructed: int = _size("records to reconstruct, 2 or more", 200)
    n_networks: int = _size("networks a side, 4 or more", 1000)
    n_retrained: int = _size("records to retrain without, 4 or more", 1000)
    network_records: int = _size("training records of the networks", 20_000)
    network_width: int = _size("units of a hidden layer of the networks", 8192)

    def resolve(self) -> Self:
        """Fill in the profile's values, and refuse sizes that the figures cannot be drawn with."""
        filled = super().resolve()
        if not self.network_records:
            fewer = min(filled.network_records, filled.n_records)
            filled = filled.model_copy(update={"network_records": fewer})
        for name, least in LEAST.items():
            if getattr(filled, name) < least:
                raise InputError(f"{name} = {getattr(filled, name)}: give at least {least}")
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

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.lood import needs

        return needs.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the sizes that the profile chose to the data."""
        from membership.studies.lood import needs

        return needs.fitted(self, asked)

    def check_data(self) -> None:
        """See that the data can carry the chapter."""
        from membership.studies.lood import needs

        needs.check(self)

    @property
    def sizes(self) -> Sizes:
        """What the profile fixes beside the parameters."""
        return SIZES[self.profile]

    @property
    def search_records(self) -> int:
        """Training records of the searches for queries: at most 200, for the time they take."""
        return min(self.n_records, 200)
