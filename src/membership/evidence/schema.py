"""The seven kinds of evidence, and a data set as its kind has it: checked, as precise as stored.

A variable that a kind does not name is refused, so that a name means the same in every file; to
observe something new, name it in ``kinds.csv``. `process` and `measured` hold what single chapters
look at and take any name.
"""

import csv
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np
import xarray as xr

from membership.arrays import whole
from membership.errors import InputError

ATTRIBUTES = ("set", "data", "recipe")
"""What every file says: display name of the data set, digests of its records, training recipe."""

TYPES = {
    "set": "words",
    "data": "an object",
    "recipe": "an object",
    "deviations": "a list of words",
    "warnings": "a list of words",
    "classes": "a list of words",
    "targets": "a list of whole numbers",
    "references": "a list of whole numbers",
    "copies": "a list of whole numbers",
    "complements": "a list of whole numbers or null",
    "inverses": "a list of objects",
    "batch_size": "a number",
    "rank": "a number",
    "task": "words",
    "drawn": "an object",
    "sequence": "an object",
    "queries": "an object",
}
"""What attributes that are read must be; of kinds that take any variable, the first four."""


@dataclass(frozen=True)
class Variable:
    """One array of a kind.

    Attributes
    ----------
    dims : tuple of str
        Its dimensions, in order.
    dtype : str
        As stored: float32, float64, int32, uint8 or bool.
    holds : str
        What a number in it means.
    required : bool
        Whether a file of the kind is of no use without it.
    """

    dims: tuple[str, ...]
    dtype: str
    holds: str
    required: bool = False


@dataclass(frozen=True)
class Kind:
    """One kind of evidence.

    Attributes
    ----------
    name : str
        As ``attrs["kind"]`` of the data set says.
    holds : str
        One line.
    variables : dict of str to Variable
        By name.
    attributes : tuple of str
        Attributes that it needs beside `ATTRIBUTES`.
    others : tuple of str
        Stored dtypes of variables that it does not name; empty where it takes no others.
    """

    name: str
    holds: str
    variables: dict[str, Variable] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


# Of a file each: what it holds, and the attributes that it needs.
_NAMED = {
    "outputs": ("what trained models answer for records", ("targets",)),
    "white_box": ("what gradients and curvature of trained models say of records", ("inverses",)),
    "posterior": ("moments of what Bayesian references predict for records", ()),
    "pairs": ("models trained with and without a record, asked at it or near it", ()),
    "steps": ("what single training steps say of records", ("batch_size", "rank")),
}


