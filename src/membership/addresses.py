"""What a data set is asked for by: a name or a path, and what is done to it on loading."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from membership.errors import InputError

PARITY = "-odd"
STANDARDISED = "standardised:"
FORMATS = (".npz", ".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet")
TABLES = FORMATS[1:]
# Parameters that name data sets, and those whose entries name one behind an @, as 'cnn@digits'.
PARAMETERS = ("dataset", "also_datasets", "ood_dataset")
MARKED = ("also_models",)
_TABLE = re.compile(
    "(?P<place>.+?[.](?:(?:csv|tsv|txt)(?:[.]gz)?|parquet))(?::(?P<label>.+))?", re.IGNORECASE
)


class Address(NamedTuple):
    """The parts of ``[standardised:]place[:label]``, or ``[standardised:]name[-odd]``.

    What is done to the records never stands behind a path, which may end in anything.

    Attributes
    ----------
    place : str
        A registry's name, or the path of a reader's own file or folder.
    label : str
        The column of a table of one's own that holds the classes; empty elsewhere.
    standardise : bool
        Whether features are brought to mean 0 and standard deviation 1.
    parity : bool
        Whether the label of a registry's data set is replaced by whether it is odd.
    """

    place: str
    label: str = ""
    standardise: bool = False
    parity: bool = False

    @property
    def is_own(self) -> bool:
        """Whether a file or folder is meant rather than a name of the registry."""
        return self.place.lower().endswith(FORMATS) or os.sep in self.place

    @property
    def is_table_file(self) -> bool:
        """Whether the file has named columns, one of which holds the classes."""
        return self.place.lower().endswith(TABLES)

    def __str__(self) -> str:
        label = f":{self.label}" if self.label else ""
        return STANDARDISED * self.standardise + self.place + label + PARITY * self.parity

    def asked(self, label: str = "", standardise: bool = False) -> Self:
        """This address with a label column, where it takes one and names none, and standardised."""
        label = self.label or (label if self.is_table_file else "")
        return self._replace(label=label, standardise=self.standardise or standardise)


class Takes(NamedTuple):
    """The least that a chapter's checks ask of a reader's own data.

    Attributes
    ----------
    records : int
        Of two classes; below, no sizes would do.
    counted : str
        Which records these are.
    side : int
        Pixels a side of images.
    scaled : bool
        Whether features far from 1 in size are refused.
    """

    records: int
    counted: str
    side: int
    scaled: bool


def read(text: str | os.PathLike[str]) -> Address:
    """Take an address apart."""
    whole = os.fspath(text)
    standardise, rest = whole.startswith(STANDARDISED), whole.removeprefix(STANDARDISED)
    table = _TABLE.fullmatch(rest)
    place, label = (table["place"], table["label"] or "") if table else (rest, "")
    address = Address(place, label, standardise)
    if address.is_own:
        return address
    return address._replace(place=place.removesuffix(PARITY), parity=place.endswith(PARITY))


def changed(parameters: Mapping[str, Any], change: Callable[[Address], Address]) -> dict[str, Any]:
    """Those parameters that name data sets, with every address of a reader's own changed."""

    def one(text: Any, marked: bool) -> Any:
        if not isinstance(text, str):
            return text
        mark, at, place = text.partition("@") if marked else ("", "", text)
        address = read(place)
        return mark + at + str(change(address)) if address.is_own else text

    return {
        name: [one(text, name in MARKED) for text in value]
        if isinstance(value, list)
        else one(value, name in MARKED)
        for name, value in parameters.items()
        if name in (*PARAMETERS, *MARKED)
    }


def asked(parameters: Mapping[str, Any], label: str, standardise: bool) -> dict[str, Any]:
    """As `changed`: with the label column where a file has named ones, and standardised.

    Raises
    ------
    InputError
        There is no address of the reader's own that this could be meant for.
    """
    own: list[Address] = []
    changed(parameters, lambda address: own.append(address) or address)
    if label and not any(address.is_table_file for address in own):
        raise InputError(
            f"label = {label!r} names a column of a table of your own, and no parameter "
            "names such a file; give `-p dataset FILE` too"
        )
    if standardise and not own:
        raise InputError(
            "standardise = True is for your own data, and no parameter names any; give "
            "`-p dataset FILE` too"
        )
    return changed(parameters, lambda address: address.asked(label, standardise))
