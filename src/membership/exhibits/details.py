"""The folded part of a card: how to cite, download and check an exhibit."""

from html import escape
from typing import Any

from membership import published
from membership.exhibits.citation import bibtex
from membership.exhibits.runs import Run


def details(exhibit_id: str, runs: list[Run]) -> str:
    """The folded part of a card, for the runs it shows; the last is the one that is cited."""
    record = runs[-1].record
    own, paper = bibtex(exhibit_id, record), published.bibtex(record["chapter"])
    return "\n".join(
        [
            '<details class="exhibit-details">',
            "<summary>Cite, download, provenance</summary>",
            _entry("Cite this exhibit", f"BibTeX of {exhibit_id}", own),
            _entry("Cite the paper", f"BibTeX of the paper, for {exhibit_id}", paper),
            *[_files(run) for run in runs],
            *[_provenance(run) for run in runs],
            "</details>",
        ]
    )


def _entry(heading: str, label: str, entry: str) -> str:
    return (
        f'<p class="exhibit-heading">{escape(heading)}</p>\n'
        f'<pre class="exhibit-bibtex" tabindex="0" role="group" aria-label="{escape(label)}">'
        f"{escape(entry)}</pre>"
    )


def _files(run: Run) -> str:
    items = [
        f'<a href="{escape(place)}">{escape(label)}</a>'
        if run.linked
        else f"{escape(label)}: <code>{escape(place)}</code>"
        for label, place in run.files.items()
    ]
    listed = "".join(f"<li>{item}</li>" for item in items)
    return (
        f'<p class="exhibit-heading">Download: {escape(run.heading)}</p>\n'
        f'<ul class="exhibit-files">{listed}</ul>'
    )


def _provenance(run: Run) -> str:
    record = run.record
    facts = {
        "parameters": _listed(record["parameters"]),
        "seed": str(record["seed"]),
        "device": record["device"] or "not stated",
        "data": _listed(record["data"]) or "simulated",
        "commit": record["commit"] or "not run from a checkout",
        "code (SHA-256)": record["code_sha256"],
        "versions": _listed(record["versions"]),
    }
    if record.get("timing"):
        facts["wall times"] = "measured in this run; a second run gives others"
    items = "".join(f"<dt>{escape(key)}</dt><dd>{escape(fact)}</dd>" for key, fact in facts.items())
    return (
        f'<p class="exhibit-heading">Provenance: {escape(run.heading)}</p>\n'
        f'<dl class="exhibit-provenance">{items}</dl>'
    )


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
