"""An exhibit on disk: ``<results>/<profile>/<chapter>/<id>.{csv,json,svg,narrow.svg,pdf}``."""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from membership import addresses, paths
from membership.book import manifest
from membership.book.exhibits import provenance
from membership.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from membership.book.exhibits.declaration import Exhibit


NARROW = ".narrow.svg"
"""The picture for a phone or a column of a paper."""
DRAWN = (".svg", NARROW, ".pdf")
SUFFIXES = (".csv", ".json", *DRAWN)
# What a table may say of itself, and what is assumed where it says nothing.
ATTRIBUTES: dict[str, Any] = {
    "data": {},
    "sizes": {},
    "setup": {},
    "deviations": [],
    "device": "cpu",
    "note": "",
    "timing": False,
    # Numbers no larger than this are rounding: other processors give others.
    "residue": 1e-9,
}

_OF_THE_RUN = ("chapter", "profile", "seed", "parameters", "commit", "code_sha256")
# Two runs of one state of the evidence may differ in these and still be the same run.
_CIRCUMSTANCES = ("commit", "versions")
_PATIENCE = 10.0
# What this process has written, by folder: a run without `membership run` that finds it replaced
# by another's stops, since a reader could not tell the two apart.
_written: dict[Path, dict[str, str]] = {}


def location(exhibit_id: str, chapter: str, profile: str, root: Path | str | None = None) -> Path:
    """Where an exhibit's files lie, without a suffix."""
    folder = Path(root) if root else paths.results_dir()
    return folder / profile / chapter / exhibit_id


def csv_bytes(table: "pd.DataFrame") -> bytes:
    """A table as CSV: ten significant digits, ``\\n`` line ends, the same bytes every time."""
    text = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    return text.encode()


def json_bytes(record: dict[str, Any]) -> bytes:
    """A record as JSON with sorted keys."""
    try:
        text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the record cannot be saved ({error}); give plain JSON values") from error
    return (text + "\n").encode()


def write_together(target: Path, contents: dict[str, bytes]) -> None:
    """Write all the files of one exhibit or none of them, and note who wrote them.

    Inside `membership run` they go to the folder of the run, whose end notes them.

    Parameters
    ----------
    target : Path
        The exhibit's path without suffix.
    contents : dict
        Bytes by suffix; a file that the exhibit had before and is not named here is removed,
        so that no figure of an earlier run stands beside a later table.

    Raises
    ------
    InputError
        The folder cannot be written to, another run is writing to it, or has replaced what this
        one wrote; what was there before is untouched.
    RunError
        The disk is full; likewise.
    """
    place = paths.in_run(target)
    if place != target:
        _replace(place, contents)
        return
    folder = target.parent
    with manifest.held(folder, _PATIENCE):
        paths.clear_parts(folder)
        written = _written.setdefault(folder.resolve(), {})
        if written and written.items() - manifest.listed(folder).items():
            raise InputError(
                f"another run has written to {paths.shown(folder)} since this one began; name "
                "another results_dir, or begin again"
            )
        _replace(target, contents)
        new = {target.name + s: hashlib.sha256(c).hexdigest() for s, c in contents.items()}
        gone = [target.name + s for s in SUFFIXES if s not in contents]
        manifest.enter(folder, _this_run(contents), new, gone)
        for name in gone:
            written.pop(name, None)
        written.update(new)


def _this_run(contents: dict[str, bytes]) -> dict[str, Any]:
    """What an exhibit's record says of the run that it belongs to."""
    record = json.loads(contents.get(".json", b"{}"))
    facts = {key: record[key] for key in _OF_THE_RUN if key in record}
    writer = manifest.NOTEBOOK if provenance.in_notebook() else manifest.SCRIPT
    return {"written_by": writer, **facts}


