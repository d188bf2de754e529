"""Which columns of a table are attacks: by their names, and what their numbers say against it."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError, brief
from membership.tables import Table

REQUIRED, OPTIONAL = ("score", "member"), ("group", "record", "unit", "target")
INDEX = ("Unnamed:", "__index_level_")
"""How pandas names a column that holds its index."""
NO_ATTACK = re.compile(
    r"(.+_)?(id|ids|idx|uid|uuid|guid|rowid|userid)"
    r"|(row|record|sample|example|data|original|orig|df|patient|person)_?(index|number|num|nr|no)"
    r"|index|level_\d+|rows?|row_?names?|rn|nr|no|number|position|#"
    r"|((true|pred|predicted|target|class)_)?(label|labels|class|classes)|predicted"
    r"|y|y_(true|test|train|pred)|truth|ground_truth|target_?s|category|categories"
    r"|(is|in)_?(member|train|training|training_set)|membership|split|fold"
)
"""Names, in small letters, of what lies beside scores in tables that people have."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")


def attack_columns(table: Table, attacks: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The columns of an audit by their plain names, and those that are scores.

    Raises
    ------
    InputError
        A column is missing or there twice, or nothing says that it is an attack.
    """
    columns: dict[str, str] = {}
    for name in table.columns:
        plain_name = name.lower()
        if plain_name in columns:
            raise InputError(
                f"{table.path}: columns {columns[plain_name]!r} and {name!r} are both {plain_name}"
            )
        columns[plain_name] = name
    scores = _scores(table, columns, attacks)
    has_column = {"score": bool(scores), "member": "member" in columns}
    if missing := [name for name in REQUIRED if not has_column[name]]:
        raise InputError(
            f"{table.path} lacks {', '.join(missing)}; its columns are "
            f"{brief(', '.join(table.columns), most=200)}; those of an audit are "
            f"{', '.join(REQUIRED)} and, if wanted, {', '.join(OPTIONAL)}"
        )
    return columns, scores


def _scores(table: Table, columns: dict[str, str], attacks: Sequence[str]) -> list[str]:
    """The columns of scores, in the table's order."""
    reserved = (*OPTIONAL, "member")
    if not attacks:
        if "score" in columns:
            return [columns["score"]]
        if "member" not in columns:
            return []
        own = [
            name
            for plain_name, name in columns.items()
            if plain_name not in reserved and name and not name.startswith(INDEX)
        ]
        _require_attacks(table, own)
        return own
    for name in attacks:
        if name.lower() not in columns or name.lower() in reserved:
            raise InputError(
                f"{table.path}: attack {brief(name)} is no column of scores; its columns are "
                f"{brief(', '.join(table.columns), most=200)}"
            )
    attack_names = {name.lower() for name in attacks}
    return [name for plain_name, name in columns.items() if plain_name in attack_names]


def _require_attacks(table: Table, names: Sequence[str]) -> None:
    """Raise an InputError where a column is no attack by its name."""
    for name in names:
        if is_no_attack(name):
            raise InputError(
                f"{table.path}: column {brief(name)} is no attack by its name; leave it out, or "
                "name the columns that are scores, each by `--attack COLUMN`, in Python by "
                "attacks=[...]"
            )


def is_no_attack(name: str) -> bool:
    """Whether columns of this name are row numbers, identifiers, labels or memberships."""
    return bool(NO_ATTACK.fullmatch(_HUMP.sub("_", name).lower()))


def notes_of_columns(scores: Mapping[str, FloatArray], member: BoolArray) -> list[str]:
    """Which columns number or order the rows of their file, or tell who is a member, as no attack.

    An attack may be right about everybody, but hardly by one score for all members.
    """
    notes = {name: _of_rows(score) or _of_truth(score, member) for name, score in scores.items()}
    return [f"{name} {what}" for name, what in notes.items() if what]


def _of_truth(score: FloatArray, member: BoolArray) -> str:
    inside, outside = np.unique(score[member]), np.unique(score[~member])
    if len(inside) != 1 or len(outside) != 1 or inside == outside:
        return ""
    return (
        "is one number for every member and another for all others, as a column that says who is "
        "a member is. If it is no attack, leave it out."
    )


def _of_rows(score: FloatArray) -> str:
    rising = np.sort(score)
    if (rising == np.floor(rising)).all() and (np.diff(rising) == 1).all():
        return (
            f"holds each whole number from {rising[0]:.0f} to {rising[-1]:.0f} once, as a column "
            "that numbers the records does. If it is no attack, leave it out."
        )
    steps = np.diff(score)
    if (steps >= 0).all() or (steps <= 0).all():
        way = "falls" if (steps <= 0).all() else "rises"
        return (
            f"never {'rises' if way == 'falls' else 'falls'} from one row to the next. Either the "
            "file was sorted by it, or it is a number of the row and no attack."
        )
    return ""
