"""Which data set is asked for, and what is done to it; what is published names no folder."""

import html
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from membership import paths
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


def without_folders(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, the reader's own data by their names alone."""
    return {**parameters, **changed(parameters, lambda a: a._replace(place=Path(a.place).name))}


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


def own_data(parameters: Mapping[str, Any]) -> list[str]:
    """The names, without their folders, of the reader's own data among a run's parameters."""
    own: list[str] = []
    changed(parameters, lambda a: own.append(Path(a.place).name) or a)
    return sorted(set(own))


def hidden(whole: Any, parameters: Mapping[str, Any]) -> Any:
    """Plain JSON values with this machine's folders cut from every string.

    What the run's parameters place absolutely is shown by its name alone.
    """
    return _walk(whole, [*_own(parameters), *_machine()])


def _walk(whole: Any, rules: list[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(whole, dict):
        return {_walk(key, rules): _walk(value, rules) for key, value in whole.items()}
    if isinstance(whole, list):
        return [_walk(item, rules) for item in whole]
    if not isinstance(whole, str) or os.sep not in whole:
        return whole
    for pattern, shown in rules:
        whole = pattern.sub(lambda _, shown=shown: shown, whole)
    return whole


def _own(parameters: Mapping[str, Any]) -> list[tuple[re.Pattern[str], str]]:
    named = [value for v in parameters.values() for value in (v if isinstance(v, list) else [v])]
    # Of 'model@place', too.
    texts = [
        part
        for value in named
        if isinstance(value, str)
        for part in (value, value.partition("@")[2])
    ]
    places = {read(text).place for text in texts}
    return _rules((p, Path(p).name) for p in places if os.path.isabs(p) and Path(p).name)


def _machine() -> list[tuple[re.Pattern[str], str]]:
    """The project, the environment and the home folder, wherever they are mentioned."""
    root = str(paths.project_root())
    places = [(sys.prefix, Path(sys.prefix).name), (f"{root}/", ""), (root, ".")]
    places.append((str(Path.home()), "~"))
    return _rules((place, shown) for place, shown in places if len(Path(place).parts) > 1)


def _rules(places: Any) -> list[tuple[re.Pattern[str], str]]:
    """The longest first; as text, as Python and JSON write it within quotes, and as HTML."""
    rules = []
    for place, shown in sorted(places, key=lambda pair: -len(pair[0])):
        forms = {place, json.dumps(place)[1:-1], repr(place)[1:-1], html.escape(place)}
        forms.add(place.encode("unicode_escape").decode())
        # Not within what goes on, such as a picture's bytes in base64.
        ends = "" if place.endswith(os.sep) else r"(?![\w-])"
        rules += [(re.compile(rf"(?<![\w+]){re.escape(form)}{ends}"), shown) for form in forms]
    return rules
