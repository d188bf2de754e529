"""The card under an exhibit: numbers side by side, and how to cite, download and check them."""

from html import escape

from membership.exhibits import pivots, tables
from membership.exhibits.details import details
from membership.exhibits.listing import name
from membership.exhibits.rows import side_by_side
from membership.exhibits.runs import Run


def html(exhibit_id: str, runs: list[Run]) -> str:
    """The card as HTML.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    runs : list of Run
        The reader's own run last; the committed paper-size run before it, where there is one.

    Returns
    -------
    str
        One ``div.exhibit-card`` without styles or scripts; every text is escaped.
    """
    parts = [
        *_paper_figure(runs),
        *_numbers(name(exhibit_id), runs),
        *_rule(runs),
        *_remarks(runs),
        details(exhibit_id, runs),
    ]
    return "\n".join(['<div class="exhibit-card">', *parts, "</div>"])


def text(exhibit_id: str, runs: list[Run]) -> str:
    """The card in a few lines of plain text, for where no HTML is shown."""
    lines = [f"{name(exhibit_id)} ({exhibit_id})"]
    for run in runs:
        verdicts = run.verdicts
        counts = [f"{word}: {verdicts.count(word)}" for word in tables.SYMBOLS if word in verdicts]
        lines.append(f"{run.heading}: {', '.join([*counts, run.files['CSV']])}")
    return "\n".join(lines)


def _paper_figure(runs: list[Run]) -> list[str]:
    """The committed run's figure; the reader's own stands above the card."""
    paper = runs[0]
    if len(runs) == 1 or not paper.linked or "SVG" not in paper.files:
        return []
    source, alt = escape(paper.files["SVG"]), escape(paper.record["content"])
    return [
        f'<figure class="exhibit-paper-figure"><img src="{source}" alt="{alt}">'
        "<figcaption>The same figure from the paper-size run (committed)</figcaption></figure>"
    ]


def _is_drawn(runs: list[Run]) -> bool:
    return any(run.is_drawn for run in runs)


def _is_pivoted(runs: list[Run]) -> bool:
    found = [run.entries for run in runs]
    return bool(found[-1]) and not _is_drawn(runs) and pivots.is_long(found)


def _numbers(title: str, runs: list[Run]) -> list[str]:
    """The numbers of all runs in one list, or, where there are many, in a pivot a run."""
    if _is_drawn(runs):
        return []
    if _is_pivoted(runs):
        return [part for run in runs if run.entries for part in _pivot(title, run)]
    if runs[-1].entries:
        judged = any(run.record["comparison"] for run in runs)
        rows = side_by_side([run.entries for run in runs])
        table = tables.listed(title, [run.heading for run in runs], rows, judged=judged)
    else:
        table = tables.as_it_is(title, runs[-1].table)
    return [tables.scrolling(f"{title}: numbers", table)]


def _pivot(title: str, run: Run) -> list[str]:
    caption = f"{title}: {run.heading}"
    table = tables.scrolling(caption, tables.pivoted(caption, pivots.pivot(run.entries)))
    if not run.record["comparison"]:
        return [table]
    counted = pivots.summary(run.verdicts, run.record["deviations"])
    return [_paragraph(run, counted), table]


def _rule(runs: list[Run]) -> list[str]:
    """What counts as agreement, where anything was found to agree or to differ."""
    judged = [run for run in runs if {"agrees", "differs"} & set(run.verdicts)]
    if not judged:
        return []
    tolerance = judged[-1].record["tolerance"]
    near = f", or within {tolerance:g} of the regenerated one" if tolerance else ""
    return [
        '<p class="exhibit-note"><strong>Agrees</strong>: the published value lies inside the '
        f"95% interval{near}.</p>"
    ]


def _remarks(runs: list[Run]) -> list[str]:
    """How each run was set up, where it departs from the paper, and where its numbers are."""
    remarks = [(run, " ".join(_remark(run, runs))) for run in runs]
    return [_paragraph(run, remark) for run, remark in remarks if remark]


def _remark(run: Run, runs: list[Run]) -> list[str]:
    remarks = []
    if _is_drawn(runs):
        remarks.append(f"The {len(run.table):,} rows behind the figure are in the CSV.")
    if run.record["note"]:
        remarks.append(run.record["note"])
    if len(runs) > 1:
        remarks.append(_sizes(run, runs))
    # Where nothing is comparable, the line above a pivot gives them as the reason.
    told = _is_pivoted(runs) and "not comparable" in run.verdicts
    if run.record["deviations"] and not told:
        remarks.append(f"Differs from the paper: {'; '.join(run.record['deviations'])}.")
    return remarks


def _sizes(run: Run, runs: list[Run]) -> str:
    """The parameters in which the runs differ; all of them stand under provenance."""
    own = run.record["parameters"]
    different = [
        f"{key} {value}"
        for key, value in own.items()
        if value != "" and any(other.record["parameters"].get(key) != value for other in runs)
    ]
    sizes = f" with {'; '.join(different)}" if different else ""
    return f"Run on {run.record['device'] or 'a device not stated'}{sizes}."


def _paragraph(run: Run, words: str) -> str:
    return f'<p class="exhibit-note"><strong>{escape(run.title)}.</strong> {escape(words)}</p>'
