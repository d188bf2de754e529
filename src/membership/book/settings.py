"""What a notebook can be told: typed, documented parameters, and the profiles that size them."""

import json
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from membership import addresses, paths
from membership.addresses import Takes
from membership.book import namespaces
from membership.errors import LONGEST_TEXT, InputError, brief, suggest

PROFILES = ("tiny", "quick", "paper")
# Every seed derived from this one stays below 2**64, which is what torch takes.
LARGEST_SEED = 2**32 - 1
MOST_JOBS = 1024
LONGEST_LIST = 100
# Control characters and line breaks, and bytes of a file name that are no UTF-8.
UNSHOWABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_GPU_DRIVER = "/dev/nvidiactl"
# Parameters that change no result; the last two end in the address of the data set.
INCIDENTAL = ("results_dir", "data_root", "n_jobs", "label", "standardise")


class Parameter(NamedTuple):
    """One parameter as a reader sees it: in the help, or in a notebook's parameters cell."""

    name: str
    type: str
    default: Any
    help: str
    profiles: dict[str, Any]


# Where pydantic's own words help nobody.
_SAID = {
    "list_type": "is not a list",
    "bool_type": "is neither true nor false",
    "literal_error": "is none of these",
}


def size(
    help: str, values: tuple[Any, Any, Any], *, least: tuple[int, str] = (0, ""), **limits: Any
) -> Any:
    """A row of a chapter's table of sizes: a parameter whose neutral value means its profile's.

    Parameters
    ----------
    help : str
        What it is; the least and the neutral value are added.
    values : tuple of int, float, str or list
        For tiny, quick and paper; a neutral one where a profile has none.
    least : (int, str)
        The least that may be given, and what needs it, as in "an interval needs at least 2".
    **limits
        As for pydantic's ``Field``: ``le``, ``max_length``.
    """
    neutral = type(values[0])()
    if isinstance(neutral, int | float):
        limits["ge"] = 0
    enough = f", {least[0]:,} or more" if least[0] else ""
    shown = "0" if neutral == 0 else repr(neutral)
    return Field(
        neutral,
        description=f"{help}{enough}; {shown}: the profile's",
        json_schema_extra={"sizes": list(values), "least": list(least)},
        **limits,
    )


