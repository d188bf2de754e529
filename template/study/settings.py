"""The parameters of the chapter: a row a size, and what data it takes."""

from typing import ClassVar

from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies.data_settings import DataSettings


class Settings(DataSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "my_paper"
    shared: ClassVar = {"dataset": ("digits", "digits", "cifar10")}
    least_data: ClassVar[Takes] = Takes(100, "of all classes", 1, scaled=True)

    n_models: int = size(
        "networks of each width, each trained on its own random half of the records",
        (3, 10, 10),
        least=(2, "an interval"),
        le=1000,
    )
    epochs: int = size("passes over the members", (30, 100, 100), le=10_000)
