"""An exhibit, declared once: what it asks, how it is computed from evidence, drawn and judged."""

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.book.exhibits.declared_words import about_of, file_of, kind_of, label_of, words_of
from membership.book.exhibits.exhibit_pages import ID, chapter_of
from membership.book.exhibits.sentences import sentence
from membership.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from membership.book.exhibits.source import Source

_STUDIES = "membership.book.studies"


@dataclass(frozen=True)
class Exhibit:
    """One table, figure or control of a chapter.

    Parameters
    ----------
    id : str
        ``<chapter>-<tab|fig|ctl>-<name>`` with hyphens for underscores, such as ``"iha-tab-2"``.
        It never changes: people cite it.
    label : str
        The paper's own, "Table 2"; empty for a control, which is numbered as its id is.
    content : str
        What it holds, in one line.
    question : str
        What a reader asks; ends in "?".
    compute : callable
        From a `Source` to the table. Tidy tables have key columns, ``metric``, ``value``, ``low``,
        ``high`` and what the interval came from. ``attrs`` may state ``data`` (digests by name),
        ``sizes`` (those of this exhibit, by name), ``setup`` (where numbers are judged),
        ``deviations`` (list of str), ``device``, ``note``, ``timing`` and ``residue``; plain JSON
        values.
    needs : tuple of str or callable
        The evidence it reads, or a function of the settings that gives it; none where it is
        computed from the settings alone.
    draw : callable, optional
        From the table to a matplotlib figure.
    judge : callable, optional
        From the table to what `membership.book.published.compare` makes of it, or None. It sees the
        table as it was saved, of this run or of the paper-size one, and is called when shown.
    says : callable, optional
        From the table to one sentence of what it shows; "" where it shows nothing sure.
    records : callable, optional
        From the table to one row a record, for `membership.book.exhibits.panels`: the page shows
        the records of the picture one by one.
    differences : mapping of str to str
        Which of its numbers are differences of two others, where a card shows them as marks: by
        column, what the words there look like, ``{"attack": "* less *"}``.
    caption : str
        What the picture needs to be read: axes, bands.
    standing : sequence of str
        How near its committed run is to the paper's: words of `membership.book.exhibits.listing`,
        for each of its data sets; none where it is not run or has no data.
    alt : str or callable
        What someone who cannot see the picture should hear, with ``{says}`` where the sentence of
        ``says`` is to stand; of the table where it is a function.

    Raises
    ------
    ValueError
        The id, the label or the question is not of the form above.
    """

    id: str
    label: str
    content: str
    question: str
    compute: "Callable[[Source], pd.DataFrame]"
    needs: tuple[str, ...] | Callable[[Any], tuple[str, ...]] = ()
    draw: "Callable[[pd.DataFrame], Figure] | None" = None
    judge: Callable[[pd.DataFrame], pd.DataFrame | None] | None = None
    says: Callable[[pd.DataFrame], str] | None = None
    records: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    differences: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    alt: str | Callable[[pd.DataFrame], str] = ""
    standing: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id):
            raise ValueError(f"exhibit id {self.id!r}: write <chapter>-<tab|fig|ctl>-<name>")
        if not self.label and self.kind != "control":
            raise ValueError(f"exhibit {self.id}: give the paper's label")
        if self.kind == "control":
            object.__setattr__(self, "label", label_of(self.id))
        if not self.question.endswith("?"):
            raise ValueError(f"exhibit {self.id}: the question {self.question!r} ends in no '?'")
        if self.draw is not None and not self.alt:
            raise ValueError(f"exhibit {self.id} is drawn: say in alt what the picture shows")

    @property
    def chapter(self) -> str:
        """The chapter's name: "bayes_optimal"."""
        return chapter_of(self.id)

    @property
    def kind(self) -> str:
        """``"table"``, ``"figure"`` or ``"control"``."""
        return kind_of(self.id)

    def evidence(self, settings: Any) -> tuple[str, ...]:
        """The names of the evidence it reads under these settings."""
        return tuple(self.needs(settings) if callable(self.needs) else self.needs)

    def described(self, table: pd.DataFrame) -> str:
        """The alternative text of the picture of a table, with what the exhibit says of it."""
        if callable(self.alt):
            return self.alt(table)
        return self.alt.replace("{says}", self.says(table) if self.says else "").strip()


