"""A chapter's committed evidence where there is no clone: fetched from the book's address."""

import os
from pathlib import Path
from typing import Any

from membership import downloads, paths
from membership.book import home, manifest
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.source import SUFFIX, Source
from membership.errors import InputError

MIRROR = "MEMBERSHIP_MIRROR"
"""The variable that names another address than the book's, of a copy of its site."""
FOLDER = "published"
RETRIES = 1


def published(settings: Any, exhibits: tuple[Exhibit, ...]) -> Source:
    """The chapter's evidence of paper size as the book has it: a clone's, or fetched as it is read.

    Parameters
    ----------
    settings : Settings
        The chapter's, of profile "paper".
    exhibits : tuple of Exhibit
        The chapter's declarations.
    """
    kind = Fetched if paths.checkout() is None else Source
    return kind(settings, exhibits, gather=False)


class Fetched(Source):
    """Evidence that is fetched into the cache when it is asked for, each file by its SHA-256."""

    def __init__(
        self, settings: Any, exhibits: tuple[Exhibit, ...], *, gather: bool = False
    ) -> None:
        super().__init__(settings, exhibits, gather=gather)
        place = Path("paper") / settings.chapter
        self._hashes = manifest.listed(paths.shipped("results") / place)
        self._place, self._folder = place.as_posix(), paths.cache_dir() / FOLDER / place

    def has(self, name: str) -> bool:
        """Whether the book has evidence of this name."""
        return f"{name}{SUFFIX}" in self._hashes

    def _path(self, name: str) -> Path:
        file = f"{name}{SUFFIX}"
        if file not in self._hashes:
            return super()._path(name)
        base = os.environ.get(MIRROR) or home.site()
        if not base:
            raise InputError(
                f"the book's evidence, such as {file}, comes with a clone of the repository and "
                f"not with the wheel; use a clone, or set {MIRROR} to the address of a copy of "
                "the book's site"
            )
        base = f"{base.rstrip('/')}/results/{self._place}/"
        paths.made_cache_dir()
        try:
            return downloads.fetch(
                base, file, f"sha256:{self._hashes[file]}", self._folder, RETRIES
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"{base}{file} cannot be fetched ({downloads.why(error)}); try again later, set "
                f"{MIRROR} to the address of another copy of the book's site, or use a clone"
            ) from error
