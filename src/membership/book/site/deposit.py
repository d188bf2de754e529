"""What codecheckers, Zenodo and RO-Crate's readers find in the archive."""

import json
import shlex
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from membership import paths
from membership.book import home, published
from membership.book.exhibits.declaration import Exhibit, declared
from membership.book.exhibits.files import SUFFIXES, location
from membership.book.exhibits.listing import name, recipe
from membership.book.exhibits.source import SUFFIX, Source
from membership.book.running.chapter_files import chapters, run_record_path, settings_class
from membership.book.settings import INCIDENTAL
from membership.errors import InputError, extra

CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"
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
    return {**cff, **home.cited(), "requires-python": project["requires-python"]}


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
    with extra("book"):
        from rocrate.rocrate import ROCrate
    whole = ROCrate(version="1.2")
    facts = {
        "name": cited["title"],
        "description": cited["abstract"],
        "datePublished": cited["date-released"],
        "version": cited["version"],
        "keywords": cited["keywords"],
        "url": cited.get("url"),
        **_about(whole, cited, commit),
    }
    _add_files(whole, exhibits, described)
    facts["mentions"] = [
        whole.add_action(
            whole.get(_PROGRAM),
            f"#command-{number}",
            object=[whole.get(file) for file in dict.fromkeys(_evidence(entries))],
            result=[whole.get(file) for entry in entries for file in entry.files],
            properties={"name": command},
        )
        for number, (command, entries) in enumerate(_by_command(exhibits).items(), 1)
    ]
    for key, fact in facts.items():
        if fact:
            whole.root_dataset[key] = fact
    return as_json(whole.metadata.generate())


def _about(whole: Any, cited: dict[str, Any], commit: str) -> dict[str, Any]:
    """Who made it, from which commit and under which licences, and the papers that it is about."""
    from rocrate.model import ContextEntity

    def enter(identity: str, kind: str, **facts: Any) -> Any:
        return whole.add(ContextEntity(whole, identity, {"@type": kind, **facts}))

    author = enter("#contributors", "Organization", name=cited["authors"][0]["name"])
    enter(
        _PYTHON,
        "ComputerLanguage",
        name="Python",
        url=_PYTHON,
        version=cited["requires-python"],
    )
    named = {"name": "git commit", "propertyID": "git commit", "value": commit}
    papers = [
        enter(
            paper.url,
            "ScholarlyArticle",
            name=paper.title,
            author=list(paper.authors),
            datePublished=str(paper.year),
        )
        for paper in published.papers.values()
    ]
    licences = [
        enter(url, "CreativeWork", name=words, description=f"For {scope}")
        for url, (words, scope) in _WORDS["licences"].items()
    ]
    return {
        "identifier": enter("#commit", "PropertyValue", **named),
        "author": author,
        "publisher": author,
        "license": licences,
        "citation": papers,
    }


def _add_files(whole: Any, exhibits: list[Made], described: dict[str, dict[str, Any]]) -> None:
    """What lies in the archive, and the folders of it that have words of their own."""
    there = {*described, "SHA256SUMS"}
    files = {name: words for name, words in _WORDS["files"].items() if name in there}
    for entry in exhibits:
        files |= dict.fromkeys(entry.evidence, "Evidence: what was observed of trained models")
        files |= dict.fromkeys(entry.files, entry.words)
    for file, words in files.items():
        facts = {
            "name": file.rpartition("/")[2],
            "description": words,
            "encodingFormat": _WORDS["formats"].get(file[file.rfind(".") :], "text/plain"),
            **(_SCRIPT if file == _PROGRAM else {}),
        }
        whole.add_file(dest_path=file, properties={**facts, **described.get(file, {})})
    folders = _WORDS["folders"] | {
        f"results/paper/{chapter}/": f"The full run beside {subject.short}"
        for chapter, subject in published.subjects.items()
    }
    for folder, words in folders.items():
        inside = [whole.get(file) for file in files if file.startswith(folder)]
        if inside or any(file.startswith(folder) for file in described):
            entity = whole.add_dataset(
                dest_path=folder, properties={"name": folder, "description": words}
            )
            if inside:
                entity["hasPart"] = inside


def _evidence(exhibits: list[Made]) -> list[str]:
    return [file for entry in exhibits for file in entry.evidence]


def _by_command(exhibits: list[Made]) -> dict[str, list[Made]]:
    """The exhibits of each command that has made any file."""
    commands = dict.fromkeys(entry.command for entry in exhibits if entry.files)
    return {one: [entry for entry in exhibits if entry.command == one] for one in commands}


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
