"""What codecheckers and archives read: codecheck.yml, ro-crate-metadata.json and .zenodo.json."""

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
CRATE = "https://w3id.org/ro/crate/1.2"
_LICENCES = {
    "https://spdx.org/licenses/MIT": ("MIT License", "the code"),
    "https://spdx.org/licenses/CC-BY-4.0": ("CC BY 4.0", "the book's text, figures and tables"),
}
_FORMATS = {
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".html": "text/html",
    SUFFIX: "application/octet-stream",
}
_FOLDERS = {
    "site/": "The book as a website: open site/index.html, no network is needed",
    "src/membership/": "The package: attacks, bounds, exhibits and the pipeline",
    "notebooks/": "The chapters as text notebooks",
    "tests/": "The tests",
}
_FILES = {
    "CITATION.cff": "How to cite the companion",
    "LICENSE": "The licences of code and text",
    "README.md": "What this is, and how to run it",
    "SHA256SUMS": "The SHA-256 of every other file: sha256sum --check SHA256SUMS",
    "codecheck.yml": "Every exhibit's files and the command that makes them",
    "requirements.lock": "The environment at exact versions",
    "site/index.html": "The first page of the book",
}


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
    return [one for chapter in published.papers if chapter in known for one in _of(chapter)]


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
    return _json(whole)


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
    files = {name: words for name, words in _FILES.items() if name == "SHA256SUMS"}
    files |= {name: words for name, words in _FILES.items() if name in described}
    for one in exhibits:
        files |= dict.fromkeys(one.evidence, "Evidence: what was observed of trained models")
        files |= dict.fromkeys(one.files, one.words)
    folders = _FOLDERS | {
        f"results/paper/{chapter}/": f"The paper-size run beside {paper.short}"
        for chapter, paper in published.papers.items()
    }
    folders = {f: words for f, words in folders.items() if any(n.startswith(f) for n in described)}
    parts = [_folder(folder, words, cited) for folder, words in folders.items()]
    parts += [_file(name, words, described.get(name, {})) for name, words in files.items()]
    context = [*_papers(), *_licences(), _contributors(cited), *_actions(exhibits)]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": cited["title"],
        "description": cited["abstract"],
        "datePublished": cited["date-released"],
        "version": cited["version"],
        "identifier": f"commit {commit}",
        "keywords": cited["keywords"],
        "author": {"@id": "#contributors"},
        "publisher": {"@id": "#contributors"},
        "license": [{"@id": one} for one in _LICENCES],
        "citation": [{"@id": paper.url} for paper in published.papers.values()],
        "hasPart": [{"@id": one["@id"]} for one in parts],
        "mentions": [{"@id": one["@id"]} for one in _actions(exhibits)],
        **{key: cited[key] for key in ("url",) if key in cited},
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": CRATE},
        "about": {"@id": "./"},
    }
    return _json({"@context": f"{CRATE}/context", "@graph": [descriptor, root, *parts, *context]})


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


def _folder(folder: str, words: str, cited: dict[str, Any]) -> dict[str, Any]:
    whole = {"@id": folder, "@type": "Dataset", "name": folder, "description": words}
    if folder.startswith("src/"):
        whole |= {
            "@type": ["Dataset", "SoftwareSourceCode"],
            "programmingLanguage": "Python",
            "runtimePlatform": f"Python {cited['requires-python']}",
            "version": cited["version"],
        }
    return whole


def _file(name: str, words: str, described: dict[str, Any]) -> dict[str, Any]:
    suffix = name[name.rfind(".") :] if "." in name else ""
    return {
        "@id": name,
        "@type": "File",
        "name": name.rpartition("/")[2],
        "description": words,
        "encodingFormat": _FORMATS.get(suffix, "text/plain"),
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
        {"@id": url, "@type": "CreativeWork", "name": words, "description": f"For {what}"}
        for url, (words, what) in _LICENCES.items()
    ]


def _contributors(cited: dict[str, Any]) -> dict[str, Any]:
    (author,) = cited["authors"]
    return {"@id": "#contributors", "@type": "Organization", "name": author["name"]}


def _actions(exhibits: list[Made]) -> list[dict[str, Any]]:
    """One for each command: what it reads of the archive, and what it makes."""
    whole = []
    for number, command in enumerate(dict.fromkeys(o.command for o in exhibits if o.files), 1):
        own = [one for one in exhibits if one.command == command]
        read = dict.fromkeys(each for one in own for each in one.evidence)
        whole.append(
            {
                "@id": f"#command-{number}",
                "@type": "CreateAction",
                "name": command,
                "instrument": {"@id": "src/membership/"},
                "object": [{"@id": each} for each in read],
                "result": [{"@id": each} for one in own for each in one.files],
            }
        )
    return whole


def _json(whole: dict[str, Any]) -> str:
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
