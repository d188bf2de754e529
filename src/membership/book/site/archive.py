"""One file with all that is needed to read, check and rerun the book; the same bytes every time."""

import hashlib
import io
import json
import time
import zipfile
from pathlib import Path

import membership
from membership import paths
from membership.book import manifest
from membership.book.exhibits.provenance import git, git_commit
from membership.book.site import deposit
from membership.errors import InputError

SUMS = "SHA256SUMS"
# What pages are made of: a file there that git does not know may be in the site.
_MADE_OF = ("src", "notebooks", "book", "data", "results", "runs")


def make_archive(output: Path | None = None, *, own_data: bool = False) -> tuple[Path, str]:
    """Pack the built site, all that git tracks, checksums and what archives ask for.

    Parameters
    ----------
    output : Path, optional
        The zip file to write; ``_build/membership-<version>.zip`` unless given.
    own_data : bool
        Whether runs of data that are in no registry may be in it.

    Returns
    -------
    tuple of Path and str
        The file, and its SHA-256.

    Raises
    ------
    InputError
        No site has been built, or not from these pages and committed results; this is no git
        checkout; a tracked file is changed, or one that pages are made of is not committed; a run
        of own data, or the name of a folder of this machine, would be in it.
    """
    root = paths.require_clone("site, results and source come")
    site = root / "_build" / "html"
    target = output or root / "_build" / f"membership-{membership.__version__}.zip"
    paths.plain_file(target)
    if not (site / "index.html").is_file():
        raise InputError("no site has been built; build it with: make book")
    modes = _tracked(root)
    _require_committed(root)
    contents = {name: (root / name).read_bytes() for name in modes}
    contents |= _site_files(site, contents)
    _require_nothing_private(contents, own_data)
    commit, timestamp = git(root, "log", "-1", "--format=%H %ct").split()
    cited, exhibits = deposit.citation(), deposit.made()
    contents["codecheck.yml"] = deposit.codecheck(cited, exhibits).encode()
    contents[".zenodo.json"] = deposit.zenodo(cited).encode()
    file_facts = {
        name: {"contentSize": str(len(content)), "sha256": _sha256(content)}
        for name, content in contents.items()
    }
    contents["ro-crate-metadata.json"] = deposit.crate(cited, exhibits, file_facts, commit).encode()
    sums = [f"{_sha256(content)}  {name}\n" for name, content in sorted(contents.items())]
    contents[SUMS] = "".join(sums).encode()
    programs = {name for name, mode in modes.items() if mode == "100755"}
    # A zip file knows the years 1980 to 2107; a clock may have been elsewhere.
    date = time.gmtime(int(timestamp))[:6]
    date = min(max(date, (1980, 1, 1, 0, 0, 0)), (2107, 12, 31, 23, 59, 58))
    archive = _zip(contents, programs, date)
    paths.atomic_write(target, archive)
    return target, _sha256(archive)


def _tracked(root: Path) -> dict[str, str]:
    """The mode of each file that git tracks, by name."""
    listing = git(root, "ls-files", "--stage", "-z")
    if not listing or not git_commit(root):
        raise InputError(
            "an archive holds what git tracks, and this folder is no git checkout with a commit; "
            "make it in a clone"
        )
    entries = [entry.split("\t", 1) for entry in listing.strip("\0").split("\0")]
    return {name: fields.split()[0] for fields, name in entries}


def _require_committed(root: Path) -> None:
    changed = git(root, "diff", "--name-only", "HEAD").splitlines()
    changed += git(root, "ls-files", "--others", "--exclude-standard", *_MADE_OF).splitlines()
    if changed:
        more = f" (and {len(changed) - 1} more are not)" if changed[1:] else ""
        raise InputError(
            f"{changed[0]} is not committed{more}, so no commit says what the archive holds; "
            "commit it or take it away"
        )


def _site_files(site: Path, tracked: dict[str, bytes]) -> dict[str, bytes]:
    """The site's files under ``site``, checked against the pages and results they are made of."""
    files = {}
    for path in sorted(p for p in site.rglob("*") if p.is_file()):
        name, content = path.relative_to(site).as_posix(), path.read_bytes()
        source = name.removeprefix("_sources/")
        is_shown = source.startswith(("book/", "results/paper/"))
        if is_shown and tracked.get(source, content) != content:
            raise InputError(f"the site shows another {source}; build it again: membership build")
        if not any(part.startswith(".") for part in name.split("/")):
            files[f"site/{name}"] = content
    return files


def _require_nothing_private(contents: dict[str, bytes], own_data: bool) -> None:
    """Refuse runs of own data, unless asked for, and the folders of whoever makes the archive."""
    for name, content in contents.items():
        if own := [] if own_data else _own_data(name, content):
            raise InputError(
                f"{name} is of a run of your own data ({', '.join(own)}), which the archive would "
                "publish; run the chapter without them and build again, or allow it: --own-data"
            )
    home = Path.home()
    folders = [str(paths.project_root()), *([str(home)] if len(home.parts) > 2 else [])]
    for folder in folders:
        for name, content in contents.items():
            if f"{folder}/".encode() in content:
                raise InputError(
                    f"{name} names a folder of this machine ({folder}), so it is not packed; make "
                    "it again, or take that out"
                )


def _own_data(name: str, content: bytes) -> list[str]:
    """What a page or a manifest says of the reader's own data in its run."""
    if not name.endswith((f"/{manifest.NAME}", ".ipynb")):
        return []
    document = json.loads(content)
    runs = document.get("runs") or [document.get("metadata", {}).get("membership", {})]
    return sorted({own for run in runs for own in run.get("own_data", ())})


def _zip(contents: dict[str, bytes], programs: set[str], date: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3  # Unix, whatever this is: the modes are Unix's
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, content)
    return buffer.getvalue()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
