"""Which data sets a run has, how their networks are trained, and what its evidence is called.

Nothing here needs torch: whatever lists exhibits reads it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from membership import addresses
from membership.addresses import PARITY
from membership.data.loading import is_purchase_like, purchase_records
from membership.errors import InputError

if TYPE_CHECKING:
    from membership.book.studies.iha.settings import Settings

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
    "digits": Recipe("Digits", "", (16,), 0.01, 32, 160),
}
DEEP = (512, 256, 128, 64)


def is_purchase(name: str) -> bool:
    """Whether records are of Purchase-100, or simulated in its place."""
    return name.split(":", maxsplit=1)[0] in ("purchase_like", "purchase100")


def recipe_of(name: str, known_as: str, large: bool = False) -> Recipe:
    """The recipe of a data set by the name it was asked for; one of our own for other data."""
    base = name.split(":", maxsplit=1)[0]
    hidden = () if addresses.read(name).parity else (16,)
    recipe = RECIPES.get(base, Recipe(known_as, "", hidden, 0.01, 128, 120))
    if not large:
        return recipe
    label = recipe.label.removesuffix("(S)")
    return replace(recipe, label=label, published="Purchase-100", pool=160_000)


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


# Table 7: the paper's pools are 160,000 records and 50,000; twice as many shows the direction.
LARGER = 2


MAIN, SWEPT = ("outputs", "white-box"), ("outputs", "sweep")
KNOWN = (*MAIN, "known")
WHOLE, NOISE, DROPPED = ("whole",), ("noise",), ("dropped",)
LEFT_OUT = ("outputs-left-out", "white-box-left-out")
# Appendix D.1's dampings of the deep network, by the rows of its table.
DEEP_DAMPINGS = {"IHA (CG) eps=2e-1": 0.2, "IHA (CG) eps=5e-1": 0.5}
# The clean game at scale is played with logistic regression, on digits where no larger set is.
GAME, EMBEDDED, AT_SCALE = ("pairs-game",), "digits-odd", ("mnist", "fashion_mnist")
IMAGES = "fashion_mnist"
SCHEDULES = ("cosine", "constant")
SPREAD, DAMPED, MATRICES = ("spread",), ("damped",), ("matrices",)
WHOLE_GAME = tuple(f"pairs-{schedule}" for schedule in SCHEDULES)
# Beside the quadratic forms: lengths, and where a model lies along the direction in which z would
# move the minimum, that direction found with one half of the models on D' or the other.
NORMS = ("norm of gradient", "norm of regularised", "norm of decay")
PROJECTED = ("projection, references 0", "projection, references 1")
# How far apart the two laws of a signal are in theory, in standard deviations.
EXPECTED = ("expected distance of parameters", "expected distance of outputs")
LENGTHS = ("|grad L|", "|grad L + alpha w|", "|alpha w|")
FITTED = "fitted noise"
RATIO = "time for 1000 samples, ratio to IHA"
RANKS, BELOW = "rank correlation with the loss", "below 0 (%)"
# The paper's Purchase-100, half of the records members, and its network there. Table 6 attacks one
# model.
PURCHASE, FULL_PARAMETERS, TIMED_MODELS = "purchase_like:160000", 22_532, 2
# Table 7's further trainings have fewer models.
FEWER = 16


@dataclass(frozen=True)
class Subject:
    """One data set with one network.

    Attributes
    ----------
    name : str
        As `data.load` takes it.
    deep : bool
        A network with more layers.
    large : bool
        The recipe for Purchase-100 instead of its small version.
    full : bool
        The paper's own network, too large to decompose its Hessian: no sweep, no conjugate
        gradients beside it, and one target of each pair.
    residual : bool
        A small residual network with batch norm.
    n_models, most_parameters : int
        0: the settings'.
    """

    name: str
    deep: bool = False
    large: bool = False
    full: bool = False
    residual: bool = False
    n_models: int = 0
    most_parameters: int = 0

    @property
    def slug(self) -> str:
        """The end of its files' names."""
        base = re.sub(r"[^A-Za-z0-9]+", "-", self.name.rsplit("/", maxsplit=1)[-1]).strip("-")
        # Of simulated records there are more under another name.
        if self.residual:
            return f"{base.lower()}-resnet"
        more = "-deep" if self.deep else "-large" if self.large and ":" not in self.name else ""
        return base.lower() + more


