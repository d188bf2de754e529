"""What codecheckers, Zenodo and RO-Crate's readers find in the archive."""

import json
import shlex
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from membership import paths
from membership.book import published
from membership.book.exhibits.declaration import Exhibit, declared
from membership.book.exhibits.files import SUFFIXES, location
from membership.book.exhibits.listing import name, recipe
from membership.book.exhibits.source import SUFFIX, Source
from membership.book.running.chapter_files import chapters, run_record_path, settings_class
from membership.book.settings import INCIDENTAL
from membership.errors import InputError

CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"
CRATE = "https://w3id.org/ro/crate/1.2"
_TEXT = (resources.files("membership.book.site") / "deposit.toml").read_text(encoding="utf-8")
_WORDS = tomllib.loads(_TEXT)
# What the command `membership` starts.
_PROGRAM = "src/membership/__main__.py"
_PYTHON = "https://www.python.org/"
_SCRIPT = {"@type": ["File", "SoftwareSourceCode"], "programmingLanguage": {"@id": _PYTHON}}


@dataclass(frozen=True)
class Made:
    """An exhibit's committed files, none where it is not run, and the command that makes them."""

    exhibit: Exhibit
    files: tuple[str, ...]
    evidence: tuple[str, ...]
    command: str

    @property
    def words(self) -> str:
        """What it is, in one line."""
        return f"{name(self.exhibit.id)}: {self.exhibit.content}"


def made() -> list[Made]:
    """Every exhibit of the chapters, in the order of their pages."""
    known = chapters()
    return [
        entry for chapter in published.subjects if chapter in known for entry in _made_by(chapter)
    ]


def citation() -> dict[str, Any]:
    """What ``CITATION.cff`` says, and of ``pyproject.toml`` which Python is needed."""
    root = paths.project_root()
    try:
        cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error
    return {**cff, "requires-python": project["requires-python"]}


def codecheck(cited: dict[str, Any], exhibits: list[Made]) -> str:
    """``codecheck.yml``, as its authors write it; a codechecker adds certificate and report."""
    document = {
        "version": CODECHECK,
        "paper": {
            "title": cited["title"],
            "authors": [{"name": author["name"]} for author in cited["authors"]],
            **({"reference": cited["url"]} if "url" in cited else {}),
        },
        **({"repository": cited["repository-code"]} if "repository-code" in cited else {}),
        "manifest": [
            {"file": file, "comment": entry.words, "command": entry.command}
            for entry in exhibits
            for file in entry.files
            if not file.endswith(".json")
        ],
        "membership_not_run": [
            {"exhibit": entry.exhibit.id, "comment": entry.words, **_recipe(entry.exhibit.id)}
            for entry in exhibits
            if not entry.files
        ],
    }
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return f"%YAML 1.1\n---\n{text}"


def zenodo(cited: dict[str, Any]) -> str:
    """``.zenodo.json``: what Zenodo fills its form with."""
    papers = [
        {"identifier": paper.url, "relation": "references", "resource_type": "publication-article"}
        for paper in published.papers.values()
    ]
    links = [
        {"identifier": cited[key], "relation": relation}
        for key, relation in (("url", "isDocumentedBy"), ("repository-code", "isDerivedFrom"))
        if key in cited
    ]
    document = {
        "upload_type": "software",
        "title": cited["title"],
        "description": cited["abstract"],
        "creators": [{"name": author["name"]} for author in cited["authors"]],
        "access_right": "open",
        "license": cited["license"],
        "version": cited["version"],
        "publication_date": cited["date-released"],
        "keywords": cited["keywords"],
        "language": "eng",
        "related_identifiers": links + papers,
    }
    return as_json(document)


def crate(
    cited: dict[str, Any], exhibits: list[Made], described: dict[str, dict[str, Any]], commit: str
) -> str:
    """``ro-crate-metadata.json``.

    Parameters
    ----------
    cited : dict
        As `citation` gives it.
    exhibits : list of Made
    described : dict
        Size and SHA-256 of the archive's files, by name.
    commit : str
        The commit that the archive is made of.
    """
    there = {*described, "SHA256SUMS"}
    files = {name: words for name, words in _WORDS["files"].items() if name in there}
    for entry in exhibits:
        files |= dict.fromkeys(entry.evidence, "Evidence: what was observed of trained models")
        files |= dict.fromkeys(entry.files, entry.words)
    folders = _WORDS["folders"] | {
        f"results/paper/{chapter}/": f"The full run beside {subject.short}"
        for chapter, subject in published.subjects.items()
    }
    folders = {f: words for f, words in folders.items() if any(n.startswith(f) for n in described)}
    parts = [_folder(folder, words, files) for folder, words in folders.items()]
    parts += [_file(name, words, described.get(name, {})) for name, words in files.items()]
    actions = _actions(exhibits)
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": cited["title"],
        "description": cited["abstract"],
        "datePublished": cited["date-released"],
        "version": cited["version"],
        "identifier": {"@id": "#commit"},
        "keywords": cited["keywords"],
        "author": {"@id": "#contributors"},
        "publisher": {"@id": "#contributors"},
        "license": _ids(_licences()),
        "citation": _ids(_papers()),
        "hasPart": _ids(parts),
        "mentions": _ids(actions),
        **({"url": cited["url"]} if "url" in cited else {}),
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": CRATE},
        "about": {"@id": "./"},
    }
    context = [*_papers(), *_licences(), *_about(cited, commit), *actions]
    return as_json({"@context": f"{CRATE}/context", "@graph": [descriptor, root, *parts, *context]})


