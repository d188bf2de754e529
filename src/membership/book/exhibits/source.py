"""What an exhibit is computed from: the settings, a chapter's evidence, and its other tables."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership import addresses, paths
from membership.book import manifest
from membership.book.exhibits import files
from membership.book.exhibits.declaration import Exhibit, declarations
from membership.book.settings import INCIDENTAL
from membership.errors import Diverged, InputError, RunError

if TYPE_CHECKING:
    import xarray as xr

SUFFIX = ".evidence"


class Source:
    """A chapter's evidence and tables under one choice of settings, each made once.

    Parameters
    ----------
    settings : Settings
        The chapter's resolved settings.
    exhibits : tuple of Exhibit
        The chapter's declarations.
    gather : bool, default True
        Whether evidence that is not there is gathered; otherwise only files are read, and the
        table of an exhibit without its evidence is the committed one.
    """

    def __init__(
        self, settings: Any, exhibits: tuple[Exhibit, ...], *, gather: bool = True
    ) -> None:
        self.settings = settings
        self.exhibits = {exhibit.id: exhibit for exhibit in exhibits}
        where = (settings.chapter, settings.profile, settings.results_dir)
        self._folder = paths.in_run(files.location("", *where))
        self._functions = _gathering(settings) if gather else {}
        self._evidence: dict[str, xr.Dataset] = {}
        self._digests: dict[str, str] = {}
        self._tables: dict[str, pd.DataFrame] = {}
        self._made: dict[Callable[[Source], Any], Any] = {}
        self._computing: list[Exhibit] = []

    def has(self, name: str) -> bool:
        """Whether evidence of this name is there or can be gathered."""
        return name in self._functions or self._path(name).is_file()

    def evidence(self, name: str) -> "xr.Dataset":
        """One of the chapter's evidence files, gathered first where it has to be.

        Parameters
        ----------
        name : str
            Without folder and suffix.

        Returns
        -------
        xarray.Dataset
            What the file holds, read back from it.

        Raises
        ------
        InputError
            There is no such evidence, or the file does not hold what its kind asks for.
        ValueError
            The exhibit that is being computed does not say that it needs it.
        """
        if self._computing and name not in self._computing[-1].evidence(self.settings):
            raise ValueError(f"exhibit {self._computing[-1].id} reads {name!r} without needing it")
        if name not in self._evidence:
            self._evidence[name] = self._read(name)
        return self._evidence[name]

    def made(self, make: "Callable[[Source], Any]") -> Any:
        """What a function makes of this source, made once; do not change it."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    def gatherers(self) -> "dict[str, Callable[[], xr.Dataset]]":
        """What gathers each of the chapter's evidence files, by name."""
        return dict(self._functions)

    def address(self, name: str) -> Path:
        """Where in the cache gathered evidence of this name lies, or will lie."""
        from membership.evidence import gathering

        return gathering.address(name, self._functions[name], self._inputs())

    def gather(self, name: str) -> Path:
        """Gather evidence into the cache and nowhere else, unless it is there; its file."""
        from membership.evidence import gathering

        with self.advising():
            return gathering.in_cache(name, self._functions[name], self._inputs())

    @contextlib.contextmanager
    def advising(self) -> Iterator[None]:
        """Where training diverges within, say which of the chapter's parameters would do."""
        try:
            yield
        except Diverged as error:
            known = Diverged(error.where, self.settings.against_divergence)
            raise RunError(str(known)) from None

    def table(self, exhibit_id: str) -> pd.DataFrame:
        """The table of one of the chapter's exhibits, computed once; do not change it.

        Raises
        ------
        InputError
            The chapter has no such exhibit, or evidence is missing.
        """
        if exhibit_id not in self._tables:
            self._tables[exhibit_id] = self._compute(self.exhibit(exhibit_id))
        return self._tables[exhibit_id]

    def exhibit(self, exhibit_id: str) -> Exhibit:
        """One of the chapter's exhibits; an InputError where it has none of this id."""
        if exhibit_id not in self.exhibits:
            chapter, known = self.settings.chapter, ", ".join(self.exhibits)
            raise InputError(f"chapter {chapter} declares no {exhibit_id!r}; it has {known}")
        return self.exhibits[exhibit_id]

    def lacks(self, exhibit: Exhibit) -> list[str]:
        """The evidence that an exhibit needs and that is not there."""
        return [name for name in exhibit.evidence(self.settings) if not self.has(name)]

    def digests(self, exhibit: Exhibit) -> dict[str, str]:
        """The digest of each evidence that an exhibit needs, by name."""
        names = exhibit.evidence(self.settings)
        if not names:
            return {}
        from membership import evidence

        for name in names:
            if name not in self._digests:
                self._digests[name] = evidence.digest(self._evidence[name])
        return {name: self._digests[name] for name in names}

    def _compute(self, exhibit: Exhibit) -> pd.DataFrame:
        missing = self.lacks(exhibit)
        if missing:
            return self._committed(exhibit, missing)
        self._computing.append(exhibit)
        try:
            for name in exhibit.evidence(self.settings):
                self.evidence(name)
            with self.advising():
                return exhibit.compute(self)
        finally:
            self._computing.pop()

    def _committed(self, exhibit: Exhibit, missing: list[str]) -> pd.DataFrame:
        saved = files.load(exhibit.id, self.settings.profile, self.settings.results_dir)
        if saved is None:
            lacking = f" and lacks its evidence {', '.join(missing)}" if missing else ""
            raise InputError(f"{exhibit.id} has no {self.settings.profile} run{lacking}")
        return saved[0]

    def _read(self, name: str) -> "xr.Dataset":
        from membership import evidence

        if name in self._functions:
            with self.advising():
                return evidence.gathered(name, self._functions[name], self._inputs(), self._folder)
        if not self._path(name).is_file():
            known = ", ".join(sorted(self._functions)) or "none"
            raise InputError(f"no evidence {name!r} in {self._folder}; that of its run is: {known}")
        return evidence.load(self._path(name))

    def _inputs(self) -> dict[str, Any]:
        from membership.data.loading import input_files

        values = self.settings.parameters()
        # The reader's own go by name: their digests are among the data, and no folder is told.
        named = addresses.without_folders(values)
        read = input_files(values, getattr(self.settings, "further_data", ()))
        data = {"data": {f.name: manifest.digest_of(f) for f in read}} if read else {}
        parameters = {k: v for k, v in named.items() if k not in INCIDENTAL}
        return {"chapter": self.settings.chapter, **parameters, **data}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"


class Committed(Source):
    """What is committed of a chapter: its evidence, and its tables as they were saved.

    Parameters
    ----------
    settings : Settings
        The chapter's, of profile "paper".
    exhibits : tuple of Exhibit
        The chapter's declarations.
    """

    def __init__(self, settings: Any, exhibits: tuple[Exhibit, ...]) -> None:
        super().__init__(settings, exhibits, gather=False)

    def _compute(self, exhibit: Exhibit) -> pd.DataFrame:
        return self._committed(exhibit, self.lacks(exhibit))


def _gathering(settings: Any) -> dict[str, "Callable[[], xr.Dataset]"]:
    """The functions that gather a chapter's evidence, none where it has no module for it."""
    sources = declarations(settings.chapter, "evidence", "sources")
    return sources(settings) if sources else {}
