"""What ``membership data check`` reports."""

import os
from dataclasses import dataclass

from membership.data import npz, registry
from membership.data.loading import digits, is_purchase_like, purchase_records
from membership.data.locate import locate, looked_in
from membership.data.prepare import identify
from membership.data.registry import DIGITS
from membership.errors import InputError


@dataclass(frozen=True)
class Report:
    """What `check` found.

    Parameters
    ----------
    name : str
    file : str
        Where the records lie; empty where they lie nowhere.
    status : str
        ``ok`` (the digest is the registry's), ``unverified`` (the registry holds none),
        ``wrong``, ``missing`` or ``simulated``.
    detail : str
        The digest of the records, or what is wrong.
    """

    name: str
    file: str
    status: str
    detail: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.name, self.status, self.file, self.detail) if part)


def check(name: str, root: str | os.PathLike[str] | None = None) -> Report:
    """Verify a data set without downloading anything.

    Parameters
    ----------
    name, root
        As for `membership.data.load`.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        The name is unknown, or `root` is no folder.
    """
    if is_purchase_like(name):
        return Report(name, "", "simulated", f"{purchase_records(name):,} records on loading")
    entry = registry.entry(name)
    found = locate(name, root)
    if name != DIGITS and found is None:
        return Report(name, "", "missing", looked_in(name, root))
    where = "scikit-learn" if name == DIGITS else str(found)
    try:
        arrays = digits() if name == DIGITS else npz.read(found)
        identified = identify(entry, arrays, where)
    except InputError as error:
        return Report(name, where, "wrong", str(error))
    return Report(name, where, "ok" if entry.digest else "unverified", identified.digest)