def _made_by(chapter: str) -> list[Made]:
    settings = settings_class(chapter).from_values({"profile": "paper"})
    exhibits, root = declared(chapter), paths.project_root()
    source = Source(settings, exhibits, gather=False)
    entries = []
    for exhibit in exhibits:
        base = location(exhibit.id, chapter, "paper")
        candidates = [base.with_suffix(suffix) for suffix in SUFFIXES]
        files = tuple(p.relative_to(root).as_posix() for p in candidates if p.is_file())
        if source.lacks(exhibit):
            entries.append(Made(exhibit, files, (), _run_command(settings)))
        else:
            names = exhibit.evidence(settings)
            evidence = tuple(f"results/paper/{chapter}/{stem}{SUFFIX}" for stem in names)
            entries.append(Made(exhibit, files, evidence, f"membership recompute {chapter}"))
    return entries


def _run_command(settings: Any) -> str:
    """The command of a chapter's full run, with what its record says was not the profile's.

    That run made the exhibits whose evidence is not kept.
    """
    words = ["membership", "run", settings.chapter, "--profile", "paper"]
    record, defaults = run_record_path(settings.chapter, "paper"), settings.parameters()
    if record.is_file():
        parameters = json.loads(record.read_text(encoding="utf-8"))["parameters"]
        for key, value in parameters.items():
            if key in defaults and key not in INCIDENTAL and value != defaults[key]:
                text = value if isinstance(value, str) else json.dumps(value)
                words += ["-p", key, text]
    return shlex.join(words)


def _recipe(exhibit_id: str) -> dict[str, str]:
    page = recipe(exhibit_id)
    return {"recipe": f"book/{page}.md"} if page else {}


def as_json(whole: dict[str, Any]) -> str:
    """As JSON to read, keys in the order given."""
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _folder(folder: str, words: str, files: dict[str, str]) -> dict[str, Any]:
    entity = {"@id": folder, "@type": "Dataset", "name": folder, "description": words}
    names = [name for name in files if name.startswith(folder)]
    return {**entity, **({"hasPart": _ids(names)} if names else {})}


def _file(name: str, words: str, described: dict[str, Any]) -> dict[str, Any]:
    suffix = name[name.rfind(".") :] if "." in name else ""
    return {
        "@id": name,
        "@type": "File",
        "name": name.rpartition("/")[2],
        "description": words,
        "encodingFormat": _WORDS["formats"].get(suffix, "text/plain"),
        **(_SCRIPT if name == _PROGRAM else {}),
        **described,
    }


def _papers() -> list[dict[str, Any]]:
    return [
        {
            "@id": paper.url,
            "@type": "ScholarlyArticle",
            "name": paper.title,
            "author": list(paper.authors),
            "datePublished": str(paper.year),
        }
        for paper in published.papers.values()
    ]


def _licences() -> list[dict[str, Any]]:
    return [
        {"@id": url, "@type": "CreativeWork", "name": words, "description": f"For {scope}"}
        for url, (words, scope) in _WORDS["licences"].items()
    ]


def _about(cited: dict[str, Any], commit: str) -> list[dict[str, Any]]:
    """Who made it, in which language, from which commit."""
    (author,) = cited["authors"]
    return [
        {"@id": "#contributors", "@type": "Organization", "name": author["name"]},
        {
            "@id": "#commit",
            "@type": "PropertyValue",
            "name": "git commit",
            "propertyID": "git commit",
            "value": commit,
        },
        {
            "@id": _PYTHON,
            "@type": "ComputerLanguage",
            "name": "Python",
            "url": _PYTHON,
            "version": cited["requires-python"],
        },
    ]


def _actions(exhibits: list[Made]) -> list[dict[str, Any]]:
    """One for each command: what it reads of the archive, and what it makes."""
    actions = []
    commands = dict.fromkeys(entry.command for entry in exhibits if entry.files)
    for number, command in enumerate(commands, 1):
        entries = [entry for entry in exhibits if entry.command == command]
        evidence = dict.fromkeys(file for entry in entries for file in entry.evidence)
        actions.append(
            {
                "@id": f"#command-{number}",
                "@type": "CreateAction",
                "name": command,
                "instrument": _ids([_PROGRAM]),
                **({"object": _ids(evidence)} if evidence else {}),
                "result": _ids(file for entry in entries for file in entry.files),
            }
        )
    return actions


def _ids(entities: Iterable[str | dict[str, Any]]) -> list[dict[str, str]] | dict[str, str]:
    """References to entities, or the one reference where there is one, as RO-Crate has it."""
    references = [
        {"@id": entity if isinstance(entity, str) else entity["@id"]} for entity in entities
    ]
    return references[0] if len(references) == 1 else references
