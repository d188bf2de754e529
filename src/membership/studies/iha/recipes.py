"""How the networks of each data set are shaped and trained; nothing here needs torch."""

from dataclasses import dataclass, replace
from itertools import pairwise

from membership import addresses
from membership.errors import InputError

# A network too narrow for all hundred classes of Purchase learns these.
FEW_CLASSES = 10
LEAST_RECORDS = 40


@dataclass(frozen=True)
class Recipe:
    """How the networks of one data set are trained.

    Attributes
    ----------
    label : str
        What tables call the data set.
    published : str
        What the paper calls it, "" where it is none of the paper's.
    hidden : tuple of int
        Widths of the hidden layers; none is logistic regression.
    learning_rate, batch_size, epochs
        Of the recipe. All have momentum 0.9, weight decay 5e-4 and a cosine schedule.
    pool : int
        Records of the paper's pool, half of them members of each model; 0 where it has none.
    """

    label: str
    published: str
    hidden: tuple[int, ...]
    learning_rate: float
    batch_size: int
    epochs: int
    pool: int = 0


RECIPES = {
    "mnist-odd": Recipe("MNIST-Odd", "MNIST-Odd", (), 0.01, 128, 80, 60_000),
    "fashion_mnist": Recipe("FashionMNIST", "FashionMNIST", (6,), 0.01, 256, 120, 60_000),
    "fashion_mnist-odd": Recipe("FashionMNIST-Odd", "", (), 0.01, 128, 80),
    "purchase_like": Recipe("Purchase-like(S)", "Purchase-100(S)", (32,), 0.02, 256, 120, 50_000),
    "purchase100": Recipe("Purchase-100(S)", "Purchase-100(S)", (32,), 0.02, 256, 120, 50_000),
    "digits-odd": Recipe("Digits-Odd", "", (), 0.01, 32, 200),
    "digits": Recipe("Digits", "", (16,), 0.01, 32, 400),
}
DEEP = (512, 256, 128, 64)


def is_purchase(name: str) -> bool:
    """Whether records are of Purchase-100, or simulated in its place."""
    return name.split(":", maxsplit=1)[0] in ("purchase_like", "purchase100")


def recipe_of(name: str, known_as: str, large: bool = False) -> Recipe:
    """The recipe of a data set by the name it was asked for; one of our own for other data."""
    base = name.split(":", maxsplit=1)[0]
    hidden = () if addresses.read(name).parity else (16,)
    found = RECIPES.get(base, Recipe(known_as, "", hidden, 0.01, 128, 120))
    if not large:
        return found
    label = found.label.removesuffix("(S)")
    return replace(found, label=label, published="Purchase-100", pool=160_000)


def fitting(
    n_features: int, hidden: tuple[int, ...], n_outputs: int, most_parameters: int
) -> tuple[int, ...]:
    """Widths of the hidden layers, cut to one limit until the network is small enough."""
    for limit in range(max(hidden, default=1), 0, -1):
        widths = tuple(min(limit, width) for width in hidden)
        if size_of(n_features, widths, n_outputs) <= most_parameters:
            return widths
    least = size_of(n_features, tuple(1 for _ in hidden), n_outputs)
    raise InputError(
        f"most_parameters = {most_parameters}: the smallest network for records of {n_features} "
        f"numbers and {n_outputs} outputs has {least:,}; give at least as many: "
        f"`-p most_parameters {least}`"
    )


def size_of(n_features: int, hidden: tuple[int, ...], n_outputs: int) -> int:
    """Parameters of a network of linear layers."""
    return sum((a + 1) * b for a, b in pairwise((n_features, *hidden, n_outputs)))
