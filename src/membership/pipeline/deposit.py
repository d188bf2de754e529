"""What codecheckers and Zenodo read: codecheck.yml and .zenodo.json."""

import json
import shlex
import tomllib
from dataclasses import dataclass
from typing import Any

import yaml

from membership import paths, published
from membership.errors import InputError
from membership.exhibits.declaration import Exhibit, declared
from membership.exhibits.files import SUFFIXES, location
from membership.exhibits.listing import name
from membership.exhibits.source import SUFFIX, Source
from membership.exhibits.standing import recipe
from membership.pipeline.layout import chapters, run_record_path, settings_class
from membership.settings import INCIDENTAL

CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"


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
    return [one for chapter in published.subjects if chapter in known for one in _of(chapter)]


def citation() -> dict[str, Any]:
    """What ``CITATION.cff`` says, and of ``pyproject.toml`` which Python is needed."""
    root = paths.project_root()
    try:
        said = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error
    return {**said, "requires-python": project["requires-python"]}


def codecheck(cited: dict[str, Any], exhibits: list[Made]) -> str:
    """``codecheck.yml``, as its authors write it; a codechecker adds certificate and report."""
    whole = {
        "version": CODECHECK,
        "paper": {
            "title": cited["title"],
            "authors": [{"name": author["name"]} for author in cited["authors"]],
            **({"reference": cited["url"]} if "url" in cited else {}),
        },
        **({"repository": cited["repository-code"]} if "repository-code" in cited else {}),
        "manifest": [
            {"file": file, "comment": one.words, "command": one.command}
            for one in exhibits
            for file in one.files
            if not file.endswith(".json")
        ],
        "membership_not_run": [
            {"exhibit": one.exhibit.id, "comment": one.words, **_recipe(one.exhibit.id)}
            for one in exhibits
            if not one.files
        ],
    }
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100)
    return f"%YAML 1.1\n---\n{text}"


def zenodo(cited: dict[str, Any]) -> str:
    """``.zenodo.json``: what Zenodo fills its form with."""
    papers = [
        {"identifier": paper.url, "relation": "references", "resource_type": "publication-article"}
        for paper in published.papers.values()
    ]
    own = [
        {"identifier": cited[key], "relation": relation}
        for key, relation in (("url", "isDocumentedBy"), ("repository-code", "isDerivedFrom"))
        if key in cited
    ]
    whole = {
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
        "related_identifiers": own + papers,
    }
    return as_json(whole)


def _of(chapter: str) -> list[Made]:
    settings = settings_class(chapter).from_values({"profile": "paper"})
    exhibits, root = declared(chapter), paths.project_root()
    source = Source(settings, exhibits, gather=False)
    found = []
    for one in exhibits:
        place = location(one.id, chapter, "paper")
        lying = [place.with_suffix(suffix) for suffix in SUFFIXES]
        files = tuple(p.relative_to(root).as_posix() for p in lying if p.is_file())
        if source.lacks(one):
            found.append(Made(one, files, (), _run(settings)))
        else:
            names = one.evidence(settings)
            evidence = tuple(f"results/paper/{chapter}/{each}{SUFFIX}" for each in names)
            found.append(Made(one, files, evidence, f"membership recompute {chapter}"))
    return found


def _run(settings: Any) -> str:
    """The command of a chapter's paper-size run, with what its record says was not the profile's.

    That run made the exhibits whose evidence is not kept.
    """
    words = ["membership", "run", settings.chapter, "--profile", "paper"]
    record, usual = run_record_path(settings.chapter, "paper"), settings.parameters()
    if record.is_file():
        given = json.loads(record.read_text(encoding="utf-8"))["parameters"]
        for key, value in given.items():
            if key in usual and key not in INCIDENTAL and value != usual[key]:
                text = value if isinstance(value, str) else json.dumps(value)
                words += ["-p", key, text]
    return shlex.join(words)


def _recipe(exhibit_id: str) -> dict[str, str]:
    page = recipe(exhibit_id)
    return {"recipe": f"book/{page}.md"} if page else {}


def as_json(whole: dict[str, Any]) -> str:
    """As JSON to read, keys in the order given."""
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