def _variables() -> dict[str, dict[str, Variable]]:
    """The variables of each kind that names its own, as ``kinds.csv`` lists them."""
    by_kind: dict[str, dict[str, Variable]] = {}
    with (files("membership.evidence") / "kinds.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            dims, is_required = tuple(row["dims"].split()), row["required"] == "yes"
            variable = Variable(dims, row["dtype"], row["holds"], is_required)
            by_kind.setdefault(row["kind"], {})[row["variable"]] = variable
    return by_kind


def _kinds() -> dict[str, Kind]:
    variables = _variables()
    kinds = [
        *(Kind(name, holds, variables[name], needs) for name, (holds, needs) in _NAMED.items()),
        Kind(
            "process",
            "Gaussian processes: variances, divergences, searches and their pictures",
            others=("float32", "float64", "int32", "uint8", "bool", "str"),
        ),
        Kind(
            "measured",
            "outcomes that no arrays give again: seconds, accuracies, optimisers' results",
            others=("float32", "float64", "int32", "bool", "str"),
        ),
    ]
    return {kind.name: kind for kind in kinds}


KINDS: dict[str, Kind] = _kinds()
"""The kinds by name."""


NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# The lower ones of a float32 are noise that does not compress. See `stored`.
MANTISSA_BITS, _FLOAT32_BITS = 16, 23
LARGE = 1 << 20


def dataset(
    kind: str,
    variables: Mapping[str, Any],
    coordinates: Mapping[str, Any] | None = None,
    **attributes: Any,
) -> xr.Dataset:
    """Make evidence of a kind from arrays.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    variables : mapping of str to array_like, or to (dims, array_like)
        A variable that the kind names needs no dimensions: the kind has them.
    coordinates : mapping of str to array_like, optional
        Labels of a dimension: numbers (rows in the data set) or words.
    **attributes
        JSON values; `set`, `data` and `recipe` are needed, some kinds need more.

    Returns
    -------
    xarray.Dataset
        In the precision in which it is stored.

    Raises
    ------
    InputError
        The kind, a variable or an attribute is unknown, missing or of another type or shape.
    """
    _known(kind)
    named = KINDS[kind].variables
    with_dims = {}
    for name, values in variables.items():
        if not isinstance(values, tuple):
            if name not in named:
                raise InputError(
                    f"{name}: not among the variables of kind {kind!r} ({', '.join(named)}); "
                    "give (dimensions, values)"
                )
            values = (named[name].dims, values)
        with_dims[name] = values
    try:
        dataset = xr.Dataset(with_dims, coordinates, {"kind": kind, **attributes})
    except ValueError as error:
        raise InputError(f"evidence of kind {kind!r}: {_line(error)}") from None
    return stored(dataset)


def stored(dataset: xr.Dataset) -> xr.Dataset:
    """The evidence as a file would give it back.

    Floats are rounded to float32 unless the kind has float64, and to 16 bits of mantissa where
    the float32 take more than 1 MB: the changes are below 8e-6 of each number.

    Raises
    ------
    InputError
        As `dataset`; or a model that was asked of a record has no finite log-odds of it.
    """
    kind = _kind(dataset)
    missing = [
        name
        for name, variable in kind.variables.items()
        if variable.required and name not in dataset
    ]
    if missing:
        raise InputError(f"evidence of kind {kind.name!r} lacks {', '.join(missing)}")
    for dim in dataset.dims:
        _check_name("dimension", dim)
    variables = {
        name: (array.dims, _cast(name, array, kind))
        for name, array in sorted(dataset.data_vars.items())
    }
    if kind.name == "outputs":
        _require_answers(variables)
    single = sum(v.nbytes for _, v in variables.values() if v.dtype == np.float32)
    if single > LARGE:
        variables = {name: (dims, _rounded(values)) for name, (dims, values) in variables.items()}
    return xr.Dataset(variables, _coordinates(dataset), _attributes(dataset, kind))


def _require_answers(variables: Mapping[str, tuple[tuple[str, ...], np.ndarray]]) -> None:
    """Raise an InputError unless models answer finite numbers for all that they were asked.

    Of signals beside the log-odds some models may have none.
    """
    asked = variables["asked"][1] if "asked" in variables else None
    for name, (dims, values) in variables.items():
        if (dims[0], dims[-1]) != ("model", "record") or values.dtype.kind != "f":
            continue
        lacking = ~np.isfinite(values)
        if asked is not None:
            lacking &= asked if len(dims) == 2 else asked[:, None]
        if name != "log_odds":
            lacking &= ~np.isnan(values).all(axis=tuple(range(1, values.ndim)), keepdims=True)
        if lacking.any():
            model, *_, record = np.argwhere(lacking)[0]
            raise InputError(
                f"{name} holds {lacking.sum()} numbers that are not finite, the first of model "
                f"{model} and record {record}; gather those anew, or say in `asked` that the model "
                "was not asked"
            )


def rounded(values: Any, bits: int = MANTISSA_BITS) -> np.ndarray:
    """Numbers as a file over 1 MB keeps them, or shorter, where no more digits are needed.

    Parameters
    ----------
    values : array_like of float
    bits : int
        Of mantissa, 1 to 22.

    Returns
    -------
    numpy.ndarray of float32
        The changes are at most ``2**-(bits + 1)`` of each number: 8e-6 with 16 bits.

    Raises
    ------
    InputError
        Bits out of range.
    """
    whole("bits", bits)
    if bits >= _FLOAT32_BITS:
        raise InputError(f"bits = {bits}: it must be at most {_FLOAT32_BITS - 1}")
    return _rounded(np.asarray(values, np.float32), bits)


def _known(kind: Any) -> None:
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"kind = {kind!r}: evidence is one of {', '.join(KINDS)}")


def _kind(dataset: xr.Dataset) -> Kind:
    if not isinstance(dataset, xr.Dataset):
        raise InputError(f"evidence is an xarray.Dataset; {type(dataset).__name__} was given")
    _known(dataset.attrs.get("kind"))
    return KINDS[dataset.attrs["kind"]]