class ChapterSettings(BaseModel):
    """The parameters that every notebook shares; a chapter's ``Settings`` adds its own.

    A parameter left at its neutral value (0, 0.0, "" or []) takes the value that its profile
    gives it: by its row (`size`), or for the shared parameters by ``shared``. Types are strict:
    neither 5.0 nor "5" nor True is an int.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    chapter: ClassVar[str] = ""
    # What the profiles (tiny, quick, paper) give the parameters below.
    shared: ClassVar[dict[str, tuple[Any, Any, Any]]] = {}
    # By profile, and the least of a size that is given with what needs it: made from the rows.
    profiles: ClassVar[dict[str, dict[str, Any]]] = {}
    least: ClassVar[dict[str, tuple[int, str]]] = {}
    # Data sets that a run may read beside those that its parameters name.
    further_data: ClassVar[tuple[str, ...]] = ()

    # What would do where training diverged; the learning rates of a chapter are no parameters.
    against_divergence: ClassVar[str] = "bring your own data into scale: `-p standardise true`"

    # What a run had to change of its profile's sizes, and what its data call for, a line each.
    _notes: tuple[str, ...] = PrivateAttr(default=())

    profile: Literal[PROFILES] = Field("quick", description="sizes of the run: tiny, quick, paper")
    dataset: str = Field(
        "",
        description="name of a data set, or path of an .npz, .csv, .parquet or folder of images; "
        "'': the profile's",
    )
    data_root: str = Field("", description="folder to look for data in; '': $MEMBERSHIP_DATA, data")
    seed: int = Field(
        0, ge=0, le=LARGEST_SEED, description="seed of every random choice, 0 or more"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu or cuda")
    n_jobs: int = Field(0, ge=0, le=MOST_JOBS, description="CPU cores to use; 0: all")
    results_dir: str = Field("", description="folder for the exhibits; '': results")
    label: str = Field("", description="column of classes in your own .csv or .parquet")
    standardise: bool = Field(
        False, description="bring every feature of your own data to mean 0 and deviation 1"
    )

    def __hash__(self) -> int:
        """By value: `functools.lru_cache` keeps what is made for a run."""
        return hash(self.model_dump_json())

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Make `profiles` and `least` from the rows, where a class does not write them out."""
        rows: dict[str, Any] = {
            name: extra
            for name, field in cls.model_fields.items()
            if isinstance(extra := field.json_schema_extra, dict) and "sizes" in extra
        }
        sizes = {**cls.shared, **{name: row["sizes"] for name, row in rows.items()}}
        if sizes:
            cls.profiles = {
                profile: {n: values[i] for n, values in sizes.items() if not _neutral(values[i])}
                for i, profile in enumerate(PROFILES)
            }
            cls.least = {n: tuple(row["least"]) for n, row in rows.items() if row["least"][0]}

    @field_validator("*")
    @classmethod
    def _text_is_sane(cls, value: Any) -> Any:
        """Refuse text that no file can be named by, and lists that no run gets through."""
        if isinstance(value, list) and len(value) > LONGEST_LIST:
            raise ValueError(f"has {len(value):,} entries, more than {LONGEST_LIST}")
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            if len(text) > LONGEST_TEXT:
                raise ValueError(f"has {len(text):,} characters, more than {LONGEST_TEXT:,}")
            if UNSHOWABLE.search(text):
                raise ValueError("holds a character that cannot be shown, such as a line break")
        return value

    @model_validator(mode="after")
    def _sizes_are_enough(self) -> Self:
        """Refuse sizes that no interval, or nothing else, can be computed from."""
        for name, (least, why) in self.least.items():
            value = getattr(self, name)
            if 0 < value < least:
                raise ValueError(
                    f"{name} = {value}: {why} needs at least {least:,} (0: the profile's)"
                )
        return self

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Check typed values and fill in the profile's.

        Parameters
        ----------
        values : mapping of str to Any
            Parameters by name; those left out keep their defaults.

        Returns
        -------
        ChapterSettings
            An instance of the class it is called on, with the neutral values replaced.

        Raises
        ------
        InputError
            One line that names every misspelt parameter and every unusable value.
        """
        return cls._checked(values)._addressed().resolve()

    @classmethod
    def for_run(cls, values: Mapping[str, Any]) -> Self:
        """As `from_values`, with sizes that the profile chose cut to the data, and all checked.

        Parameters
        ----------
        values : mapping of str to Any
            Parameters by name; a size among them is used as it is, or refused.

        Returns
        -------
        ChapterSettings
            Its `notes` say what was cut; `check_run` has passed.

        Raises
        ------
        InputError
            As `from_values` and `check_run`.
        """
        settings = cls.from_values(values)
        asked = {n for n, value in values.items() if n in cls.model_fields and not _neutral(value)}
        if asked & set(addresses.PARAMETERS):
            fitted = settings.fitted(asked)
            settings = fitted.resolve().noting(*fitted.notes)
        settings.check_run()
        return settings

    @classmethod
    def from_strings(cls, strings: Mapping[str, str]) -> Self:
        """Check values typed at a command line and fill in the profile's (see `typed`)."""
        return cls.from_values(cls.typed(strings))

    @classmethod
    def from_notebook(cls, namespace: Mapping[str, Any]) -> Self:
        """Check the globals of a notebook whose parameters cell has run, and all that a run needs.

        Parameters
        ----------
        namespace : mapping of str to Any
            ``globals()`` of the notebook. Names that papermill injected must be parameters, and so
            must those that look like a misspelt one, unless a cell that sets no parameter assigned
            them: a reader's own variables are let be.

        Returns
        -------
        ChapterSettings
            As `from_values`; `check_run` has passed.

        Raises
        ------
        InputError
            A name is misspelt, a value cannot be used, or the machine lacks what it asks for.
        """
        fields, injected = cls.model_fields, namespaces.injected(namespace)
        own = namespaces.assigned_beside(namespace, fields)
        meant = {
            name: value
            for name, value in namespace.items()
            if name in fields
            or name in injected
            or (name not in own and namespaces.misspelt(name, value, fields))
        }
        settings = cls.for_run(meant)
        for note in settings.notes:
            print(note)
        return settings

    @classmethod
    def typed(cls, strings: Mapping[str, str]) -> dict[str, Any]:
        """Read text as the parameters' types; what cannot be read is left for the check to name.

        Parameters
        ----------
        strings : mapping of str to str
            Text by parameter; a list is written as JSON, such as ``[400, 1000]``.
        """
        types = {row.name: row.type for row in cls.describe()}
        return {name: _read(text, types.get(name, "str")) for name, text in strings.items()}

    @classmethod
    def describe(cls) -> list[Parameter]:
        """List the parameters in order, with type, default, help and the profiles' values."""
        return [
            Parameter(
                name,
                _type_name(field.annotation),
                field.default,
                field.description or "",
                {p: sizes[name] for p, sizes in cls.profiles.items() if name in sizes},
            )
            for name, field in cls.model_fields.items()
        ]

    def resolve(self) -> Self:
        """Replace neutral values by the profile's; a chapter may go on from what this returns."""
        values = self.parameters()
        for name, value in self.profiles.get(self.profile, {}).items():
            if _neutral(values[name]):
                values[name] = value
        return self._checked(values)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a run changed of the profile's sizes, and what its data call for, a line each."""
        return self._notes

    def fitted(self, asked: Collection[str]) -> Self:
        """Cut what the profile chose to the data; a chapter whose sizes depend on them says how.

        Parameters
        ----------
        asked : collection of str
            Parameters that a person gave: they are left as they are.
        """
        return self

    def cut(self, asked: Collection[str], most: Mapping[str, Any], why: str) -> Self:
        """Replace sizes by others, but for those asked for, and note it; `why` ends the line."""
        changed = {
            name: value
            for name, value in most.items()
            if name not in asked and value != getattr(self, name)
        }
        notes = tuple(
            f"{name} = {value}, not the {getattr(self, name)} of profile {self.profile!r}: {why}"
            for name, value in changed.items()
        )
        return self.model_copy(update=changed).noting(*notes)

    def noting(self, *notes: str) -> Self:
        """The same settings with more notes."""
        settings = self.model_copy()
        settings._notes = (*self._notes, *notes)
        return settings

    def _addressed(self) -> Self:
        """Put `label` and `standardise` into the addresses of the reader's own data."""
        if not (self.label or self.standardise):
            return self
        own = addresses.asked(self.parameters(), self.label, self.standardise)
        return self.model_copy(update=own)

    def check_run(self) -> None:
        """See that the machine has what a run with these settings needs; nothing is written.

        Raises
        ------
        InputError
            There is no GPU where one is asked for, a folder cannot be written to, or the data are
            missing, damaged, too small or of the wrong kind.
        """
        if self.device == "cuda":
            _require_gpu()
        for folder in (self.results_dir or paths.results_dir(), paths.cache_dir()):
            paths.check_writable(Path(folder))
        self.check_data()

    def check_data(self) -> None:
        """See that the data can carry every exhibit; a chapter that takes data says how."""

    @classmethod
    def takes(cls) -> Takes | None:
        """The least that it asks of a reader's own data; None where it takes none."""

    def parameters(self) -> dict[str, Any]:
        """Return the values as plain JSON types, in the order of the fields."""
        return self.model_dump(mode="json")

    def changed(self) -> dict[str, Any]:
        """The parameters that shape a result and are not the profile's; no folder is told."""
        usual = type(self).from_values({"profile": self.profile}).parameters()
        values = addresses.without_folders(self.parameters())
        apart = {*INCIDENTAL, "profile", "seed", "device"}
        return {k: v for k, v in values.items() if k not in apart and v != usual[k]}

    @classmethod
    def _checked(cls, values: Mapping[str, Any]) -> Self:
        for name in values:
            if name not in cls.model_fields and UNSHOWABLE.search(name):  # pydantic names none
                raise InputError(_unknown(name, cls.model_fields))
        values = {name: cls._as_asked(name, value) for name, value in values.items()}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = [cls._problem(details, values) for details in error.errors()]
            raise InputError("; ".join(dict.fromkeys(problems))) from None

    @classmethod
    def _as_asked(cls, name: str, value: Any) -> Any:
        """What papermill hands on as text: true, false, a list; and one entry as a list of one."""
        field = cls.model_fields.get(name)
        asked = _type_name(field.annotation) if field else ""
        if asked not in ("bool", "list"):
            return value
        if isinstance(value, str):
            read = _read(value.strip(), asked)
            value = read if type(read).__name__ == asked else value
        if asked == "bool":
            return value
        (entry,) = get_args(field.annotation)
        broken = isinstance(value, str) and value.lstrip()[:1] in ("[", "")
        return [value] if type(value) is entry and not broken else value

    @classmethod
    def _problem(cls, details: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Put one of pydantic's findings in the reader's words."""
        raised = details.get("ctx", {}).get("error")
        reason = _SAID.get(details["type"]) or details["msg"].removeprefix("Input ")
        wrong = str(raised) if raised else reason
        if not details["loc"]:
            return wrong
        name = str(details["loc"][0])
        if details["type"] == "extra_forbidden":
            return _unknown(name, cls.model_fields)
        within = "".join(f"[{place}]" for place in details["loc"][1:])
        shown, field = brief(values[name]), cls.model_fields[name]
        said, accepted = field.description or "", _accepted(field)
        what = "" if said == accepted.replace("'", "") else f" ({said})"
        if accepted == "text" and not isinstance(values[name], str):
            accepted += f"; papermill's `-p` makes numbers of digits, `-r {name} VALUE` does not"
        return f"parameter {name!r} = {shown}: {name}{within} {wrong}{what}; accepted: {accepted}"


def _unknown(name: str, known: Any) -> str:
    return f"unknown parameter {suggest(name, known, 'parameters')}"


def _require_gpu() -> None:
    """Refuse a machine without a GPU; torch, slow to import, is asked only where there may be."""
    if shutil.which("nvidia-smi") or Path(_GPU_DRIVER).exists():
        import torch

        if torch.cuda.is_available():
            return
    raise InputError("parameter 'device' = 'cuda': torch finds no GPU here; give auto or cpu")


def _neutral(value: Any) -> bool:
    return not isinstance(value, bool) and value in (0, "", [])


def _accepted(field: FieldInfo) -> str:
    """Which values a parameter takes, in words."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        *first, last = map(repr, get_args(annotation))
        return f"{', '.join(first)} or {last}" if first else last
    if get_origin(annotation) is list:
        written = '["digits"]' if str in get_args(annotation) else "[60,120]"
        return f"a list such as '{written}'"
    if annotation in (bool, str):
        return "true or false" if annotation is bool else "text"
    words = ("ge", "le")
    limits = {w: getattr(m, w) for m in field.metadata for w in words if hasattr(m, w)}
    kind = "a whole number" if annotation is int else "a number"
    if len(limits) == 2:
        return f"{kind} from {limits['ge']:,g} to {limits['le']:,.10g}"
    return f"{kind}, {limits['ge']:,g} or more" if "ge" in limits else kind


def _type_name(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return type(get_args(annotation)[0]).__name__
    return (get_origin(annotation) or annotation).__name__


def _read(text: str, type_name: str) -> Any:
    if type_name == "str":
        return text
    try:
        return json.loads(text.lower() if type_name == "bool" else text)
    except (ValueError, RecursionError):  # no JSON, thousands of digits, lists in lists in lists
        return text
