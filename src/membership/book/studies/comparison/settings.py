"""The parameters of the comparison of all attacks: a row a size, and what data they take."""

import re
from collections.abc import Collection
from typing import ClassVar, Self

from pydantic import model_validator

from membership import data
from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies.data_settings import DescribedSettings
from membership.errors import InputError, brief

MODELS = ("logistic", "small", "wide", "regularised", "overfitted", "private", "cnn")
"""The kinds of target; what each is stands in `names.RECIPES`."""
SIZED = {"n_targets": 2, "n_counted": 100}
"""The sizes that a further data set may have of its own, and the least of each."""
_SIZE = re.compile(rf"(?P<name>{'|'.join(SIZED)})=(?P<value>[1-9][0-9]{{0,4}})@(?P<on>.+)")
LATER = ("fashion_mnist", "purchase_like:25000", "cifar10-patches")
LATER_SIZES = [f"{size}@{name}" for name in LATER for size in ("n_targets=16", "n_counted=1000")]
"""More targets, and fewer answers kept, of those that came to the paper profile last."""


class Settings(DescribedSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "comparison"
    shared: ClassVar = {"dataset": ("digits", "digits", "location30"), "n_jobs": (1, 1, 1)}
    least_data: ClassVar[Takes] = Takes(300, "of all classes", 1, scaled=True)

    also_datasets: list[str] = size(
        "further data sets, by name or path",
        (
            [],
            ["purchase_like:2000"],
            ["adult", "mnist-odd", *LATER],
        ),
    )
    models: list[str] = size(
        f"kinds of target on dataset, of {', '.join(MODELS)}",
        (
            ["logistic", "private"],
            ["logistic", "private"],
            ["logistic", "small", "private", "wide", "regularised", "overfitted"],
        ),
    )
    also_models: list[str] = size(
        "kinds of target on the further data sets, as 'cnn@digits' on one of them",
        (
            [],
            ["small"],
            [
                "logistic@adult",
                "logistic@mnist-odd",
                "regularised@fashion_mnist",
                "wide@purchase_like:25000",
                "small@cifar10-patches",
            ],
        ),
    )
    also_sizes: list[str] = size(
        # No = in it: papermill's reader of the parameters cell would take it for the assignment.
        f"{' and '.join(SIZED)} of a further data set that has others",
        ([], [], LATER_SIZES),
    )
    without_qmia: list[str] = size(
        "data sets on which QMIA is not fitted, for its time", ([], [], ["fashion_mnist"])
    )
    n_targets: int = size(
        "target models of each cell", (3, 3, 10), least=(2, "an interval"), le=100
    )
    n_reference: int = size(
        "reference models, even", (8, 16, 64), least=(4, "a variance of each side"), le=256
    )
    n_pool: int = size(
        "records that targets are asked, half of them members",
        (240, 2100, 2100),
        least=(200, "a rate at 1%"),
        le=100_000,
    )
    n_counted: int = size(
        "population records that are counted, of 10,000 at most",
        (10_000, 10_000, 10_000),
        least=(100, "a share of one in a hundred"),
        le=10_000,
    )
    resamples: int = size(
        "resamples of the records an interval",
        (50, 100, 200),
        least=(20, "an interval"),
        le=10_000,
    )

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for name in (*self.models, *(entry.partition("@")[0] for entry in self.also_models)):
            if name not in MODELS:
                raise ValueError(f"models {brief(name)}: give some of {', '.join(MODELS)}")
        if self.n_reference % 2:
            raise ValueError(
                f"n_reference is {self.n_reference}; give an even number, pairs of complements"
            )
        for entry in self.also_sizes:
            found = _SIZE.fullmatch(entry)
            if not found or int(found["value"]) < SIZED[found["name"]]:
                sizes = " or ".join(f"{name} of {least} or more" for name, least in SIZED.items())
                raise ValueError(
                    f"also_sizes {brief(entry)}: give {sizes}, and a data set, as "
                    "'n_targets=16@digits'"
                )
        return self

    def of(self, dataset: str) -> Self:
        """The settings with the sizes of one of the data sets."""
        entries = [_SIZE.fullmatch(entry) for entry in self.also_sizes]
        own = {one["name"]: int(one["value"]) for one in entries if one and one["on"] == dataset}
        return self.model_copy(update=own)

    def kinds(self, dataset: str) -> list[str]:
        """The kinds of target on one of the data sets of a run."""
        if dataset == self.dataset:
            return list(dict.fromkeys(self.models))
        entries = [entry.partition("@") for entry in self.also_models]
        return list(dict.fromkeys(kind for kind, _, only in entries if only in ("", dataset)))

    def fitted(self, asked: Collection[str]) -> Self:
        """Leave out of the profile's models those that take images, where there are none.

        What the profile says of further data sets holds of those that the run has; the others'
        kind is a logistic regression.
        """
        outline = self.outlines()[self.dataset]
        settings = super(Settings, self._of_the_run(asked)).fitted(asked)
        if outline.is_image:
            return settings
        models = [name for name in self.models if name != "cnn"]
        return settings.cut(asked, {"models": models}, f"{outline.name} holds no images")

    def _of_the_run(self, asked: Collection[str]) -> Self:
        if "also_models" in asked:
            return self
        kinds = [entry for entry in self.also_models if self._is_there(entry)]
        lacking = [name for name in self.also_datasets if not self.kinds(name)]
        kinds += [f"logistic@{name}" for name in lacking]
        return self.model_copy(update={"also_models": kinds or self.also_models})

    def _is_there(self, entry: str) -> bool:
        _, at, only = entry.partition("@")
        return not at or only in self.also_datasets

    def check_data(self) -> None:
        """See that every data set can carry the chapter, and that every kind has its own."""
        for parameter in ("also_models", "also_sizes"):
            for entry in getattr(self, parameter):
                if not self._is_there(entry) and entry not in LATER_SIZES:
                    datasets = ", ".join(self.also_datasets) or "none"
                    raise InputError(
                        f"{parameter} {entry!r}: after @ goes one of also_datasets: {datasets}"
                    )
        for name in self.without_qmia:
            if name not in (*self.datasets, *LATER):
                raise InputError(
                    f"without_qmia {name!r}: give some of the run's data sets: "
                    f"{', '.join(self.datasets)}"
                )
        super().check_data()

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that the data set is large enough and of the right kind."""
        super().check_outline(name, outline)
        if not self.kinds(name):
            raise InputError(f"also_models has no kind for {name}; add one, as 'logistic@{name}'")
        if "cnn" in self.kinds(name) and not outline.is_image:
            raise InputError(
                f"models: 'cnn' takes images, and {outline.name} holds none; leave it out"
            )

    def check_scale(self, outline: data.Outline) -> None:
        """The book's own tables are encoded before anything is trained on them."""
        if outline.dataset is None or not outline.dataset.verified:
            super().check_scale(outline)
