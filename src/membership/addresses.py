"""What a data set is asked for by: a name or a path, and what is done to it on loading."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple, Self

from membership.errors import InputError

PARITY, STANDARDISED = "-odd", "-standardised"
TABLES = (".csv", ".parquet")
FORMATS = (".npz", *TABLES)
_TABLE = re.compile("(?P<place>.+?[.](?:csv|parquet))(?::(?P<label>.+))?", re.IGNORECASE)


class Address(NamedTuple):
    """The parts of ``place[:label][-standardised][-odd]``.

    Attributes
    ----------
    place : str
        A registry's name, or the path of a reader's own file or folder.
    label : str
        The column of a CSV or Parquet file that holds the classes; empty elsewhere.
    standardise : bool
        Whether features are brought to mean 0 and standard deviation 1.
    parity : bool
        Whether the label is replaced by whether it is odd.
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
        return self.place + label + STANDARDISED * self.standardise + PARITY * self.parity

    def asked(self, label: str = "", standardise: bool = False) -> Self:
        """This address with a label column, where it takes one and names none, and standardised.

        Raises
        ------
        InputError
            The label column's name could not be told from what stands behind it.
        """
        label = self.label or (label if self.is_table_file else "")
        found = self._replace(label=label, standardise=self.standardise or standardise)
        if read(str(found)) != found:
            raise InputError(
                f"label = {label!r}: a name that ends in {STANDARDISED} or {PARITY} cannot be "
                "given; rename the column"
            )
        return found


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
    rest = os.fspath(text)
    parity, rest = rest.endswith(PARITY), rest.removesuffix(PARITY)
    standardise, rest = rest.endswith(STANDARDISED), rest.removesuffix(STANDARDISED)
    table = _TABLE.fullmatch(rest)
    place, label = (table["place"], table["label"] or "") if table else (rest, "")
    return Address(place, label, standardise, parity)


def asked(
    named: Mapping[str, str | list[str]], label: str, standardise: bool
) -> dict[str, str | list[str]]:
    """Addresses by parameter, a reader's own ones with label column and standardised.

    Raises
    ------
    InputError
        There is no address of the reader's own that this could be meant for.
    """
    every = [one for value in named.values() for one in _listed(value)]
    own = [address for address in map(read, every) if address.is_own]
    if label and not any(address.is_table_file for address in own):
        raise InputError(
            f"label = {label!r} names a column of your own .csv or .parquet, and no parameter "
            "names such a file; give `-p dataset FILE` too"
        )
    if standardise and not own:
        raise InputError(
            "standardise = True is for your own data, and no parameter names any; give "
            "`-p dataset FILE` too"
        )

    def one(text: str) -> str:
        address = read(text)
        return str(address.asked(label, standardise)) if address.is_own else text

    return {
        name: one(value) if isinstance(value, str) else [one(text) for text in value]
        for name, value in named.items()
    }


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
