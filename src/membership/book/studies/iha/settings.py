"""The parameters of the chapter on Suri et al. (2024): a row a size, and what data they take."""

import math
from collections.abc import Collection
from typing import ClassVar, Self

from pydantic import model_validator

from membership import addresses, data
from membership.addresses import PARITY, Takes
from membership.book.settings import size
from membership.book.studies.data_settings import DataSettings
from membership.book.studies.iha.subjects import (
    DEEP,
    FEW_CLASSES,
    LARGER,
    LEAST_RECORDS,
    fitting,
    recipe_of,
    size_of,
)
from membership.data.loading import is_purchase_like, purchase_records
from membership.data.simulate import MOST_RECORDS
from membership.errors import InputError

# The leave-one-out experiments play for records of a training set of at most this size.
N_BASE = 200
# Parameters up to which a profile's limit is raised: the paper's profile has 4,800.
MOST_RAISED = 5000


class Settings(DataSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "iha"
    shared: ClassVar = {"dataset": ("digits-odd", "digits-odd", "mnist-odd")}
    least_data: ClassVar = Takes(LEAST_RECORDS, "to train on", 1, scaled=True)

    # The paper's, for every data set; Table 8 and the damping control try others.
    damping: ClassVar[float] = 0.2

    also_datasets: list[str] = size(
        "further data sets beside dataset, by name (-odd: parity, squared error) or path",
        (
            ["digits", "purchase_like:3000"],
            ["digits", "purchase_like:2000"],
            ["fashion_mnist", "purchase_like:50000"],
        ),
    )
    n_models: int = size("models a data set, even", (8, 16, 128), least=(6, "the chapter"), le=1000)
    n_targets: int = size(
        "models attacked, at most n_models",
        (3, 5, 10),
        least=(3, "an interval, where a complement is no other,"),
        le=1000,
    )
    n_queries: int = size(
        "records that every target is asked about",
        (400, 1200, 10_000),
        least=(40, "the chapter"),
        le=10_000_000,
    )
    epochs: int = size("epochs, the recipe's where a profile has none", (20, 0, 0), le=10_000)
    most_parameters: int = size(
        "widest model; hidden layers are cut to fit, since its Hessian is formed",
        (900, 1000, 4800),
        le=100_000,  # 80 GB
    )
    loo_records: int = size(
        "records a leave-one-out experiment plays for",
        (4, 6, 16),
        least=(2, "the chapter"),
        le=10_000,
    )
    loo_models: int = size(
        "models retrained for each of these records",
        (6, 8, 32),
        least=(4, "the chapter"),
        le=1000,
    )

    @property
    def whole_targets(self) -> int:
        """Targets that are asked about every record, which takes no references."""
        at_paper = max(self.n_targets, min(60, self.n_models))
        return at_paper if self.profile == "paper" else self.n_targets

    @model_validator(mode="after")
    def _models_are_pairs(self) -> Self:
        if self.n_models % 2:
            raise ValueError(f"n_models = {self.n_models}: even, a model and its complement each")
        if self.n_models and self.n_targets > self.n_models:
            raise ValueError(f"n_targets = {self.n_targets}: there are {self.n_models} models")
        return self

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut the profile's sizes to the data, as far as that is no other study."""
        settings, outlines = super().fitted(asked), self.outlines()
        half = _base(outlines[self.dataset])
        why = f"{outlines[self.dataset].name} has {half} training records"
        settings = settings.cut(asked, {"loo_records": min(self.loo_records, max(half, 2))}, why)
        last = self.datasets[-1]
        least = max(
            _least_parameters(name, outline, name == last) for name, outline in outlines.items()
        )
        if not self.most_parameters < least <= MOST_RAISED:
            return settings
        why = "the smallest networks that take these records"
        return settings.cut(asked, {"most_parameters": least}, why)

    def check_data(self) -> None:
        """See that every data set has the records that each exhibit needs, and its network fits."""
        super().check_data()
        last, outlines = self.datasets[-1], self.outlines()
        most = MOST_RECORDS // LARGER
        if is_purchase_like(last) and purchase_records(last.removesuffix(PARITY)) > most:
            raise InputError(
                f"dataset={last!r}: give at most {most:,} records; this run simulates {LARGER} "
                "times as many too"
            )
        if not addresses.read(last).parity:
            self._check_network(last, outlines[last], DEEP)
        half = _base(outlines[self.dataset])
        if self.loo_records > half:
            raise InputError(
                f"loo_records = {self.loo_records}: there are {half} training records only; give "
                f"at most `-p loo_records {half}`"
            )

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that a data set can be trained on and asked about."""
        pool = _pool(outline)
        if pool < LEAST_RECORDS:
            raise InputError(
                f"dataset {outline.name!r} has {pool} records to train on; give at least "
                f"{LEAST_RECORDS}"
            )
        data.require_scaled(outline)
        self._check_network(name, outline, recipe_of(name, outline.name).hidden)
        is_chosen = self.n_queries != self.profiles[self.profile]["n_queries"]
        if is_chosen and self.n_queries > pool:
            raise InputError(
                f"n_queries = {self.n_queries}: {outline.name} has {pool:,} records to ask "
                "about; give at most as many (0: the profile's, or all)"
            )

    def _check_network(self, name: str, outline: data.Outline, hidden: tuple[int, ...]) -> None:
        """See that the network can be cut to size; simulated data may lose classes for it."""
        n_outputs = _n_outputs(name, outline)
        fitting(math.prod(outline.shape), hidden, n_outputs, self.most_parameters)


def _n_outputs(name: str, outline: data.Outline) -> int:
    few = outline.dataset is None
    n_classes = min(outline.n_classes, FEW_CLASSES) if few else outline.n_classes
    return 1 if addresses.read(name).parity else n_classes


def _least_parameters(name: str, outline: data.Outline, deep_too: bool) -> int:
    """Parameters of the smallest network, which the data set is tried with, or of the deep one."""
    shapes = [recipe_of(name, outline.name).hidden]
    shapes += [DEEP] * (deep_too and not addresses.read(name).parity)
    n_features, n_outputs = math.prod(outline.shape), _n_outputs(name, outline)
    return max(size_of(n_features, tuple(1 for _ in hidden), n_outputs) for hidden in shapes)


def _base(outline: data.Outline) -> int:
    """Training records of the leave-one-out experiments."""
    return min(N_BASE, _pool(outline) // 2)


def _pool(outline: data.Outline) -> int:
    return outline.n_train // 2 * 2