def _check_name(role: str, name: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(f"{role} {name!r}: a name is at most 64 letters, digits and _")


def _cast(name: str, array: xr.DataArray, kind: Kind) -> np.ndarray:
    _check_name("variable", name)
    wanted = kind.variables.get(name)
    if wanted is None:
        if not kind.others:
            raise InputError(
                f"{name}: not among the variables of kind {kind.name!r} "
                f"({', '.join(kind.variables)})"
            )
        return _as(name, array.values, _own_dtype(name, array.values, kind))
    if array.dims != wanted.dims:
        raise InputError(f"{name} lies over {array.dims}; kind {kind.name!r} has {wanted.dims}")
    return _as(name, array.values, wanted.dtype)


def _own_dtype(name: str, values: np.ndarray, kind: Kind) -> str:
    """The stored type of a variable that its kind does not name: its own, as narrow as needed."""
    if values.dtype.kind in "UOT":
        return "str"
    dtype = {"i": "int32", "u": "int32"}.get(values.dtype.kind, values.dtype.name)
    dtype = "uint8" if values.dtype == np.uint8 else dtype
    if dtype not in kind.others:
        raise InputError(f"{name} is of {values.dtype}; kind {kind.name!r} takes {kind.others}")
    return dtype


def _as(name: str, values: np.ndarray, dtype: str) -> np.ndarray:
    """The values in a stored type, refusing what it cannot hold."""
    if dtype == "str":
        if not all(isinstance(value, str) for value in values.flat):
            raise InputError(f"{name} holds something other than words and numbers")
        return values.astype(str)
    accepted = {"f": "fiu", "i": "iu", "u": "u", "b": "b"}[np.dtype(dtype).kind]
    if values.dtype.kind not in accepted:
        raise InputError(f"{name} is of {values.dtype}; it is stored as {dtype}")
    with np.errstate(over="ignore"):
        cast = np.asarray(values, dtype=dtype, order="C")
    changed = np.isfinite(values) != np.isfinite(cast) if dtype[0] == "f" else values != cast
    if np.any(changed):
        raise InputError(f"{name} holds {np.sum(changed)} numbers too large for {dtype}")
    return cast


def _rounded(values: np.ndarray, bits: int = MANTISSA_BITS) -> np.ndarray:
    """float32 with the last bits of the mantissa zero: to the nearest, ties to even."""
    if values.dtype != np.float32:
        return values
    cut = np.uint32(_FLOAT32_BITS - bits)
    stored = values.view(np.uint32)
    odd = (stored >> cut) & np.uint32(1)
    half = np.uint32((1 << (cut - 1)) - 1)
    moved = (stored + half + odd) >> cut << cut
    # Rounded up, the largest numbers would become infinite and a NaN might change.
    return np.where(np.isfinite(moved.view(np.float32)), moved, stored).view(np.float32)


def _coordinates(dataset: xr.Dataset) -> dict[str, tuple]:
    coordinates = {}
    for name, values in sorted(dataset.coords.items()):
        if values.dims != (name,):
            raise InputError(f"coordinate {name!r}: labels of a dimension have its name")
        words = values.dtype.kind in "UOT"
        dtype = "str" if words else {"f": "float64", "b": "bool"}.get(values.dtype.kind, "int32")
        coordinates[name] = (values.dims, _as(str(name), values.values, dtype))
    return coordinates


def _attributes(dataset: xr.Dataset, kind: Kind) -> dict[str, Any]:
    missing = [name for name in (*ATTRIBUTES, *kind.attributes) if name not in dataset.attrs]
    if missing:
        raise InputError(f"evidence of kind {kind.name!r} lacks attributes: {', '.join(missing)}")
    attributes = {name: plain(name, dataset.attrs[name]) for name in sorted(dataset.attrs)}
    for name, type_name in list(TYPES.items())[: 4 if kind.others else None]:
        if name in attributes and not _IS[type_name](attributes[name]):
            raise InputError(
                f"attribute {name} is {_brief(attributes[name])}; it must be {type_name}"
            )
    return attributes


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _each(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


_IS: dict[str, Callable[[Any], bool]] = {
    "words": lambda value: isinstance(value, str),
    "an object": lambda value: isinstance(value, dict),
    "a number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "a list of words": _each(lambda item: isinstance(item, str)),
    "a list of objects": _each(lambda item: isinstance(item, dict)),
    "a list of whole numbers": _each(_is_whole),
    "a list of whole numbers or null": _each(lambda item: item is None or _is_whole(item)),
}


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def plain(name: str, value: Any) -> Any:
    """A value as JSON has it: tuples become lists, NumPy's numbers Python's.

    Raises
    ------
    InputError
        It is no JSON value, or a number that is not finite.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {
            plain(f"a name in {name}", str(key)): plain(f"{name}[{key!r}]", item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(name, item) for item in value]
    good = value is None or isinstance(value, str | bool | int | float)
    if not good or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"attribute {name}: {value!r} is no JSON value")
    if isinstance(value, str) and not value.isprintable() and _is_lone(value):
        raise InputError(f"attribute {name}: {value!r} is no text")
    return value


def _is_lone(text: str) -> bool:
    """Whether it holds half of a UTF-16 pair, which no file takes."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
