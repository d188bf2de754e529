"""The parameters of the chapter on Sablayrolles et al. (2019): a row a size, and its data."""

from collections.abc import Collection
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from membership import addresses, data
from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies.data_settings import DataSettings, require_sides
from membership.data.loading import is_purchase_like
from membership.errors import InputError, brief

# At "tiny" and "quick", public data sets other than the embedded digits bring more records.
LARGER_DATA: dict[str, dict[str, Any]] = {
    "tiny": {"n_records": [60, 120]},
    "quick": {"n_records": [400, 1000, 2000], "n_repeats": 20, "cnn_records": 1500},
}
# A logistic regression a size and repeat, each from scratch.
LEAST_SIZE, LARGEST_SIZE = 20, 1_000_000
# Beside the 3n/2 records of a size n of Table 1: what its penalty is chosen on.
RECORDS_FOR_PENALTY = 20
LEAST_BOTH = 3 * LEAST_SIZE // 2 + RECORDS_FOR_PENALTY
LEAST_SIDE = 4
CLASSES: dict[str, list[int]] = {"digits": [3, 8], "cifar10": [9, 8]}
FeatureNetwork = Literal["", "raw", "small-cnn", "resnet18", "resnet18-pooled", "resnet18-cifar"]
FEATURES: dict[str, str] = {"tiny": "small-cnn", "quick": "small-cnn", "paper": "resnet18-cifar"}


