"""What Tables 3 and 4 say of each data set, cut to the records there are; and of a reader's own."""

import math
from dataclasses import dataclass

from membership.errors import InputError

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
