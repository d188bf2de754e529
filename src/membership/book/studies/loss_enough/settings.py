"""The parameters of the chapter on solvable games: a row a size."""

from typing import ClassVar

from membership.book.settings import ChapterSettings, size
from membership.data.public import places
from membership.errors import InputError, brief


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "loss_enough"

    n_games: int = size(
        "games of ridge regression, each with its own D'",
        (3, 12, 40),
        least=(2, "an interval"),
        le=10_000,
    )
    n_records: int = size(
        "records that are asked in each", (10, 20, 20), least=(2, "a pooled curve"), le=10_000
    )
    n_draws: int = size(
        "models a record, with it and without", (100, 250, 250), least=(20, "a curve"), le=100_000
    )
    grid_points: int = size(
        "weights along a side of the logistic regression's grid",
        (11, 21, 31),
        least=(11, "a step of SGD on the grid"),
        le=61,
    )

    def check_data(self) -> None:
        """The games make their own records; a folder that is named has to be one all the same."""
        places(self.data_root)
        if self.dataset:
            raise InputError(
                f"dataset = {brief(self.dataset)}: the games of this chapter make their own "
                "records; leave it empty"
            )
