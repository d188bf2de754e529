"""The parameters of the chapter on Sablayrolles et al. (2019), and their sizes by profile."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from membership import addresses
from membership.addresses import Takes
from membership.settings import ChapterSettings, brief

PROFILES: dict[str, dict[str, Any]] = {
    "tiny": {
        "dataset": "digits",
        "n_records": [60, 120],
        "n_repeats": 4,
        "cnn_records": 100,
        "cnn_epochs": 3,
        "n_reference": 6,
        "feature_epochs": 1,
    },
    "quick": {
        "dataset": "digits",
        "n_records": [60, 100, 160, 220],
        "n_repeats": 40,
        "cnn_records": 800,
        "cnn_epochs": 30,
        "n_reference": 12,
        "feature_epochs": 8,
    },
    "paper": {
        "dataset": "cifar10",
        "n_records": [400, 1000, 2000, 4000, 6000],
        "n_repeats": 100,
        "cnn_records": 15_000,
        "cnn_epochs": 50,
        "n_reference": 30,
        "feature_epochs": 30,
    },
}

# At "tiny" and "quick", public data sets other than the embedded digits bring more records.
LARGER_DATA: dict[str, dict[str, Any]] = {
    "tiny": {"n_records": [60, 120]},
    "quick": {"n_records": [400, 1000, 2000], "n_repeats": 20, "cnn_records": 1500},
}

# A logistic regression a size and repeat, each from scratch.
LARGEST_SIZE = 1_000_000
CLASSES: dict[str, list[int]] = {"digits": [3, 8], "cifar10": [9, 8]}
FEATURES: dict[str, str] = {"tiny": "small-cnn", "quick": "small-cnn", "paper": "resnet18-cifar"}


class Settings(ChapterSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "bayes_optimal"
    profiles: ClassVar[dict[str, dict[str, Any]]] = PROFILES
    least: ClassVar[dict[str, tuple[int, str]]] = {
        "n_repeats": (2, "an interval"),
        "n_reference": (4, "a record that some models saw and others did not"),
        "cnn_records": (20, "the chapter"),
    }
    further_data: ClassVar[tuple[str, ...]] = ("cifar100", "cifar100_20k")

    # The paper's Gaussian game is small enough to be played at full size under every profile.
    gaussian_n: ClassVar[int] = 100
    gaussian_d: ClassVar[int] = 2000
    gaussian_references: ClassVar[int] = 20

    classes: list[int] = Field(
        [],
        max_length=2,
        description="the two labels of Table 1; []: truck and ship for CIFAR-10, 3 and 8 for "
        "digits, else the two largest classes",
    )
    n_records: list[int] = Field(
        [],
        description="sizes n of Table 1, each at least 20: n/2 members, n/2 non-members, n/2 in "
        "reserve; []: the profile's",
    )
    n_repeats: int = Field(
        0,
        ge=0,
        le=10_000,
        description="random splits a size of Table 1, and ten Gaussian games each; "
        "0: the profile's",
    )
    feature_network: str = Field(
        "",
        pattern="^(raw|small-cnn|resnet18|resnet18-pooled|resnet18-cifar|)$",
        description="features of Table 1: raw, small-cnn, resnet18, resnet18-pooled (4 times the "
        "work) or resnet18-cifar (16 times), all but raw trained on CIFAR-100; '': raw, except for "
        "CIFAR-10",
    )
    feature_epochs: int = Field(
        0, ge=0, le=10_000, description="epochs of the feature network; 0: the profile's"
    )
    cnn_records: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="members of each network of Table 2, half its records; 0: the profile's",
    )
    cnn_epochs: int = Field(
        0, ge=0, le=10_000, description="epochs of each network of Table 2; 0: the profile's"
    )
    n_reference: int = Field(
        0, ge=0, le=10_000, description="reference models of Table 2, at least 4; 0: the profile's"
    )

    @model_validator(mode="after")
    def _sizes_are_even(self) -> Self:
        if len(set(self.n_records)) < len(self.n_records):
            raise ValueError(f"n_records: {brief(self.n_records)}; give each size once")
        for n in self.n_records:
            if not 20 <= n <= LARGEST_SIZE or n % 2:
                raise ValueError(
                    f"n_records: {brief(n)}; every size must be even and at least 20, and at most "
                    f"{LARGEST_SIZE:,}"
                )
        return self

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        from membership.studies.bayes_optimal import requirements

        return requirements.takes()

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the sizes that the profile chose to the data."""
        from membership.studies.bayes_optimal import requirements

        return requirements.fitted(self, asked)

    def check_data(self) -> None:
        """See that the data can carry the chapter."""
        from membership.studies.bayes_optimal import requirements

        requirements.check_data(self)

    @property
    def gaussian_repeats(self) -> int:
        """Gaussian games behind each Monte-Carlo number."""
        return 10 * self.n_repeats

    @property
    def posterior_draws(self) -> int:
        """Draws of the other records in the one-dimensional game."""
        return 5000 * self.n_repeats

    def resolve(self) -> Self:
        """Fill in the profile's sizes, larger where the data outnumber the embedded digits."""
        sizes = dict(PROFILES[self.profile])
        dataset = self.dataset or sizes["dataset"]
        # Of a reader's own file the size is not known: it is asked for as little as the digits are.
        if dataset != "digits" and not addresses.read(dataset).is_own:
            sizes |= LARGER_DATA.get(self.profile, {})
        sizes["classes"] = CLASSES.get(dataset, [])
        sizes["feature_network"] = FEATURES[self.profile] if dataset == "cifar10" else "raw"
        given = self.parameters()
        return self._checked({**given, **{k: v for k, v in sizes.items() if not given[k]}})
