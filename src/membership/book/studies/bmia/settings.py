"""The parameters of the chapter on Liu et al. (2025): a row a size, and what data they take."""

import re
from typing import ClassVar, Self

from pydantic import Field, model_validator

from membership import data
from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies import patches
from membership.book.studies.data_settings import DescribedSettings
from membership.errors import InputError, brief

# The paper's seven (Figure 4); they take images, as "small-cnn" does.
NETWORKS = (
    "resnet18",
    "resnet34",
    "resnet50",
    "wide-resnet50",
    "densenet121",
    "mobilenet-v2",
    "efficientnet-b0",
)
# Up to ten hidden layers of up to 65,535 units.
MLP = re.compile("mlp(-[1-9][0-9]{0,4}){1,10}")
LEAST_RECORDS = 100
# The deepest networks halve a picture five times.
LEAST_SIDE = 8
SHIFTED, DIGITS = "shifted", "digits"
SAMPLES = (10, 30, 100, 300, 1000)
"""The numbers of draws that Figure 3 and Control 2 compare."""


def is_for_images(architecture: str) -> bool:
    """Whether a network takes pictures only."""
    return architecture == "small-cnn" or architecture in NETWORKS


class Settings(DescribedSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "bmia"
    shared: ClassVar = {
        "dataset": ("digits", "purchase_like:2000", "purchase_like:25000"),
        # Networks this small train no faster on several cores, and far slower beside other work.
        "n_jobs": (1, 0, 0),
    }
    least_data: ClassVar[Takes] = Takes(LEAST_RECORDS, "of all classes", LEAST_SIDE, scaled=True)

    also_datasets: list[str] = size(
        "further data sets beside dataset, by name or path",
        ([], ["digits"], ["fashion_mnist", "cifar10-patches", "location30"]),
    )
    n_targets: int = size("target models attacked", (3, 5, 5), least=(2, "an interval"), le=100)
    n_reference: int = size(
        "reference models", (8, 8, 8), least=(4, "the reliability of a standard deviation"), le=256
    )
    architecture: str = Field(
        "", description="of all models but Figure 4's, such as mlp-256-128; '': by data set"
    )
    epochs: int = Field(
        0, ge=0, le=10_000, description="passes over the members; 0: by data set and profile"
    )
    n_samples: int = size(
        "Monte-Carlo draws a query", (100, 100, 200), least=(2, "a standard deviation"), le=10_000
    )
    ood_dataset: str = size(
        "where Table 2's non-members come from, or 'shifted'", (SHIFTED, SHIFTED, "mnist")
    )
    architectures: list[str] = size(
        "the architectures that Figure 4 pairs, 2 or more",
        (
            ["mlp-32", "logistic"],
            ["mlp-128-64", "mlp-32", "mlp-16", "logistic"],
            ["mlp-1024-512-256-128", "mlp-256-128", "mlp-32", "logistic"],
        ),
    )

    @model_validator(mode="after")
    def _architectures_are_known(self) -> Self:
        for name in (self.architecture, *self.architectures):
            if name and not (name == "logistic" or is_for_images(name) or MLP.fullmatch(name)):
                raise ValueError(
                    f"architecture {brief(name)}: give logistic, mlp with its widths (such as "
                    f"mlp-256-128), small-cnn, {', '.join(NETWORKS)}"
                )
        if len(self.architectures) == 1:
            raise ValueError("architectures names one; give at least 2 to pair")
        return self

    def check_data(self) -> None:
        """See that every data set fits its networks, and Table 2's strangers its members."""
        root = self.data_root or None
        if self.ood_dataset != SHIFTED:
            patches.require_known([*self.datasets, self.ood_dataset], root)
        super().check_data()
        first = self.outlines()[self.dataset]
        for architecture in self.architectures:
            _check_network("architectures", architecture, first)
        if self.ood_dataset != SHIFTED:
            members = first if first.is_image else data.outline(DIGITS)
            _check_strangers(data.outline(self.ood_dataset, root), members)

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that the data set has records enough, in scale, and fits its network."""
        super().check_outline(name, outline)
        usual = "small-cnn" if outline.is_image and outline.name != DIGITS else ""
        _check_network("architecture", self.architecture or usual, outline)


def sizes_up_to(n_samples: int) -> list[int]:
    """The numbers of draws that are tried."""
    return [n for n in SAMPLES if n < n_samples] + [n_samples]


def _check_network(parameter: str, architecture: str, outline: data.Outline) -> None:
    if not is_for_images(architecture):
        return
    if not outline.is_image:
        raise InputError(
            f"{parameter} = {architecture!r} takes images, and {outline.name} holds none; take an "
            "mlp, such as mlp-256-128"
        )
    if min(outline.shape[1:]) < LEAST_SIDE:
        raise InputError(
            f"{parameter} = {architecture!r} takes pictures of at least {LEAST_SIDE} pixels a "
            f"side, and {outline.name} has {outline.shape[1]} x {outline.shape[2]}; take an mlp"
        )


def _check_strangers(other: data.Outline, members: data.Outline) -> None:
    channels, height, width = members.shape
    fits = other.is_image and other.shape[0] == channels
    if not fits or other.shape[1] < height or other.shape[2] < width:
        raise InputError(
            f"ood_dataset {other.name!r} has records of shape {other.shape}; members have "
            f"{members.shape}, and images can only be averaged down"
        )
    if other.n_classes > members.n_classes:
        raise InputError(
            f"ood_dataset {other.name!r} has {other.n_classes} classes, and the models of "
            f"{members.name!r} know {members.n_classes}; give a data set of no more classes"
        )
    data.require_scaled(other)
