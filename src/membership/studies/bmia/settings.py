"""The parameters of the chapter on Liu et al. (2025), and their sizes by profile."""

import re
from collections.abc import Collection
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from membership.addresses import Takes
from membership.settings import ChapterSettings, brief

PROFILES: dict[str, dict[str, Any]] = {
    # Networks this small train no faster on several cores, and far slower beside other work.
    "tiny": {
        "dataset": "digits",
        "n_jobs": 1,
        "n_targets": 3,
        "n_reference": 8,
        "n_samples": 100,
        "ood_dataset": "shifted",
        "architectures": ["mlp-32", "logistic"],
    },
    "quick": {
        "dataset": "purchase_like:10000",
        "also_datasets": ["digits"],
        "n_targets": 5,
        "n_reference": 8,
        "n_samples": 200,
        "ood_dataset": "shifted",
        "architectures": ["mlp-128-64", "mlp-32", "mlp-16", "logistic"],
    },
    "paper": {
        "dataset": "purchase_like:25000",
        "also_datasets": ["fashion_mnist", "cifar10-patches", "location30"],
        "n_targets": 5,
        "n_reference": 8,
        "n_samples": 200,
        "ood_dataset": "mnist",
        "architectures": ["mlp-1024-512-256-128", "mlp-256-128", "mlp-32", "logistic"],
    },
}


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


def is_for_images(architecture: str) -> bool:
    """Whether a network takes pictures only."""
    return architecture == "small-cnn" or architecture in NETWORKS


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "bmia"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "n_targets": (2, "an interval"),
        "n_reference": (4, "the reliability of a standard deviation"),
        "n_samples": (2, "a standard deviation"),
    }

    also_datasets: list[str] = Field(
        [], description="further data sets beside dataset, by name or path; []: the profile's"
    )
    n_targets: int = Field(
        0, ge=0, le=100, description="target models attacked, 2 or more; 0: the profile's"
    )
    n_reference: int = Field(
        0, ge=0, le=256, description="reference models, 4 or more; 0: the profile's"
    )
    architecture: str = Field(
        "", description="of all models but Figure 4's, such as mlp-256-128; '': by data set"
    )
    epochs: int = Field(
        0, ge=0, le=10_000, description="passes over the members; 0: by data set and profile"
    )
    n_samples: int = Field(
        0, ge=0, le=10_000, description="Monte-Carlo draws a query, 2 or more; 0: the profile's"
    )
    ood_dataset: str = Field(
        "", description="where Table 2's non-members come from, or 'shifted'; '': the profile's"
    )
    architectures: list[str] = Field(
        [], description="the architectures that Figure 4 pairs, 2 or more; []: the profile's"
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

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.bmia import needs

        return needs.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the sizes that the profile chose to the data."""
        from membership.studies.bmia import needs

        return needs.fitted(self, asked)

    def check_data(self) -> None:
        """See that every data set of the run can carry the chapter."""
        from membership.studies.bmia import needs

        needs.check(self)
