"""What a design asks of a data set before any work; simulated records are not drawn for it."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from membership import addresses, paths
from membership.addresses import PARITY
from membership.arrays import deviation
from membership.data import public
from membership.data.dataset import Dataset, record_hashes
from membership.data.loading import is_purchase_like, load, purchase_records
from membership.data.own import require_there
from membership.data.public import PURCHASE_LIKE, places
from membership.data.simulate import N_CLASSES, N_FEATURES
from membership.errors import InputError

# Records as they come are trained on: far from 1 in size, no step size of the chapters suits them.
LARGEST_SIZE = 30.0
# Between the features of a table, above which a reader is told.
WIDELY = 100.0


@dataclass(frozen=True, eq=False)
class Outline:
    """The measures of a data set.

    Attributes
    ----------
    name : str
        As `Dataset.name`.
    n_records, n_train : int
        How many records there are, and in the official training split (all, where there is none).
    shape : tuple of int
        Of one record: channels, height, width; or the number of features.
    n_classes : int
    dataset : Dataset or None
        The records, None where they would have to be simulated.
    """

    name: str
    n_records: int
    n_train: int
    shape: tuple[int, ...]
    n_classes: int
    dataset: Dataset | None

    @property
    def is_image(self) -> bool:
        """Whether a record is a picture rather than a row of a table."""
        return len(self.shape) == 3


def outline(
    name_or_path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None
) -> Outline:
    """Measure a data set, and check it as `load` does.

    Parameters
    ----------
    name_or_path, root
        As for `membership.data.load`.

    Raises
    ------
    InputError
        As `membership.data.load`.
    """
    address = addresses.read(name_or_path)
    if not (address.is_own or address.standardise) and is_purchase_like(address.place):
        n, parity = purchase_records(address.place), address.parity
        name = PURCHASE_LIKE + PARITY * parity
        return Outline(name, n, n, (N_FEATURES,), 2 if parity else N_CLASSES, None)
    dataset = load(name_or_path, root)
    split, n = dataset.official_train, len(dataset)
    n_train = n if split is None else int(np.sum(split))
    return Outline(dataset.name, n, n_train, dataset.x.shape[1:], dataset.n_classes, dataset)


@dataclass(frozen=True)
class Layout:
    """What one record of a data set is.

    Attributes
    ----------
    shape : tuple of int
        Channels, height, width; or the number of features.
    n_classes : int
    n_encoded : int
        Numbers of a record once words are one-hot.
    """

    shape: tuple[int, ...]
    n_classes: int
    n_encoded: int

    @property
    def is_image(self) -> bool:
        """Whether a record is a picture rather than a row of a table."""
        return len(self.shape) == 3


def layout(
    name_or_path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None
) -> Layout:
    """What one record is: the registry's word for its own sets, whose records may lie elsewhere.

    Parameters
    ----------
    name_or_path, root
        As for `membership.data.load`.

    Raises
    ------
    InputError
        The name is unknown, or a file of the reader's own is not there or not a data set.
    """
    address = addresses.read(name_or_path)
    if address.is_own:
        dataset = load(name_or_path, root)
        shape, n_classes = dataset.x.shape[1:], dataset.n_classes
        words = dataset.categories
        encoded = sum(len(words[name]) if name in words else 1 for name in dataset.columns)
    elif is_purchase_like(address.place):
        shape, n_classes, encoded = (N_FEATURES,), N_CLASSES, 0
    else:
        entry = public.entry(address.place)
        shape, n_classes, encoded = entry.shape, entry.n_classes, entry.encoded
    return Layout(shape, 2 if address.parity else n_classes, encoded or math.prod(shape))


def require_known(
    names: Sequence[str | os.PathLike[str]], root: str | os.PathLike[str] | None = None
) -> None:
    """Refuse names that no data set has and paths without a file, before any is loaded.

    Parameters
    ----------
    names : sequence of str or path
        As `membership.data.load` takes them.
    root : str or path, optional
        A folder to look in first.

    Raises
    ------
    InputError
        A name is unknown, a file is missing, or `root` is no folder.
    """
    places(root)
    for address in map(addresses.read, names):
        if address.is_own:
            require_there(paths.own_path(address.place))
        elif is_purchase_like(address.place):
            purchase_records(address.place)
        else:
            public.entry(address.place)


def cautions(data: Outline, scaled: bool = False) -> list[str]:
    """What to know of a reader's own data before they are trained on, a line each.

    Parameters
    ----------
    data : Outline
    scaled : bool
        Whether features are brought into scale before they are trained on.

    Returns
    -------
    list of str
        Of records that are copies of others, and of a table whose features differ widely in scale;
        empty for public data sets.
    """
    is_public = data.name.removesuffix(PARITY) in public.names()
    if data.dataset is None or is_public:
        return []
    lines = []
    copies = len(data.dataset) - len(np.unique(record_hashes(data.dataset.x, data.dataset.y)))
    if copies:
        lines.append(
            f"warning: {copies:,} of the {data.n_records:,} records of {data.name} are copies of "
            "others, which may be members and non-members at once; leave them out "
            "(`membership.data.deduplicate`)"
        )
    spread = deviation(data.dataset.x, dtype=np.float64)
    varied = spread[spread > 0]
    if not (scaled or data.is_image) and len(varied) > 1 and varied.max() > WIDELY * varied.min():
        ends = (int(np.flatnonzero(spread == end)[0]) for end in (varied.max(), varied.min()))
        widest, narrowest = (_feature(data.dataset, place) for place in ends)
        lines.append(
            f"warning: features of {data.name} differ {varied.max() / varied.min():,.3g}-fold in "
            f"standard deviation ({widest} most, {narrowest} least), and networks are trained on "
            "them as they are; "
            "`-p standardise true` brings all of them to mean 0 and standard deviation 1"
        )
    return lines


def _feature(dataset: Dataset, place: int) -> str:
    """A feature by its column's name, which a reader finds in the file, else by its place."""
    return repr(dataset.columns[place]) if dataset.columns else f"feature {place}"


def require_scaled(data: Outline) -> None:
    """Refuse records whose numbers are too large to be trained on as they are.

    Raises
    ------
    InputError
        A feature's root mean square over the records exceeds 30.
    """
    if data.dataset is None:
        return
    flat = data.dataset.x.reshape(data.n_records, -1)
    size = np.sqrt(np.mean(np.square(flat, dtype=np.float64), axis=0))
    if size.max() > LARGEST_SIZE:
        raise InputError(
            f"dataset {data.name!r}: {_feature(data.dataset, int(size.argmax()))} has a root mean "
            f"square of {size.max():,.4g}, and models are trained on records as they are; give "
            "`-p standardise true`, which brings every feature to mean 0 and standard deviation 1 "
            f"(at most {LARGEST_SIZE:g} is taken)"
        )
