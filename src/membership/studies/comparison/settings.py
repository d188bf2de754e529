"""The parameters of the chapter that compares all attacks, and their sizes by profile."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from membership.addresses import Takes
from membership.settings import ChapterSettings, brief

MODELS = ("logistic", "small", "wide", "regularised", "overfitted", "private", "cnn")
"""The kinds of target; what each is stands in `recipes`."""

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {
        "dataset": "digits",
        "models": ["logistic", "private"],
        "n_jobs": 1,
        "n_targets": 3,
        "n_reference": 8,
        "n_pool": 240,
        "resamples": 50,
    },
    "quick": {
        "dataset": "digits",
        "also_datasets": ["purchase_like:4000"],
        "models": ["logistic", "private"],
        "also_models": ["small"],
        "n_jobs": 1,
        "n_targets": 4,
        "n_reference": 16,
        "n_pool": 2_100,
        "resamples": 100,
    },
    "paper": {
        "dataset": "location30",
        "also_datasets": ["adult", "mnist-odd"],
        "models": ["logistic", "small", "private", "wide", "regularised", "overfitted"],
        "also_models": ["logistic"],
        "n_jobs": 1,
        "n_targets": 10,
        "n_reference": 64,
        "n_pool": 2_100,
        "resamples": 200,
    },
}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "comparison"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "n_targets": (2, "an interval"),
        "n_reference": (4, "a variance of each side"),
        "n_pool": (200, "a rate at 1%"),
        "resamples": (20, "an interval"),
    }

    also_datasets: list[str] = Field(
        [], description="further data sets, by name or path; []: the profile's"
    )
    models: list[str] = Field(
        [], description=f"kinds of target on dataset, of {', '.join(MODELS)}; []: the profile's"
    )
    also_models: list[str] = Field(
        [],
        description="kinds of target on the further data sets, as 'cnn@digits' on one of them; "
        "[]: the profile's",
    )
    n_targets: int = Field(
        0, ge=0, le=100, description="target models of each cell, 2 or more; 0: the profile's"
    )
    n_reference: int = Field(
        0, ge=0, le=256, description="reference models, even, 4 or more; 0: the profile's"
    )
    n_pool: int = Field(
        0,
        ge=0,
        le=100_000,
        description="records that targets are asked, half of them members; 0: the profile's",
    )
    resamples: int = Field(
        0, ge=0, le=10_000, description="resamples of the records an interval; 0: the profile's"
    )

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for name in (*self.models, *(one.partition("@")[0] for one in self.also_models)):
            if name not in MODELS:
                raise ValueError(f"models {brief(name)}: give some of {', '.join(MODELS)}")
        if self.n_reference % 2:
            raise ValueError(
                f"n_reference is {self.n_reference}; give an even number, pairs of complements"
            )
        return self

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.comparison import needs

        return needs.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Leave out of the profile's models those that take images, where there are none."""
        from membership.studies.comparison import needs

        return needs.fitted(self, asked)

    def check_data(self) -> None:
        """See that every data set of the run can carry the chapter."""
        from membership.studies.comparison import needs

        needs.check(self)
