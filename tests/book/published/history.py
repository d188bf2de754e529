"""Every claim that was ever committed, and what of it neither stands nor is accounted for.

A claim is fixed before its numbers and never taken out after them: its id, the paper's sentence,
and its test, in words and as declared. What a chapter lists today answers for what it listed
before, as a test of today or as the former one that is shown beside it. What does not is listed in
``ledger.toml`` of `membership.book.published`: said otherwise, moved to another claim, or retired.
"""

import ast
import functools
import json
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[3]
LEDGER = "src/membership/book/published/ledger.toml"
# Where claims are listed, and where they were before they were data.
LISTS = ("*_claims.toml",)
# Since then the book got a place of its own below the package.
CODE = (":(glob)src/membership/**/studies/*/claims.py",)
# Of a declared test these say how its numbers are shown.
SHOWN = ("label", "on", "shown")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One thing that a claim said since some commit: its quote, its test in words, its rule."""

    claim: str
    commit: str
    kind: str
    words: str


def is_whole() -> bool:
    """Whether this is a checkout with all of its history."""
    try:
        return _git("rev-parse", "--is-shallow-repository").strip() == b"false"
    except (OSError, subprocess.CalledProcessError):
        return False


@functools.cache
def committed(revision: str = "HEAD") -> tuple[Part, ...]:
    """Each part of each claim as it was first committed, up to a revision."""
    found: dict[tuple[str, str, str], str] = {}
    for commit, _, entries in _versions(revision):
        for entry in entries:
            for kind, words in _parts(entry):
                found.setdefault((entry["id"], kind, words), commit)
    return tuple(Part(claim, commit, kind, words) for (claim, kind, words), commit in found.items())


def listed(revision: str = "") -> dict[str, Entry]:
    """The claims of a revision by their ids; of the working tree if none is named."""
    if not revision:
        paths = [path for pattern in LISTS for path in REPOSITORY.glob(f"src/**/{pattern}")]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        # A paper of one's own starts from the template.
        texts += [path.read_text("utf-8") for path in REPOSITORY.glob("template/**/*_claims.toml")]
    else:
        names = _git("ls-tree", "-r", "--name-only", revision).decode().splitlines()
        lists = [name for name in names if name.endswith(LISTS[0].strip("*"))]
        texts = [_git("show", f"{revision}:{name}").decode() for name in lists]
    return {entry["id"]: entry for text in texts for entry in tomllib.loads(text)["claims"]}


def ledger() -> dict[str, list[Entry]]:
    """What the working tree's list says of claims as they were."""
    return tomllib.loads((REPOSITORY / LEDGER).read_text(encoding="utf-8"))


def unanswered(
    parts: tuple[Part, ...], claims: Mapping[str, Entry], answers: Mapping[str, list[Entry]]
) -> list[Part]:
    """What was committed, and neither stands among the claims nor is answered for."""
    answered = {(entry["claim"], entry["commit"]): entry for entry in _answers(answers)}
    missing = [part for part in parts if not _stands(part, claims)]
    return [
        part
        for part in missing
        if not _answers_for(answered.get((part.claim, part.commit[:8]), {}), part, claims)
    ]


def _answers(answers: Mapping[str, list[Entry]]) -> Iterator[Entry]:
    for kind, entries in answers.items():
        yield from ({"kind": kind, **entry} for entry in entries)


def _stands(part: Part, claims: Mapping[str, Entry]) -> bool:
    """Whether a claim of that id still says it: as its test, or as the one that was before."""
    entry = claims.get(part.claim)
    if entry is None:
        return False
    if part.kind == "quote":  # it may have been completed
        return part.words in _plain(entry["quote"])
    if part.kind == "statement":
        before = _plain(entry.get("former_statement", "")) if "former" in entry else ""
        return part.words == _plain(entry["statement"]) or part.words.rstrip(".") in before
    if part.kind == "former":
        return "former" in entry
    return (part.kind, part.words) in _parts(entry)


def _answers_for(entry: Entry, part: Part, claims: Mapping[str, Entry]) -> bool:
    """Whether an entry of the list accounts for a part that does not stand."""
    if entry.get("kind") in ("reworded", "early"):
        return part.claim in claims
    if entry.get("kind") == "moved":
        return part.kind == "former" or _stands(
            Part(entry["now"], part.commit, part.kind, part.words), claims
        )
    if entry.get("kind") == "retired":
        # It is told in the words that were committed.
        return part.kind not in ("quote", "statement") or _plain(entry[part.kind]) == part.words
    return False


def _parts(entry: Entry) -> Iterator[tuple[str, str]]:
    """What is fixed of a claim; of one that nothing tested yet the sentence alone."""
    if entry.get("origin", "paper") == "paper":
        yield "quote", _plain(entry["quote"])
    if "test" in entry:
        yield "statement", _plain(entry["statement"])
    for key in ("test", "former"):
        if isinstance(entry.get(key), Mapping):
            yield "rule", json.dumps(_rule(entry[key]), sort_keys=True)
    if "former" in entry:
        yield "former", ""


def _rule(declared: Any) -> Any:
    """A declared test without what says how it is shown."""
    if isinstance(declared, Mapping):
        return {key: _rule(value) for key, value in declared.items() if key not in SHOWN}
    return [_rule(value) for value in declared] if isinstance(declared, list) else declared


def _plain(text: str) -> str:
    return " ".join(text.split())


def _versions(revision: str) -> Iterator[tuple[str, str, list[Entry]]]:
    """Commit, path and claims of every version of every list, the oldest first."""
    form = ["--format=@%H", "--raw", "--no-abbrev", "--no-renames", "-m", "--topo-order"]
    log = _git("log", "--reverse", *form, revision, "--", *LISTS, *CODE).decode()
    changed, commit = [], ""
    for line in log.splitlines():
        if line.startswith("@"):
            commit = line[1:]
        elif line.startswith(":"):
            meta, path = line.split("\t")
            changed.append((commit, path, meta.split()[3]))
    there = [(commit, path, blob) for commit, path, blob in changed if blob.strip("0")]
    texts = _contents({blob for _, _, blob in there})
    for commit, path, blob in there:
        yield commit, path, _entries(path, texts[blob])


def _entries(path: str, text: str) -> list[Entry]:
    if path.endswith(".toml"):
        return tomllib.loads(text)["claims"]
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    claims = [call for call in calls if getattr(call.func, "id", "") == "Claim"]
    return [entry for entry in map(_of_code, claims) if "id" in entry]


def _of_code(call: ast.Call) -> Entry:
    """A claim that was listed in code; its test is a function, or says that there is none."""
    names = ("id", "quote", "section", "statement", "exhibits", "test")
    given = dict(zip(names, call.args, strict=False)) | {
        k.arg or "": k.value for k in call.keywords
    }
    told = ("id", "quote", "statement", "origin")
    entry = {key: node.value for key, node in given.items() if isinstance(node, ast.Constant)}
    if isinstance(given.get("test"), ast.Attribute | ast.Name):
        entry["test"] = ast.unparse(given["test"])
    return {key: value for key, value in entry.items() if key in (*told, "test")}


def _contents(blobs: set[str]) -> dict[str, str]:
    """The texts of some objects, asked for at once."""
    out = _git("cat-file", "--batch", told="\n".join(blobs).encode())
    texts, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        blob, _, size = out[at:end].split()
        start = end + 1
        at = start + int(size) + 1
        texts[blob.decode()] = out[start : at - 1].decode()
    return texts


def _git(*words: str, told: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", *words], cwd=REPOSITORY, input=told, capture_output=True, check=True
    ).stdout