def _replace(target: Path, contents: dict[str, bytes]) -> None:
    final = {suffix: target.with_name(target.name + suffix) for suffix in SUFFIXES}
    for path in final.values():
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; remove it")
    staged = {suffix: paths.part_of(final[suffix]) for suffix in contents}
    try:
        for suffix, content in contents.items():
            paths.atomic_write(staged[suffix], content)
        for suffix, path in staged.items():
            os.replace(path, final[suffix])
    except OSError as error:
        raise paths.write_error(target, error) from error
    finally:
        for path in staged.values():
            with contextlib.suppress(OSError):
                path.unlink()
    for suffix in SUFFIXES:
        if suffix not in contents:
            final[suffix].unlink(missing_ok=True)


def load(
    exhibit_id: str, profile: str = "paper", root: Path | str | None = None
) -> "tuple[pd.DataFrame, dict[str, Any]] | None":
    """Read back an exhibit that a run saved.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    profile : str, default "paper"
        The run's profile.
    root : Path or str, optional
        The results folder; the project's own unless given.

    Returns
    -------
    tuple or None
        The table, its ``attrs`` restored, and the provenance record; None where no run is saved.

    Raises
    ------
    InputError
        There is no such exhibit, `root` is no folder, a file is missing or unreadable, the table
        is not the one that its record describes, or a file is not the one that its run wrote.
    """
    saved = recorded(exhibit_id, profile, root)
    if saved is None:
        return None
    record, content = saved
    table = _read(content)
    table.attrs = {key: record[key] for key in ATTRIBUTES if key in record}
    return table, record


def recorded(
    exhibit_id: str, profile: str, root: Path | str | None = None
) -> tuple[dict[str, Any], bytes] | None:
    """The record of an exhibit that a run saved and its table as it lies on disk, as `load`."""
    from membership.book.exhibits.listing import find  # that file imports this one

    if root and not Path(root).is_dir():
        raise InputError(f"root = {str(root)!r} is no folder; give a folder of results")
    target = location(exhibit_id, find(exhibit_id)["chapter"], profile, root)
    return recorded_at(paths.in_run(target))


def recorded_at(target: Path) -> tuple[dict[str, Any], bytes] | None:
    """As `recorded`, of the exhibit's path without a suffix."""
    record_path, table_path = target.with_suffix(".json"), target.with_suffix(".csv")
    manifest.require(target.parent, [target.name + suffix for suffix in SUFFIXES])
    if not record_path.is_file():
        return None
    try:
        record = json.loads(record_path.read_bytes())
        content = table_path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot read {target}: {error}; {manifest.remedy(target.parent)}"
        ) from error
    if hashlib.sha256(content).hexdigest() != record.get("csv_sha256"):
        raise InputError(
            f"{table_path} is not the table its record describes; {manifest.remedy(target.parent)}"
        )
    return record, content


def read_back(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table as its CSV file gives it back, with the same ``attrs``."""
    saved = _read(csv_bytes(table))
    saved.attrs = dict(table.attrs)
    return saved


def as_saved(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table with each number as its CSV file has it; its words stay words.

    What is drawn of it is the same wherever the last digits of a sum are rounded otherwise.
    """
    saved = table.map(lambda value: float(f"{value:.10g}") if isinstance(value, float) else value)
    saved.attrs = dict(table.attrs)
    return saved


def _read(content: bytes) -> "pd.DataFrame":
    # Only an empty cell is missing: "None" is a word an attack's name may hold.
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])


def record_of(
    exhibit: "Exhibit", table: "pd.DataFrame", settings: Any, evidence: dict[str, str]
) -> dict[str, Any]:
    """What is needed to cite and repeat an exhibit; no verdicts, no date, no seconds."""
    return {
        "chapter": exhibit.chapter,
        "id": exhibit.id,
        "label": exhibit.label,
        "kind": exhibit.kind,
        "content": exhibit.content,
        "profile": settings.profile,
        "seed": settings.seed,
        **{key: table.attrs.get(key, value) for key, value in ATTRIBUTES.items()},
        **_unlike_the_profile(table, settings),
        "evidence": evidence,
        "versions": provenance.versions(),
        "commit": provenance.git_commit(),
        "csv_sha256": hashlib.sha256(csv_bytes(table)).hexdigest(),
    }


