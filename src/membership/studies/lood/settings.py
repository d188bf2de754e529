"""The parameters of the chapter on Ye et al. (2024), and their sizes by profile."""

from typing import Any, ClassVar, Self

from pydantic import Field

from membership.errors import InputError
from membership.settings import ChapterSettings

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {
        "dataset": "digits",
        "n_records": 60,
        "depth": 2,
        "noise": 0.05,
        "n_reconstructed": 2,
        "n_networks": 4,
        "n_retrained": 4,
        "network_records": 30,
        "network_width": 16,
    },
    "quick": {
        "dataset": "digits",
        "n_records": 200,
        "depth": 2,
        "noise": 0.05,
        "n_reconstructed": 20,
        "n_networks": 50,
        "n_retrained": 20,
        "network_records": 100,
        "network_width": 64,
    },
    "paper": {
        "dataset": "cifar10",
        "n_records": 1000,
        "depth": 2,
        "noise": 0.05,
        "n_reconstructed": 20,
        "n_networks": 50,
        "n_retrained": 12,
        "network_records": 100,
        "network_width": 32,
    },
}
LEAST = {
    "n_records": 20,
    "n_reconstructed": 2,
    "network_records": 20,
    "n_networks": 4,
    "n_retrained": 4,
}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "lood"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES

    n_records: int = Field(
        0, ge=0, le=20_000, description="training records, 20 or more; 0: the profile's"
    )
    depth: int = Field(
        0, ge=0, le=100, description="hidden layers of kernel and networks; 0: the profile's"
    )
    noise: float = Field(
        0.0, ge=0, description="variance of the label noise, positive; 0: the profile's"
    )
    n_reconstructed: int = Field(
        0, ge=0, le=200, description="records to reconstruct, 2 or more; 0: the profile's"
    )
    n_networks: int = Field(
        0, ge=0, le=1000, description="networks a side, 4 or more; 0: the profile's"
    )
    n_retrained: int = Field(
        0, ge=0, le=1000, description="records to retrain without, 4 or more; 0: the profile's"
    )
    network_records: int = Field(
        0, ge=0, le=20_000, description="training records of the networks; 0: the profile's"
    )
    network_width: int = Field(
        0, ge=0, le=8192, description="units of a hidden layer of the networks; 0: the profile's"
    )

    def resolve(self) -> Self:
        """Fill in the profile's values, and refuse sizes that the figures cannot be drawn with.

        Raises
        ------
        InputError
            A size is below what its figure needs, or beyond the number of records.
        """
        filled = super().resolve()
        if not self.network_records:
            fewer = min(filled.network_records, filled.n_records)
            filled = filled.model_copy(update={"network_records": fewer})
        for name, least in LEAST.items():
            if getattr(filled, name) < least:
                raise InputError(f"{name} = {getattr(filled, name)}: give at least {least}")
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

    @property
    def is_tiny(self) -> bool:
        """Whether this is the profile of the tests, with the shortest searches."""
        return self.profile == "tiny"

    @property
    def search_records(self) -> int:
        """Training records of the searches for queries: at most 200, for the time they take."""
        return min(self.n_records, 200)

    @property
    def search_steps(self) -> int:
        """Steps of Adam: those of the released default, fewer only in tests."""
        return 60 if self.is_tiny else 300

    @property
    def search_starts(self) -> int:
        """Random starts of each search; the best counts."""
        return {"tiny": 2, "quick": 4}.get(self.profile, 3)
