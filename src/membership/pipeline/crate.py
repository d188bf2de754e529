"""What RO-Crate's readers find in the archive: ro-crate-metadata.json."""

from collections.abc import Iterable
from typing import Any

from membership import published
from membership.exhibits.source import SUFFIX
from membership.pipeline.deposit import Made, as_json

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
# What the command `membership` starts.
_PROGRAM = "src/membership/__main__.py"
_PYTHON = "https://www.python.org/"
_SCRIPT = {"@type": ["File", "SoftwareSourceCode"], "programmingLanguage": {"@id": _PYTHON}}
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
    _PROGRAM: "The command `membership`, which makes every exhibit",
}


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
    files = {name: words for name, words in _FILES.items() if name in {*described, "SHA256SUMS"}}
    for one in exhibits:
        files |= dict.fromkeys(one.evidence, "Evidence: what was observed of trained models")
        files |= dict.fromkeys(one.files, one.words)
    folders = _FOLDERS | {
        f"results/paper/{chapter}/": f"The paper-size run beside {subject.short}"
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


def _folder(folder: str, words: str, files: dict[str, str]) -> dict[str, Any]:
    whole = {"@id": folder, "@type": "Dataset", "name": folder, "description": words}
    within = [name for name in files if name.startswith(folder)]
    return {**whole, **({"hasPart": _ids(within)} if within else {})}


def _file(name: str, words: str, described: dict[str, Any]) -> dict[str, Any]:
    suffix = name[name.rfind(".") :] if "." in name else ""
    return {
        "@id": name,
        "@type": "File",
        "name": name.rpartition("/")[2],
        "description": words,
        "encodingFormat": _FORMATS.get(suffix, "text/plain"),
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
        {"@id": url, "@type": "CreativeWork", "name": words, "description": f"For {what}"}
        for url, (words, what) in _LICENCES.items()
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
    whole = []
    for number, command in enumerate(dict.fromkeys(o.command for o in exhibits if o.files), 1):
        own = [one for one in exhibits if one.command == command]
        read = dict.fromkeys(each for one in own for each in one.evidence)
        whole.append(
            {
                "@id": f"#command-{number}",
                "@type": "CreateAction",
                "name": command,
                "instrument": _ids([_PROGRAM]),
                **({"object": _ids(read)} if read else {}),
                "result": _ids(each for one in own for each in one.files),
            }
        )
    return whole


def _ids(entities: Iterable[str | dict[str, Any]]) -> list[dict[str, str]] | dict[str, str]:
    """References to entities, or the one reference where there is one, as RO-Crate has it."""
    found = [{"@id": one if isinstance(one, str) else one["@id"]} for one in entities]
    return found[0] if len(found) == 1 else found