Select = Callable[["Settings"], list[Subject]]


def subjects(settings: "Settings") -> list[Subject]:
    """Every data set of a run; Purchase, last in the paper profile, at the paper's size.

    An `InputError` where two of them would be written to the same files.
    """
    listed = [Subject(name) for name in settings.datasets]
    for subject in listed:
        same = [other.name for other in listed if other.slug == subject.slug]
        if len(same) > 1:
            raise InputError(f"datasets {' and '.join(same)}: rename one, they are called alike")
    if _is_full(settings):
        listed[-1] = Subject(listed[-1].name, full=True, most_parameters=FULL_PARAMETERS)
    return listed


def decomposed(settings: "Settings") -> list[Subject]:
    """The data sets whose networks' Hessians are decomposed, for any damping and rank."""
    return [subject for subject in subjects(settings) if not subject.full]


def whole(settings: "Settings") -> list[Subject]:
    """The data sets whose targets are asked about every record: those with a single logit."""
    return [subject for subject in decomposed(settings) if subject.name.endswith(PARITY)]


def compared(settings: "Settings") -> list[Subject]:
    """The data sets of the main comparison: where it is at hand, all of Purchase-100 too."""
    return [*subjects(settings), *_larger(settings)]


def _is_full(settings: "Settings") -> bool:
    return is_purchase(settings.datasets[-1]) and settings.profile == "paper"


def _larger(settings: "Settings") -> list[Subject]:
    """Purchase-100 itself at its full size; simulated, so many records would decide nothing."""
    name = settings.datasets[-1]
    if not _is_full(settings) or is_purchase_like(name):
        return []
    return [Subject(name, large=True, full=True, most_parameters=FULL_PARAMETERS)]


def variants(settings: "Settings") -> list[Subject]:
    """The last data set of a run with more records and with a deeper network (Table 7).

    More records there are of Purchase and of what simulates it, short of the paper's own size; a
    deeper network not for parities.
    """
    name, listed = settings.datasets[-1], _larger(settings)
    count = min(settings.n_models, FEWER)
    if is_purchase_like(name) and not _is_full(settings):
        larger = f"purchase_like:{LARGER * purchase_records(name)}"
        listed.append(Subject(larger, large=True, n_models=count))
    if not addresses.read(name).parity:
        listed.append(Subject(name, deep=True, n_models=count))
    return listed


def timed(settings: "Settings") -> list[Subject]:
    """What attacks are timed on: one, and at the paper's size simulated records do as well."""
    if not _is_full(settings):
        return subjects(settings)[-1:]
    return [Subject(PURCHASE, large=True, n_models=TIMED_MODELS, most_parameters=FULL_PARAMETERS)]


def first(settings: "Settings") -> list[Subject]:
    """The main data set alone."""
    return subjects(settings)[:1]


def deep(settings: "Settings") -> list[Subject]:
    """The variants with a deeper network."""
    return [subject for subject in variants(settings) if subject.deep]


def residual(settings: "Settings") -> list[Subject]:
    """The images that the small residual network is trained on: digits where no larger set is."""
    large = IMAGES in settings.datasets and settings.profile == "paper"
    return [Subject(IMAGES if large else "digits", residual=True)]


def left_out(settings: "Settings") -> list[Subject]:
    """The data sets of the leave-one-out experiments: the main one, and digits, which overfit."""
    return [Subject(name) for name in dict.fromkeys([settings.dataset, "digits"])]


def games(settings: "Settings") -> list[Subject]:
    """The data sets of the clean game at scale: parities of the run's larger sets of images."""
    bases = [name.removesuffix(PARITY) for name in settings.datasets]
    large = [Subject(f"{name}{PARITY}") for name in AT_SCALE if name in bases]
    return large if large and settings.profile == "paper" else [Subject(EMBEDDED)]


def whole_games(settings: "Settings") -> list[Subject]:
    """The data set of the clean game at the paper's size: the first of the larger ones."""
    return games(settings)[:1]


def files(kinds: Sequence[str], selection: list[Subject]) -> tuple[str, ...]:
    """Names of the evidence of these kinds of every subject, subject by subject."""
    return tuple(f"{kind}-{subject.slug}" for subject in selection for kind in kinds)
