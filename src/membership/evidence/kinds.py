"""The seven kinds of evidence: which arrays a file of each kind holds, over which dimensions.

A variable that a kind does not name is refused, so that a name means the same in every file; to
observe something new, name it in ``kinds.csv``. `process` and `measured` hold what single chapters
look at and take any name.
"""

import csv
from dataclasses import dataclass, field
from importlib.resources import files

ATTRIBUTES = ("set", "data", "recipe")
"""What every file says: display name of the data set, digests of its records, training recipe."""

TYPES = {
    "set": "words",
    "data": "an object",
    "recipe": "an object",
    "deviations": "a list of words",
    "warnings": "a list of words",
    "targets": "a list of whole numbers",
    "references": "a list of whole numbers",
    "complements": "a list of whole numbers or null",
    "inverses": "a list of objects",
    "batch_size": "a number",
    "rank": "a number",
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