def _unlike_the_profile(table: "pd.DataFrame", settings: Any) -> dict[str, Any]:
    """The parameters that were changed, and which of its data are the reader's own; if any are."""
    changed = settings.changed()
    own = _own_data(table.attrs.get("data", {}), settings.parameters()) if changed else []
    return {k: v for k, v in (("parameters", changed), ("own_data", own)) if v}


def _own_data(names: Iterable[str], parameters: dict[str, Any]) -> list[str]:
    from membership.data.own import called

    own: list[str] = []

    def note(address: addresses.Address) -> addresses.Address:
        own.append(called(Path(address.place)))
        return address

    addresses.changed(parameters, note)
    return [name for name in names if name.removesuffix("-standardised") in own]


def contents_of(
    exhibit: "Exhibit", table: "pd.DataFrame", described: dict[str, Any]
) -> dict[str, bytes]:
    """The files of an exhibit by suffix.

    Raises
    ------
    InputError
        The table is empty.
    """
    if table.empty:
        raise InputError(f"the table of {exhibit.id!r} is empty; give at least one row")
    return {
        ".csv": csv_bytes(table),
        ".json": json_bytes(described),
        **(_drawings(exhibit.draw, as_saved(table)) if exhibit.draw else {}),
    }


def _drawings(draw: "Callable[[pd.DataFrame], Any]", table: "pd.DataFrame") -> dict[str, bytes]:
    # Here and not above: what only lists or cites exhibits should not wait for matplotlib.
    from membership import plots

    with plots.style():
        figure = draw(table)
        made = {f".{kind}": plots.save_bytes(figure, kind) for kind in ("svg", "pdf")}
    with plots.narrow():
        return made | {NARROW: plots.save_bytes(draw(table), "svg")}


def require_citable(settings: Any) -> None:
    """Raise an InputError where results that are committed would name no commit that holds."""
    committed = paths.project_root() / "results"
    folder = Path(settings.results_dir or paths.results_dir())
    if settings.profile != "paper" or folder.absolute() != committed.absolute():
        return
    if provenance.git_commit().endswith(provenance.DIRTY):
        raise InputError(
            "profile = 'paper': src or notebooks differ from their commit, so nobody could check "
            "out what made these results; commit first, or name another results_dir"
        )


def save(
    exhibit: "Exhibit", table: "pd.DataFrame", settings: Any, evidence: dict[str, str]
) -> None:
    """Write the files of an exhibit, all or none.

    Where the run saved before differs in nothing but the commit and the libraries' versions, its
    record stays: what was made is the same. It gives way where nobody can check out its commit,
    where a drawing is another, and where another matplotlib made it.

    Raises
    ------
    InputError
        See `require_citable`.
    """
    require_citable(settings)
    described = record_of(exhibit, table, settings, evidence)
    contents = contents_of(exhibit, table, described)
    target = location(exhibit.id, exhibit.chapter, settings.profile, settings.results_dir)
    before = _saved(exhibit, settings)
    if _is_made_alike(before, described) and _is_drawn_alike(target, contents, before, described):
        contents[".json"] = json_bytes(before)
    write_together(target, contents)


def _is_made_alike(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two records are of one result, and the first names a commit that holds."""
    kept = {key: before[key] for key in _CIRCUMSTANCES if key in before}
    return before == now | kept and provenance.is_in_history(before.get("commit", ""))


def _is_drawn_alike(
    target: Path, contents: dict[str, bytes], before: dict[str, Any], now: dict[str, Any]
) -> bool:
    """Whether nothing is drawn, or what lies there is the same drawing of the same matplotlib."""
    made = {paths.in_run(target).with_name(target.name + s): contents.get(s) for s in DRAWN}
    there = {path: path.read_bytes() if path.is_file() else None for path in made}
    versions = [record.get("versions", {}).get("matplotlib") for record in (before, now)]
    return there == made and (versions[0] == versions[1] or not any(made.values()))


def _saved(exhibit: "Exhibit", settings: Any) -> dict[str, Any]:
    """The record of the run before; empty where there is none that can be read."""
    try:
        saved = load(exhibit.id, settings.profile, settings.results_dir)
    except InputError:
        return {}
    return saved[1] if saved else {}
