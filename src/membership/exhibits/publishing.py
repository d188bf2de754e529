"""Publishing an exhibit: save it with its provenance, show it in the notebook."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from membership import paths
from membership.errors import InputError
from membership.exhibits import card, files, record
from membership.exhibits.listing import name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {"CSV": ".csv", "SVG": ".svg", "PDF": ".pdf", "JSON": ".json"}


def publish(
    exhibit_id: str,
    table: pd.DataFrame,
    settings: record.Settings,
    draw: "Callable[[pd.DataFrame], Figure] | None" = None,
    comparison: pd.DataFrame | None = None,
) -> None:
    """Save an exhibit and, in a notebook, show it.

    Writes ``<results>/<profile>/<chapter>/<id>.{csv,json}`` and, for a figure, ``.{svg,pdf}``:
    all of them or none. A figure is shown alone; call `show_card` in the next cell, since the
    book makes every output of a cell that has a caption into a numbered figure. Without a
    figure the card is shown at once. Outside a notebook nothing is shown.

    Parameters
    ----------
    exhibit_id : str
        An id of `catalogue`.
    table : pandas.DataFrame
        The tidy table; its ``attrs`` state ``data``, ``deviations``, ``comparable``, ``device``.
    settings : Settings
        The chapter's resolved settings.
    draw : callable, optional
        Makes a matplotlib figure of the table.
    comparison : pandas.DataFrame, optional
        What `membership.published.compare` made of the table.

    Raises
    ------
    InputError
        The exhibit is unknown or another chapter's, the table is empty or lacks attributes, or
        the results folder cannot be written to.
    """
    if table.empty:
        raise InputError(f"the table of {exhibit_id!r} is empty; give at least one row")
    csv = files.csv_bytes(table)
    described = record.build(exhibit_id, table, csv, settings, comparison)
    contents = {".csv": csv, ".json": files.json_bytes(described)}
    if draw is not None:
        contents |= _drawn(draw, table)
    target = files.location(exhibit_id, settings.chapter, settings.profile, settings.results_dir)
    files.write_together(target, contents)
    if draw is None:
        show_card(exhibit_id, settings)
    else:
        _display(
            {"image/svg+xml": contents[".svg"].decode(), "text/plain": name(exhibit_id)},
        )


def show_card(exhibit_id: str, settings: record.Settings) -> None:
    """Show the card of an exhibit that this run has published, in a notebook.

    Parameters
    ----------
    exhibit_id : str
        An id of `catalogue`.
    settings : Settings
        The settings it was published with.

    Raises
    ------
    InputError
        It has not been published, or its files cannot be read.
    """
    if not _in_notebook():
        return
    own = _run(exhibit_id, settings.profile, settings.results_dir, "this run")
    if own is None:
        raise InputError(
            f"{exhibit_id!r} has no results for profile {settings.profile!r}; publish it first"
        )
    committed = None
    if settings.profile != "paper" or not _is_project_results(settings.results_dir):
        committed = _run(exhibit_id, "paper", "", "paper-size run (committed)")
    runs = [run for run in (committed, own) if run is not None]
    _display(
        {"text/html": card.html(exhibit_id, runs), "text/plain": card.text(exhibit_id, runs)},
    )


def _drawn(draw: "Callable[[pd.DataFrame], Figure]", table: pd.DataFrame) -> dict[str, bytes]:
    # Here and not above: what only lists or checks exhibits should not wait for matplotlib.
    from membership import plots

    with plots.style():
        figure = draw(table)
        return {f".{kind}": plots.save_bytes(figure, kind) for kind in ("svg", "pdf")}


def _run(exhibit_id: str, profile: str, results_dir: str, kind: str) -> card.Run | None:
    found = files.load(exhibit_id, profile, results_dir)
    if found is None:
        return None
    table, described = found
    chapter = described["chapter"]
    target = files.location(exhibit_id, chapter, profile, results_dir)
    linked = _is_project_results(results_dir)
    places = {label: target.with_suffix(suffix) for label, suffix in _LABELS.items()}
    addresses = {
        label: f"../../results/{profile}/{chapter}/{path.name}" if linked else str(path)
        for label, path in places.items()
        if path.is_file()
    }
    return card.Run(
        f"{kind}, {profile}" if kind == "this run" else kind, table, described, addresses, linked
    )


def _is_project_results(results_dir: str) -> bool:
    """Whether the built site carries a copy of this folder."""
    return not results_dir or Path(results_dir).resolve() == paths.results_dir().resolve()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _display(bundle: dict[str, str]) -> None:
    if _in_notebook():
        from IPython.display import display

        display(bundle, raw=True)
