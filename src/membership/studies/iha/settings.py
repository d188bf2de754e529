"""The parameters of the chapter on Suri et al. (2024), and their sizes by profile."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from membership.addresses import Takes
from membership.settings import ChapterSettings

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {
        "dataset": "digits-odd",
        "also_datasets": ["digits", "purchase_like:3000"],
        "n_models": 8,
        "n_targets": 3,
        "n_queries": 400,
        "epochs": 20,
        "most_parameters": 900,
        "loo_records": 4,
        "loo_models": 6,
    },
    "quick": {
        "dataset": "digits-odd",
        "also_datasets": ["digits", "purchase_like:8000"],
        "n_models": 24,
        "n_targets": 5,
        "n_queries": 1200,
        "most_parameters": 2500,
        "loo_records": 10,
        "loo_models": 20,
    },
    "paper": {
        "dataset": "mnist-odd",
        "also_datasets": ["fashion_mnist", "purchase_like:50000"],
        "n_models": 128,
        "n_targets": 10,
        "n_queries": 10_000,
        "most_parameters": 4800,
        "loo_records": 16,
        "loo_models": 32,
    },
}
# Final parameters that the checks of the theorems draw; a tenth as many are trained for a record.
DRAWS = {"tiny": 4000, "quick": 20_000, "paper": 20_000}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "iha"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "n_models": (6, "the chapter"),
        "n_targets": (3, "an interval, where a complement is no other,"),
        "n_queries": (40, "the chapter"),
        "loo_records": (2, "the chapter"),
        "loo_models": (4, "the chapter"),
    }

    # The paper's, for every data set; Table 8 and the damping control try others.
    damping: ClassVar[float] = 0.2

    also_datasets: list[str] = Field(
        [],
        description="further data sets beside dataset, by name (-odd: parity, squared error) or "
        "path; []: the profile's",
    )
    n_models: int = Field(
        0, ge=0, le=1000, description="models a data set, even, at least 6; 0: the profile's"
    )
    n_targets: int = Field(
        0, ge=0, le=1000, description="models attacked, 3 to n_models; 0: the profile's"
    )
    n_queries: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="records that every target is asked about, 40 or more; 0: the profile's",
    )
    epochs: int = Field(
        0, ge=0, le=10_000, description="epochs; 0: the profile's, else those of the recipe"
    )
    most_parameters: int = Field(
        0,
        ge=0,
        le=100_000,  # its Hessian is formed: 80 GB
        description="widest model; hidden layers are cut to fit, since its Hessian is formed; "
        "0: the profile's",
    )
    loo_records: int = Field(
        0,
        ge=0,
        le=10_000,
        description="records a leave-one-out experiment plays for, 2 or more; 0: the profile's",
    )
    loo_models: int = Field(
        0,
        ge=0,
        le=1000,
        description="models retrained for each of these records, 4 or more; 0: the profile's",
    )

    @model_validator(mode="after")
    def _models_are_pairs(self) -> Self:
        if self.n_models % 2:
            raise ValueError(f"n_models = {self.n_models}: even, a model and its complement each")
        if self.n_models and self.n_targets > self.n_models:
            raise ValueError(f"n_targets = {self.n_targets}: there are {self.n_models} models")
        return self

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.iha import needs

        return needs.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the sizes that the profile chose to the data."""
        from membership.studies.iha import needs

        return needs.fitted(self, asked)

    def check_data(self) -> None:
        """See that every data set of the run can carry the chapter."""
        from membership.studies.iha import needs

        needs.check(self)

    @property
    def theory_draws(self) -> int:
        """Final parameters that the checks of the theorems draw."""
        return DRAWS[self.profile]

    @property
    def datasets(self) -> list[str]:
        """Every data set of a run, each once, the main one first."""
        return list(dict.fromkeys([self.dataset, *self.also_datasets]))