def declared(chapter: str) -> tuple[Exhibit, ...]:
    """A chapter's exhibits, in the order of their declaration.

    Parameters
    ----------
    chapter : str
        A folder of ``membership.book.studies``.

    Returns
    -------
    tuple of Exhibit
        Empty where the chapter has no ``exhibits.toml``.

    Raises
    ------
    InputError
        A function that is named is not there or takes other arguments, or an exhibit has no such
        field, or lacks one.
    """
    about, found = about_of(chapter), []
    for exhibit_id, said in words_of(chapter).items():
        try:
            found.append(exhibit(chapter, exhibit_id, dict(said), about))
        except (AttributeError, KeyError, ModuleNotFoundError, TypeError, ValueError) as error:
            told = f"{type(error).__name__}: {error}"
            raise InputError(f"{file_of(chapter)}: {exhibit_id}: {told}") from error
    return tuple(found)


@dataclass(frozen=True)
class Reading:
    """What an exhibit's function takes that is made of evidence, once a run.

    Parameters
    ----------
    names : callable
        From the settings to the evidence that is read.
    make : callable, optional
        From the `Source` to the argument; the source itself unless given.
    """

    names: Callable[[Any], Sequence[str]]
    make: "Callable[[Source], Any] | None" = None


def exhibit(chapter: str, exhibit_id: str, said: dict[str, Any], about: str = "") -> Exhibit:
    """An exhibit as its table in ``exhibits.toml`` declares it.

    ``table`` is the function that makes its table, of each thing in ``reads`` in turn, and of the
    settings last where its last parameter is called so. A thing that is read is a data set's
    evidence by its name, or what a name of the chapter's modules stands for: a function of the
    settings that says several names, for a list of them, or a `Reading`. `_function` says how
    functions are named. ``says`` or ``alt`` may be a sentence by rows that have names instead, and
    ``draw`` one of `membership.plots`.
    """
    function = _function(chapter, said.pop("table"))
    readings = [_reading(chapter, part) for part in said.pop("reads", ())]
    takes = inspect.signature(function)
    of_settings = "settings" in takes.parameters
    takes.bind(*readings, *([None] if of_settings else []))

    def needs(chosen: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in readings for name in part.names(chosen)))

    def compute(source: "Source") -> pd.DataFrame:
        arguments = [source.made(part.make) if part.make else source for part in readings]
        table = function(*arguments, *([source.settings] if of_settings else []))
        if about:
            read = [source.evidence(name) for name in needs(source.settings)]
            table.attrs = _function(chapter, about)(*read, **table.attrs)
        return table

    for name in _FUNCTIONS & said.keys():
        said[name] = _named(chapter, name, said[name])
    return Exhibit(exhibit_id, compute=compute, needs=needs, **said)


_FUNCTIONS = {"draw", "judge", "says", "records", "alt"}


def _named(chapter: str, field: str, said: Any) -> Any:
    """What is declared under a field that takes a function, or text."""
    if field == "alt" and isinstance(said, str):
        return said
    if isinstance(said, str) or "function" in said:
        return _function(chapter, said)
    if field == "draw":
        return functools.partial(_draw, **said)
    return functools.partial(sentence, said)


def _function(chapter: str, said: str | Mapping[str, Any]) -> Callable[..., Any]:
    """What ``module.name`` of a chapter stands for.

    ``{ function = "module.name", ... }`` gives arguments by name besides.
    """
    if isinstance(said, str):
        module, _, name = said.rpartition(".")
        return getattr(importlib.import_module(f"{_STUDIES}.{chapter}.{module}"), name)
    arguments = {name: value for name, value in said.items() if name != "function"}
    return functools.partial(_function(chapter, said["function"]), **arguments)


def _reading(chapter: str, said: str) -> Reading:
    if "." not in said:
        return Reading(lambda settings: [said], lambda source: source.evidence(said))
    found = _function(chapter, said)
    if isinstance(found, Reading):
        return found
    return Reading(found, lambda source: [source.evidence(n) for n in found(source.settings)])


def _draw(table: pd.DataFrame, name: str, **options: Any) -> "Figure":
    """Draw by one of `membership.plots`, imported when a figure is asked for."""
    from membership import plots

    return getattr(plots, name)(table, **options)


def declarations(chapter: str, module: str, name: str) -> Any:
    """What a chapter's module declares under a name, () where there is no such module.

    Found by name and not imported above: chapters stand on this room.
    """
    path = f"{_STUDIES}.{chapter}.{module}"
    try:
        return getattr(importlib.import_module(path), name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise
        return ()