class Settings(DataSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "bayes_optimal"
    shared: ClassVar = {"dataset": ("digits", "digits", "cifar10")}
    further_data: ClassVar[tuple[str, ...]] = ("cifar100", "cifar100_20k")
    least_data: ClassVar[Takes] = Takes(
        LEAST_BOTH, "of the two largest classes", LEAST_SIDE, scaled=False
    )

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
    n_records: list[int] = size(
        "sizes n of Table 1, each at least 20: n/2 members, n/2 non-members, n/2 in reserve",
        ([60, 120], [60, 100, 160, 220], [400, 1000, 2000, 4000, 6000]),
    )
    n_repeats: int = size(
        "random splits a size of Table 1, and ten Gaussian games each",
        (4, 20, 100),
        least=(2, "an interval"),
        le=10_000,
    )
    feature_network: FeatureNetwork = Field(
        "",
        description="features of Table 1: raw, small-cnn, resnet18, resnet18-pooled (4 times the "
        "work) or resnet18-cifar (16 times), all but raw trained on CIFAR-100; '': raw, except for "
        "CIFAR-10",
    )
    feature_epochs: int = size("epochs of the feature network", (1, 8, 30), le=10_000)
    cnn_records: int = size(
        "members of each network of Table 2, half its records",
        (100, 300, 15_000),
        least=(20, "the chapter"),
        le=1_000_000,
    )
    cnn_epochs: int = size("epochs of each network of Table 2", (3, 15, 50), le=10_000)
    n_reference: int = size(
        "reference models of Table 2",
        (6, 8, 30),
        least=(4, "a record that some models saw and others did not"),
        le=10_000,
    )

    @model_validator(mode="after")
    def _sizes_are_even(self) -> Self:
        if len(set(self.n_records)) < len(self.n_records):
            raise ValueError(f"n_records: {brief(self.n_records)}; give each size once")
        for n in self.n_records:
            if not LEAST_SIZE <= n <= LARGEST_SIZE or n % 2:
                raise ValueError(
                    f"n_records: {brief(n)}; every size must be even and at least 20, and at most "
                    f"{LARGEST_SIZE:,}"
                )
        return self

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
        sizes = dict(self.profiles[self.profile])
        dataset = self.dataset or sizes["dataset"]
        # Of a reader's own file the size is not known: it is asked for as little as the digits are.
        if dataset != "digits" and not addresses.read(dataset).is_own:
            sizes |= LARGER_DATA.get(self.profile, {})
        sizes["classes"] = CLASSES.get(dataset, [])
        sizes["feature_network"] = FEATURES[self.profile] if dataset == "cifar10" else "raw"
        parameters = self.parameters()
        return self._checked(
            {**parameters, **{k: v for k, v in sizes.items() if not parameters[k]}}
        )

    def pair(self) -> tuple[data.Dataset, data.Dataset]:
        """The whole data set, and the records of its two classes, labelled 0 and 1."""
        dataset = data.load(self.dataset, root=self.data_root or None)
        return dataset, data.keep_classes(dataset, self.classes or _largest_two(dataset))

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the profile's sizes to the data; what stays too large is refused later."""
        (outline,) = self.outlines().values()
        settings = self.noting(*data.cautions(outline))
        n_both = len(self.pair()[1]) if len(self.classes) != 1 else 0
        most = {}
        if (largest := _largest_size(n_both)) >= LEAST_SIZE:
            most["n_records"] = sorted({min(n, largest) for n in self.n_records})
        if (most_members := outline.n_records // 2) >= self.least["cnn_records"][0]:
            most["cnn_records"] = min(self.cnn_records, most_members)
        why = f"{outline.name} holds {outline.n_records:,} records, {n_both:,} of the two classes"
        return settings.cut(asked, most, why)

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that the data set has the records that every exhibit needs."""
        if outline.n_records < (least := 2 * LEAST_SIZE):
            raise InputError(
                f"dataset {outline.name!r} holds {outline.n_records} records; give at least {least}"
            )
        if 2 * self.cnn_records > outline.n_records:
            raise InputError(
                f"cnn_records = {self.cnn_records}: twice as many records are drawn, and dataset "
                f"{outline.name!r} holds {outline.n_records:,}; give at most "
                f"{outline.n_records // 2:,}: `-p cnn_records {outline.n_records // 2}`"
            )
        require_sides(outline, LEAST_SIDE)
        if is_purchase_like(name):
            # Counted before they are simulated, which takes a while, and again by class.
            require_both(outline.n_records, self.n_records)
        self._check_features(outline)
        require_both(len(self.pair()[1]), self.n_records)

    def _check_features(self, outline: data.Outline) -> None:
        """See that the network of Table 1's features takes these records."""
        if self.feature_network == "raw":
            return
        root = self.data_root or None
        source = data.outline(feature_source(root), root)
        same = outline.shape == source.shape
        if self.feature_network != "small-cnn":
            same = outline.is_image and outline.shape[0] == source.shape[0]
        if not same:
            raise InputError(
                f"feature_network = {self.feature_network!r}: it is trained on records of shape "
                f"{source.shape}, and {outline.name} has {outline.shape}; give raw"
            )


def require_both(n_available: int, sizes: list[int]) -> None:
    """Refuse sizes n that need more records of the two classes than there are: 3n/2 and 20 more."""
    needed = 3 * max(sizes) // 2 + RECORDS_FOR_PENALTY
    if needed <= n_available:
        return
    largest = _largest_size(n_available)
    remedy = f"give at most {largest}: `-p n_records {largest}`"
    if largest < LEAST_SIZE:
        remedy = f"too few for any size: give a data set with at least {LEAST_BOTH} of them"
    raise InputError(
        f"n_records: {max(sizes)} needs {needed} records of the two classes but there are "
        f"{n_available}; {remedy}"
    )


def feature_source(root: str | None) -> str:
    """The prepared 20,000 records where only they lie here; else all, downloaded if need be."""
    status = {name: data.check(name, root=root).status for name in ("cifar100", "cifar100_20k")}
    only_some = status["cifar100"] == "missing" and status["cifar100_20k"] == "ok"
    return "cifar100_20k" if only_some else "cifar100"


def _largest_size(n_available: int) -> int:
    """The largest even size of Table 1 for so many records of the two classes."""
    return max(n_available - RECORDS_FOR_PENALTY, 0) * 2 // 3 // 2 * 2


def _largest_two(dataset: data.Dataset) -> list[int]:
    counts = np.bincount(dataset.y, minlength=dataset.n_classes)
    return [int(label) for label in np.argsort(-counts, kind="stable")[:2]]
