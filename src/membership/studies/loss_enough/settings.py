"""The parameters of the chapter on solvable games, and their sizes by profile."""

from typing import Any, ClassVar

from pydantic import Field

from membership.errors import InputError
from membership.settings import ChapterSettings, brief

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {"n_games": 3, "n_records": 10, "n_draws": 100, "grid_points": 11},
    "quick": {"n_games": 12, "n_records": 20, "n_draws": 250, "grid_points": 21},
    "paper": {"n_games": 40, "n_records": 20, "n_draws": 250, "grid_points": 31},
}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "loss_enough"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "n_games": (2, "an interval"),
        "n_records": (2, "a pooled curve"),
        "n_draws": (20, "a curve"),
        "grid_points": (11, "a step of SGD on the grid"),
    }

    n_games: int = Field(
        0,
        ge=0,
        le=10_000,
        description="games of ridge regression, each with its own D'; 0: the profile's",
    )
    n_records: int = Field(
        0, ge=0, le=10_000, description="records that are asked in each; 0: the profile's"
    )
    n_draws: int = Field(
        0, ge=0, le=100_000, description="models a record, with it and without; 0: the profile's"
    )
    grid_points: int = Field(
        0,
        ge=0,
        le=61,
        description="weights along a side of the logistic regression's grid; 0: the profile's",
    )

    def check_data(self) -> None:
        """The games make their own records; a folder that is named has to be one all the same."""
        from membership.data.public import places

        places(self.data_root)
        if self.dataset:
            raise InputError(
                f"dataset = {brief(self.dataset)}: the games of this chapter make their own "
                "records; leave it empty"
            )
