"""An exhibit, declared once: what it asks, how it is computed from evidence, drawn and judged."""

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.book.exhibits.homes import ID, chapter_of
from membership.book.exhibits.words import kind_of, label_of, words_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from membership.book.exhibits.source import Source


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
        Empty where the chapter has no module ``exhibits``.

    Raises
    ------
    ValueError
        Two exhibits have one id, or an exhibit is of another chapter.
    """
    exhibits = tuple(declarations(chapter, "exhibits", "EXHIBITS"))
    ids = [exhibit.id for exhibit in exhibits]
    for exhibit in exhibits:
        if exhibit.chapter != chapter or ids.count(exhibit.id) > 1:
            raise ValueError(f"exhibit {exhibit.id} in {chapter}: of another chapter, or twice")
    return exhibits


class _Later:
    """A module that is imported when one of its functions is called."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            return getattr(importlib.import_module(self._module), name)(*args, **keywords)

        return call


def later(package: str, *modules: str) -> tuple[Any, ...]:
    """Modules of a package whose functions are imported when they are called.

    For declarations: what lists exhibits must not wait for torch, which computes them.
    """
    return tuple(_Later(f"{package}.{name}") for name in modules)


_PLOTS, _SENTENCES = later("membership", "plots", "book.exhibits.sentences")


def fields_of(chapter: str) -> dict[str, dict[str, Any]]:
    """What ``exhibits.toml`` of a chapter says, as fields of an `Exhibit` by id.

    A table ``says`` or ``alt`` is a sentence by rows that have names, and a table ``draw`` what
    `drawn` takes.
    """
    exhibits = {}
    for exhibit_id, words in words_of(chapter).items():
        sentences = {
            name: functools.partial(_SENTENCES.sentence, words[name])
            for name in ("says", "alt")
            if not isinstance(words.get(name, ""), str)
        }
        drawing = {"draw": drawn(**words["draw"])} if "draw" in words else {}
        exhibits[exhibit_id] = words | sentences | drawing
    return exhibits


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


def exhibits_of(
    package: str, about: Callable[..., dict[str, Any]] | None = None
) -> Callable[..., Exhibit]:
    """The function by which a chapter declares its exhibits; words are in ``exhibits.toml``.

    ``exhibit(name, function, *evidence, settings=False, **fields)`` declares the one whose table is
    the function's of each evidence in turn: of a data set for a name, of a list for a function of
    the settings that says several names, of what it makes for a `Reading`; and of the settings
    last, where it asks for them. Further fields are those of `Exhibit`. ``about``, of all data sets
    read and, by keyword, what the table says of itself, gives the table's ``attrs``.
    """
    chapter = package.rpartition(".")[2]
    fields_by_id, prefix = fields_of(chapter), chapter.replace("_", "-")

    def exhibit(
        name: str,
        function: Callable[..., pd.DataFrame],
        *evidence: str | Callable[[Any], Sequence[str]] | Reading,
        settings: bool = False,
        **fields: Any,
    ) -> Exhibit:
        readings = [_reading(part) for part in evidence]

        def needs(chosen: Any) -> tuple[str, ...]:
            return tuple(dict.fromkeys(name for part in readings for name in part.names(chosen)))

        def compute(source: "Source") -> pd.DataFrame:
            arguments = [source.made(part.make) if part.make else source for part in readings]
            table = function(*arguments, *([source.settings] if settings else []))
            if about is not None:
                read = [source.evidence(name) for name in needs(source.settings)]
                table.attrs = about(*read, **table.attrs)
            return table

        exhibit_id = f"{prefix}-{name}"
        return Exhibit(
            exhibit_id, compute=compute, needs=needs, **fields_by_id[exhibit_id] | fields
        )

    return exhibit


def _reading(evidence: str | Callable[[Any], Sequence[str]] | Reading) -> Reading:
    if isinstance(evidence, Reading):
        return evidence
    if isinstance(evidence, str):
        return Reading(lambda settings: [evidence], lambda source: source.evidence(evidence))
    return Reading(evidence, lambda source: [source.evidence(n) for n in evidence(source.settings)])


def drawn(name: str, **options: Any) -> "Callable[[pd.DataFrame], Figure]":
    """How an exhibit is drawn: one of `membership.plots`, imported when a figure is asked for."""
    return functools.partial(getattr(_PLOTS, name), **options)


def declarations(chapter: str, module: str, name: str) -> Any:
    """What a chapter's module declares under a name, () where there is no such module.

    Found by name and not imported above: chapters stand on this room.
    """
    path = f"membership.book.studies.{chapter}.{module}"
    try:
        return getattr(importlib.import_module(path), name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise
        return ()
