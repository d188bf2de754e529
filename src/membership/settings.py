"""What a notebook can be told: typed, documented parameters, and the profiles that size them."""

import ast
import contextlib
import difflib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from membership import paths
from membership.errors import InputError

PROFILES = ("tiny", "quick", "paper")
# Every seed derived from this one stays below 2**64, which is what torch takes.
LARGEST_SEED = 2**32 - 1
MOST_JOBS = 1024
LONGEST_TEXT = 4096
LONGEST_LIST = 100
# Control characters and line breaks, and bytes of a file name that are no UTF-8.
UNSHOWABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_GPU_DRIVER = "/dev/nvidiactl"
# What papermill writes above the values that it injects.
INJECTED = "# Parameters"
# Parameters that change no result.
INCIDENTAL = ("results_dir", "data_root", "n_jobs")
# How alike a name is to a parameter's before it counts as a misspelling of it.
ALIKE = 0.91


class Parameter(NamedTuple):
    """One parameter as a reader sees it: in the help, or in a notebook's parameters cell."""

    name: str
    type: str
    default: Any
    help: str
    profiles: dict[str, Any]


class ChapterSettings(BaseModel):
    """The parameters that every notebook shares; a chapter's ``Settings`` adds its own.

    A parameter left at its neutral value (0, 0.0, "" or []) takes the value that ``profiles``
    gives it for the chosen profile. Types are strict: neither 5.0 nor "5" nor True is an int.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    chapter: ClassVar[str] = ""
    profiles: ClassVar[dict[str, dict[str, Any]]] = {}
    # Data sets that a run may read beside those that its parameters name.
    further_data: ClassVar[tuple[str, ...]] = ()
    # The least of a size that is given, and what needs it.
    least: ClassVar[dict[str, tuple[int, str]]] = {}

    profile: Literal[PROFILES] = Field("quick", description="sizes of the run: tiny, quick, paper")
    dataset: str = Field("", description="name of a data set or path of an .npz; '': the profile's")
    data_root: str = Field("", description="folder to look for data in; '': $MEMBERSHIP_DATA, data")
    seed: int = Field(
        0, ge=0, le=LARGEST_SEED, description="seed of every random choice, 0 or more"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu or cuda")
    n_jobs: int = Field(0, ge=0, le=MOST_JOBS, description="CPU cores to use; 0: all")
    results_dir: str = Field("", description="folder for the exhibits; '': results")

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
        return cls._checked(values).resolve()

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
        fields, injected = cls.model_fields, _injected(namespace)
        own = _assigned_beside(namespace, fields)
        meant = {
            name: value
            for name, value in namespace.items()
            if name in fields
            or name in injected
            or (name not in own and _plain(name, value) and _near(name, fields))
        }
        settings = cls.from_values(meant)
        settings.check_run()
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

    def parameters(self) -> dict[str, Any]:
        """Return the values as plain JSON types, in the order of the fields."""
        return self.model_dump(mode="json")

    @classmethod
    def _checked(cls, values: Mapping[str, Any]) -> Self:
        for name in values:
            if name not in cls.model_fields and UNSHOWABLE.search(name):  # pydantic names none
                raise InputError(_unknown(name, cls.model_fields))
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            problems = [cls._problem(details, values) for details in error.errors()]
            raise InputError("; ".join(dict.fromkeys(problems))) from None

    @classmethod
    def _problem(cls, details: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Put one of pydantic's findings in the reader's words."""
        raised = details.get("ctx", {}).get("error")
        wrong = str(raised) if raised else details["msg"].removeprefix("Input ")
        if not details["loc"]:
            return wrong
        name = str(details["loc"][0])
        if details["type"] == "extra_forbidden":
            return _unknown(name, cls.model_fields)
        within = "".join(f"[{place}]" for place in details["loc"][1:])
        shown, accepted = brief(values[name]), cls.model_fields[name].description
        return f"parameter {name!r} = {shown}: {name}{within} {wrong}; accepted: {accepted}"


def _unknown(name: str, known: Any) -> str:
    return f"unknown parameter {suggest(name, known, 'parameters')}"


def suggest(name: str, known: Any, kind: str) -> str:
    """Complete "unknown ...": the name, then the nearest known one or all that are known."""
    near = difflib.get_close_matches(name[:LONGEST_TEXT], list(known), n=1)
    if near:
        return f"{brief(name)}; did you mean {near[0]!r}?"
    return f"{brief(name)}; the {kind} are: {', '.join(known) or 'none'}"


def brief(value: Any, most: int = 80) -> str:
    """Show any value within a line, however long or deep it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits; a list in a list in...
        shown = f"a value of type {type(value).__name__}"
    shown = re.sub(r"\s+", " ", shown)
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def _plain(name: str, value: Any) -> bool:
    """Tell whether a global could have been meant as a parameter; In and Out are IPython's."""
    return (
        not name.startswith("_")
        and name not in ("In", "Out")
        and (value is None or type(value) in (bool, int, float, str, list, tuple, dict))
    )


def _near(name: str, known: Any) -> bool:
    return bool(difflib.get_close_matches(name, list(known), n=1, cutoff=ALIKE))


def _injected(namespace: Mapping[str, Any]) -> set[str]:
    """The names that papermill's cell of parameters assigned, from IPython's list of inputs."""
    names: set[str] = set()
    for source in namespace.get("In", ()):
        if str(source).startswith(INJECTED):
            with contextlib.suppress(SyntaxError):
                body = ast.parse(source).body
                targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names & set(namespace)


def _assigned_beside(namespace: Mapping[str, Any], fields: Any) -> set[str]:
    """The names that only cells without a parameter assigned: a reader's own."""
    with_parameter: set[str] = set()
    without: set[str] = set()
    for source in namespace.get("In", ()):
        with contextlib.suppress(SyntaxError):  # a line such as %time or !ls
            nodes = list(ast.walk(ast.parse(str(source))))
            names = {
                node.id
                for node in nodes
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            (with_parameter if names & set(fields) else without).update(names)
    return without - with_parameter


def _require_gpu() -> None:
    """Refuse a machine without a GPU; torch, slow to import, is asked only where there may be."""
    if shutil.which("nvidia-smi") or Path(_GPU_DRIVER).exists():
        import torch

        if torch.cuda.is_available():
            return
    raise InputError("parameter 'device' = 'cuda': torch finds no GPU here; give auto or cpu")


def _neutral(value: Any) -> bool:
    return not isinstance(value, bool) and value in (0, "", [])


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
