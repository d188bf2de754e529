"""The parameters of the chapter on Leemann et al. (2023): a row a size, and what data they take."""

import itertools
import math
from collections.abc import Collection
from typing import ClassVar, Self

from membership import data
from membership.addresses import Takes
from membership.errors import InputError
from membership.settings import size
from membership.studies import experiment
from membership.studies.data_settings import DataSettings
from membership.studies.gmip.recipes import LEAST_BACKGROUND, RECIPES, fitted_recipe

LEAST_SIMULATED = 20_000
"""The 20 largest of the simulator's classes hold some 24% of its records."""
PRETRAINED_ON = "cifar100_20k"
# Above, the covariances of a run's steps take longer than the rest of the chapter.
LARGEST_RANK = 1000


class Settings(DataSettings):
    """Parameters of the chapter; the notebook's parameters cell mirrors them."""

    chapter: ClassVar[str] = "gmip"
    shared: ClassVar = {"dataset": ("digits", "digits", "adult")}
    further_data: ClassVar[tuple[str, ...]] = (PRETRAINED_ON,)

    # The steps of SGD that the paper's Figure 2c composes.
    audit_steps: ClassVar[int] = 5

    also_datasets: list[str] = size(
        "further data sets beside dataset, by name or path",
        ([], [], ["cifar10", "purchase_like:150000"]),
    )
    monte_carlo: int = size(
        "draws that check Theorem 5.1",
        (20_000, 400_000, 400_000),
        least=(1000, "a rate of 1%"),
        le=10_000_000,
    )
    simulated_repeats: int = size(
        "repeats of each simulated audit", (2, 3, 5), least=(2, "an interval"), le=1000
    )
    simulated_records: int = size(
        "non-members of each repeat of Figures 2a and 4",
        (1000, 2000, 10_000),
        least=(1000, "a rate of 0.1%"),
        le=1_000_000,
    )
    audit_models: int = size(
        "models audited on real gradients", (2, 3, 5), least=(2, "an interval"), le=1000
    )
    n_background: int = size(
        "records that moments are estimated on, at most those left",
        (10_000, 10_000, 10_000),
        le=10_000_000,
    )
    utility_seeds: int = size(
        "trainings a privacy level", (2, 3, 5), least=(2, "an interval"), le=100
    )
    n_reference: int = size("shadow models of Figure 6", (8, 16, 64), least=(4, "LiRA"), le=1000)
    pretrain_epochs: int = size("epochs of the pre-trained networks", (1, 1, 30), le=1000)

    @classmethod
    def takes(cls) -> Takes:
        """The least of two classes whose covariance can be estimated: more classes take more."""
        return Takes(
            next(n for n in itertools.count(2) if _is_enough(n)), "of two classes", 1, False
        )

    def fitted(self, asked: Collection[str]) -> Self:
        """Raise the profile's background to what gradients on these data need."""
        outlines = self.outlines().values()
        least = max(_rank_and_background(outline)[1] for outline in outlines)
        cautions = [data.cautions(outline, scaled=True) for outline in outlines]
        settings = self.noting(*(line for lines in cautions for line in lines))
        most = {"n_background": max(self.n_background, least)}
        return settings.cut(asked, most, "a covariance is estimated on them")

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """See that the data set has the records that its audit needs."""
        if outline.name == "purchase_like" and outline.n_records < LEAST_SIMULATED:
            raise InputError(
                f"dataset={name!r}: this chapter keeps 20 of its 100 classes; give at least "
                f"{LEAST_SIMULATED:,} records"
            )
        if outline.name == "cifar10":
            data.outline(PRETRAINED_ON, self.data_root or None)
        rank, least = _rank_and_background(outline)
        if self.n_background < least:
            raise InputError(
                f"n_background = {self.n_background}: gradients on {name!r} have a covariance of "
                f"rank {rank}; give at least {least:,}: `-p n_background {least}`"
            )

    @property
    def rival_targets(self) -> int:
        """Models that gradient and loss attacks are both set on."""
        return max(self.audit_models, 10) if self.profile == "paper" else self.audit_models

    @property
    def panel_repeats(self) -> int:
        """Repeats of Figures 2a and 4, whose claims are judged at 207 and 483 rates at once."""
        return self.simulated_repeats * (4 if self.profile == "paper" else 1)

    @property
    def n_levels(self) -> int:
        """Privacy levels of Figure 3: the paper's 20, fewer only in tests."""
        return 4 if self.profile == "tiny" else 20

    @property
    def words(self) -> dict[str, str]:
        """The word for each data set of a run that names its files."""
        return experiment.words(self.datasets)

    @property
    def small_words(self) -> dict[str, str]:
        """Those of the data sets whose covariance is small enough to be taken at many steps."""
        return {
            name: word
            for name, word in self.words.items()
            if (known := RECIPES.get(name.split(":")[0])) is None or known.rank <= LARGEST_RANK
        }

    @property
    def first_word(self) -> dict[str, str]:
        """That of the run's own data set: what takes long is asked of it alone."""
        return {self.dataset: self.words[self.dataset]}

    @property
    def first_small_word(self) -> dict[str, str]:
        """The same where its covariance is small enough, else none."""
        small = self.small_words
        return {name: word for name, word in self.first_word.items() if name in small}


def _is_enough(n_records: int) -> bool:
    try:
        fitted_recipe("", n_records, 2)
    except InputError:
        return False
    return True


def _rank_and_background(outline: data.Outline) -> tuple[int, int]:
    """The rank of the gradients' covariance, and the records that it takes to estimate it."""
    recipe = fitted_recipe(outline.name, outline.n_records, outline.n_classes)
    return recipe.rank, math.ceil(LEAST_BACKGROUND * recipe.rank)
