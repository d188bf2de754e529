"""The parameters of the chapter on Leemann et al. (2023): a row a size, and what data they take.

Then what Tables 3 and 4 say of each data set, cut to the records there are; and of a reader's own.
"""

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Self

from membership import data
from membership.addresses import Takes
from membership.book.settings import size
from membership.book.studies import experiment
from membership.book.studies.data_settings import DataSettings
from membership.errors import InputError

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

    def _or_more(self, at_paper: int, otherwise: int) -> int:
        """A count that the paper's profile raises, since a claim of ours takes so many."""
        return max(at_paper, otherwise) if self.profile == "paper" else otherwise

    @property
    def rival_targets(self) -> int:
        """Models that gradient and loss attacks are both set on."""
        return self._or_more(10, self.audit_models)

    @property
    def plain_seeds(self) -> int:
        """Trainings by plain SGD, without noise and with either."""
        return self._or_more(12, self.utility_seeds)

    @property
    def released_models(self) -> int:
        """Models audited by the released code's inverse after all steps."""
        return self._or_more(140, self.audit_models)

    @property
    def spectral_batches(self) -> int:
        """Batches with and without each record that are drawn under one noise."""
        return self._or_more(30_000, 150)

    @property
    def start_sets(self) -> int:
        """Sets of targets with either start, each with its own records and shadow models."""
        return self._or_more(100, 2)

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


# Records for each dimension of the gradients' covariance that its estimate needs at least.
LEAST_BACKGROUND = 1.5
RATIO = 1.3


@dataclass(frozen=True)
class Recipe:
    """What Tables 3 and 4 say of a data set, and the features beneath its softmax layer."""

    label: str
    width: int
    classes: int
    audit_batch: int
    n_records: int
    n_test: int
    batch_size: int
    epochs: int
    clip: float
    learning_rate: float

    @property
    def dimension(self) -> int:
        """Number of parameters d of the softmax layer."""
        return self.classes * (self.width + 1)

    @property
    def rank(self) -> int:
        """Dimensions that the gradients of a softmax layer fill at most."""
        return (self.classes - 1) * (self.width + 1)

    @property
    def steps(self) -> int:
        """Steps T of the utility study."""
        return self.n_records // self.batch_size * self.epochs


RECIPES = {
    "adult": Recipe("Adult", 512, 2, 790, 43_000, 5_000, 1000, 20, 800.0, 2e-3),
    "cifar10": Recipe("CIFAR-10", 64, 10, 500, 48_000, 10_000, 400, 10, 500.0, 1e-3),
    "purchase_like": Recipe("Purchase", 128, 20, 1970, 54_855, 10_000, 795, 3, 2000.0, 2e-3),
}

# Display names; simulated records stand in for Purchase and are not called that.
NAMES = {"adult": "Adult", "cifar10": "CIFAR-10", "purchase_like": "Purchase-like"}


def fitted_recipe(name: str, n: int, classes: int) -> Recipe:
    """The sizes that a data set of n records would be used with; errors as for `task`."""
    recipe = RECIPES.get(name) or own_recipe(n, classes)
    if name == "purchase_like":  # its largest classes only, which need not be counted for this
        return recipe
    n_test = min(recipe.n_test, n // 5)
    return fitted_to(recipe, n - n_test, recipe.label == "")[0]


def fitted_to(recipe: Recipe, n_train: int, unpublished: bool) -> tuple[Recipe, list[str]]:
    """Sizes cut down to the records there are; what was cut, for the data sets of the paper."""
    rank = (recipe.classes - 1) * (recipe.width + 1)
    room = n_train - math.ceil(LEAST_BACKGROUND * rank)
    if room < 2:
        raise InputError(
            f"dataset has {n_train} records to train on, too few to estimate a covariance of rank "
            f"{rank} ({recipe.classes} classes, {recipe.width} features); give at least "
            f"{math.ceil(1.25 * (LEAST_BACKGROUND * rank + 2))} records of these classes"
        )
    sizes = {
        "audit_batch": min(recipe.audit_batch, room),
        "n_records": min(recipe.n_records, n_train),
        "batch_size": min(recipe.batch_size, n_train),
    }
    texts = [
        f"{name.replace('_', ' ')} {value} (the paper: {getattr(recipe, name)})"
        for name, value in sizes.items()
        if value != getattr(recipe, name) and not unpublished
    ]
    return Recipe(**{**vars(recipe), **sizes}), texts


def own_recipe(n: int, classes: int) -> Recipe:
    """Sizes for other data: d = 1.3 n as in Table 3, 20 epochs as for Adult.

    C is twice the typical norm of the features: as in Table 4, few gradients or none are clipped.
    """
    width = min(64, int(0.125 * n / (classes - 1)) - 1)
    if width < 1:
        raise InputError(
            f"dataset has {n} records of {classes} classes; give at least {16 * (classes - 1)}"
        )
    batch = round(classes * (width + 1) / RATIO)
    size, clip = max(n // 16, 2), 2 * math.sqrt(width + 1)
    return Recipe("", width, classes, max(batch, 2), n, n // 6, size, 20, clip, 2e-3)
