"""The parameters of the chapter on Leemann et al. (2023), and their sizes by profile."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from pydantic import Field

from membership.addresses import Takes
from membership.settings import ChapterSettings

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {
        "dataset": "digits",
        "monte_carlo": 20_000,
        "simulated_repeats": 2,
        "simulated_records": 1000,
        "audit_models": 2,
        "n_background": 10_000,
        "utility_seeds": 2,
        "n_reference": 8,
        "pretrain_epochs": 1,
    },
    "quick": {
        "dataset": "digits",
        "monte_carlo": 400_000,
        "simulated_repeats": 5,
        "simulated_records": 2000,
        "audit_models": 5,
        "n_background": 10_000,
        "utility_seeds": 5,
        "n_reference": 32,
        "pretrain_epochs": 1,
    },
    "paper": {
        "dataset": "adult",
        "also_datasets": ["cifar10", "purchase_like:150000"],
        "monte_carlo": 400_000,
        "simulated_repeats": 5,
        "simulated_records": 10_000,
        "audit_models": 5,
        "n_background": 10_000,
        "utility_seeds": 5,
        "n_reference": 64,
        "pretrain_epochs": 30,
    },
}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "gmip"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "monte_carlo": (1000, "a rate of 1%"),
        "simulated_repeats": (2, "an interval"),
        "simulated_records": (1000, "a rate of 0.1%"),
        "audit_models": (2, "an interval"),
        "utility_seeds": (2, "an interval"),
        "n_reference": (4, "LiRA"),
    }
    further_data: ClassVar[tuple[str, ...]] = ("cifar100_20k",)

    # The steps of SGD that the paper's Figure 2c composes.
    audit_steps: ClassVar[int] = 5

    also_datasets: list[str] = Field(
        [], description="further data sets beside dataset, by name or path; []: the profile's"
    )
    monte_carlo: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="draws that check Theorem 5.1, at least 1,000; 0: the profile's",
    )
    simulated_repeats: int = Field(
        0, ge=0, le=1000, description="repeats of each simulated audit, 2 or more; 0: the profile's"
    )
    simulated_records: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="non-members of each repeat of Figures 2a and 4, at least 1,000; 0: the "
        "profile's",
    )
    audit_models: int = Field(
        0,
        ge=0,
        le=1000,
        description="models audited on real gradients, 2 or more; 0: the profile's",
    )
    n_background: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="records that moments are estimated on, at most those left; 0: the profile's",
    )
    utility_seeds: int = Field(
        0, ge=0, le=100, description="trainings a privacy level, 2 or more; 0: the profile's"
    )
    n_reference: int = Field(
        0, ge=0, le=1000, description="shadow models of Figure 6, at least 4; 0: the profile's"
    )
    pretrain_epochs: int = Field(
        0, ge=0, le=1000, description="epochs of the pre-trained networks; 0: the profile's"
    )

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.gmip import needs

        return needs.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the sizes that the profile chose to the data."""
        from membership.studies.gmip import needs

        return needs.fitted(self, asked)

    def check_data(self) -> None:
        """See that every data set of the run can carry the chapter."""
        from membership.studies.gmip import needs

        needs.check(self)

    @property
    def panel_repeats(self) -> int:
        """Repeats of Figures 2a and 4, whose claims are judged at 207 and 483 rates at once."""
        return self.simulated_repeats * (4 if self.profile == "paper" else 1)

    @property
    def n_levels(self) -> int:
        """Privacy levels of Figure 3: the paper's 20, fewer only in tests."""
        return 4 if self.profile == "tiny" else 20
