"""What scores prove: the report of an audit as plain values, as one HTML page, and as files."""

import hashlib
import json
import shlex
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from scipy import special

import membership
from membership import installation, markup, metrics, paths
from membership.audit import design, named, promises, sentences
from membership.audit.asked import Asked
from membership.audit.reading import Scored, Several, read_scores
from membership.errors import InputError
from membership.metrics import auc_interval, tpr_interval
from membership.metrics.roc import flagged

FORMAT = "membership-audit-1"
"""What `audit.schema.json`, published with the site, describes."""
HTML, JSON = "audit.html", "audit.json"
RATES = (0.001, 0.01, 0.1)
PRIORS = (0.5, 0.1, 0.01)
MOST_EXPOSED = 20
LEAST_IN_GROUP = 10
OF_GROUPS = 0.01
"""Share of all non-members that the one threshold accuses at which groups are told apart."""
CARRIED = 10
"""False positives that a rate must let one expect before its TPR is called measured."""
A_DECADE = 8
"""Points of a curve in each power of ten, which are among them as the rates of the tables are."""
MOST_CURVES = 6
HEIGHT = 3.2
"""Inches of a figure: enough for three powers of ten to be told apart."""


def audit(scored: Scored, asked: Asked) -> dict:
    """The report of one attack on one model, see `membership.audit.audit`."""
    score, member, level = scored.score, scored.member, asked.level
    whole = scored.unit is not None
    one = "unit" if whole else "record"
    proved = design.proved([(score, member)], asked.paid, asked.delta, asked.design, one=one)
    proved |= promises.held(asked.promised, proved, asked.delta, 1, whole)
    rates = [rate(score, member, fpr, level) for fpr in RATES]
    groups = [] if scored.group is None else np.unique(scored.group)
    noted = sentences.notes_of_scores(scored, level)
    digest = hashlib.sha256(score.tobytes() + member.tobytes()).hexdigest()
    who = {**named.named(scored, asked.fdr), "own_rate": named.NO_RATE}
    group_level = 1 - (1 - level) / max(len(groups), 1)
    measured = {
        "auc": area(score, member, level),
        "tpr_at_fpr": rates,
        "positive_predictive_value": [_value(rate, p) for rate in rates for p in PRIORS],
        "groups": _groups(scored, group_level),
    }
    return {
        "format": FORMAT,
        "provenance": made_from({"arrays": digest}, columns=[scored.column]),
        "level": level,
        "records": {"members": int(member.sum()), "non_members": int((~member).sum())},
        **of_units(scored),
        **measured,
        **proved,
        "group_level": group_level,
        "named": who,
        "most_exposed": _most_exposed(scored),
        "meaning": sentences.meaning_of_one(measured, proved, who["sentence"], whole),
        "checklist": sentences.checklist_of_scores(
            **sentences.known(scored, len(noted) > len(sentences.not_read(scored.not_read))),
            coins=asked.design == design.COINS,
        ),
        "warnings": noted,
    }


def of_units(scored: Scored | Several) -> dict[str, Any]:
    """How many records were taken together as how many units; nothing where none were."""
    if scored.unit is None:
        return {}
    return {"units": {"records": scored.asked, "units": scored.member.size}}


def made_from(inputs: dict[str, str], **settings: Any) -> dict[str, Any]:
    """Edition, code, day, digests of the inputs, settings; two runs on one day make the same."""
    return {
        "version": membership.__version__,
        "commit": installation.git_commit() or None,
        "code_sha256": installation.code_digest(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": None,
        "inputs": [{"name": name, "sha256": digest} for name, digest in inputs.items()],
        **settings,
    }


def by_command(
    report: dict[str, Any], file: Path, digest: str, options: dict[str, Any]
) -> dict[str, Any]:
    """The report with the file and the command, without its folders, in its provenance."""
    name = file.name.encode(errors="replace").decode()  # a file's name need not be UTF-8
    given = [
        f"--{option.replace('_', '-')}={one}"
        for option, value in options.items()
        for one in (value if isinstance(value, tuple) else (value,))
    ]
    made = {
        "command": shlex.join(["membership", "audit", name, *given]),
        "inputs": [{"name": name, "sha256": digest}],
    }
    return {**report, "provenance": {**report["provenance"], **made}}


def write(report: dict, scored: Any, folder: Path | str, title: str) -> list[Path]:
    """Write a report as ``audit.html``, which needs nothing beside it, and ``audit.json``.

    Parameters
    ----------
    report : dict
        From `audit` or `compare`.
    scored : Scored, Several, data frame, mapping or None
        What `audit` took, for the ROC curve; None where the report is of evidence.
    folder : Path or str
        Made where it is missing.
    title : str
        What was audited.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError, RunError
        The scores are others than the report's, the folder cannot be written to, or the disk is
        full.
    """
    folder = Path(folder)
    if "attacks" in report:
        scored = None  # The report has the curves.
    else:
        if not isinstance(scored, Scored | Several):
            scored = read_scores(scored, report["provenance"].get("columns", ()))
        _require_own(report, scored)
    paths.require_writable(folder)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    files = {folder / HTML: _html(report, scored, title), folder / JSON: text}
    # A file's name need not be UTF-8.
    paths.atomic_write_all({file: one.encode(errors="replace") for file, one in files.items()})
    return [*files]


def _require_own(report: dict, scored: Scored | Several) -> None:
    """Raise an InputError where the curve of these scores is not that of the report."""
    if isinstance(scored, Several):
        raise InputError(
            f"scored: several attacks or targets ({', '.join(scored.score)}); give one"
        )
    score, member = scored.score, scored.member
    told = {f"TPR at {one['fpr']:g}": one["value"] for one in report["tpr_at_fpr"]}
    told |= {"AUC": report["auc"]["value"], **report["records"]}
    found = {f"TPR at {fpr:g}": metrics.tpr_at_fpr(score, member, fpr) for fpr in RATES}
    found |= {"AUC": metrics.auc(score, member)}
    found |= {"members": int(member.sum()), "non_members": int((~member).sum())}
    for name, value in told.items():
        if not np.isclose(value, found[name], rtol=0, atol=1e-9):
            raise InputError(
                f"scored: {name} {found[name]:.6g}, and {value:.6g} in the report; give the scores "
                "that it was made of"
            )


def check_writable(folder: Path) -> None:
    """See that a report can be written to a folder, and write nothing."""
    paths.check_writable(folder)
    for name in (HTML, JSON):
        paths.plain_file(folder / name)


def area(score: np.ndarray, member: np.ndarray, level: float) -> dict[str, float]:
    # In one order, so that no sum is rounded by that of the file.
    order = np.lexsort((member, score))
    score, member = score[order], member[order]
    return _number(metrics.auc(score, member), auc_interval(score, member, level))


def rate(score: np.ndarray, member: np.ndarray, fpr: float, level: float) -> dict[str, Any]:
    return {
        "fpr": fpr,
        **_number(metrics.tpr_at_fpr(score, member, fpr), tpr_interval(score, member, fpr, level)),
        **carried(fpr, int((~member).sum())),
    }


def carried(fpr: float, non_members: int) -> dict[str, Any]:
    """Whether a rate lets one expect enough false positives for its TPR to be called measured."""
    expected = fpr * non_members
    return {"expected_false_positives": expected, "measured": expected >= CARRIED}


def _value(rate: dict[str, Any], prior: float) -> dict[str, float]:
    """The share of members among those accused, where a share `prior` of all are members."""
    found = {
        end: rate[end] * prior / (rate[end] * prior + rate["fpr"] * (1 - prior))
        for end in ("value", "low", "high")
    }
    return {"fpr": rate["fpr"], "prior": prior, **found}


def _groups(scored: Scored, level: float) -> list[dict[str, Any]]:
    """Each group's own AUC, and its rates at the threshold of 1% false positives over all."""
    if scored.group is None:
        return []
    above = flagged(scored.score, scored.member, OF_GROUPS)
    names, place, sizes = np.unique(scored.group, return_inverse=True, return_counts=True)
    rows_of = np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1])
    found = []
    for name, rows in zip(names, rows_of, strict=True):
        score, member = scored.score[rows], scored.member[rows]
        counts = {"members": int(member.sum()), "non_members": int((~member).sum())}
        entry: dict[str, Any] = {"group": str(name), **counts, "auc": None}
        if min(counts.values()) >= LEAST_IN_GROUP:
            entry["auc"] = area(score, member, level)
        for rate, side in (("tpr", member), ("fpr", ~member)):
            entry[rate] = _share(int(above[rows][side].sum()), int(side.sum()), level)
        found.append(entry)
    return found


def _share(count: int, total: int, level: float) -> dict[str, float] | None:
    """A share with the interval of Clopper and Pearson."""
    if not total:
        return None
    error = (1 - level) / 2
    low = special.betaincinv(count, total - count + 1, error) if count else 0.0
    high = special.betainccinv(count + 1, total - count, error) if count < total else 1.0
    return _number(count / total, (float(low), float(high)))


def _most_exposed(scored: Scored) -> list[dict[str, Any]]:
    """The members with the highest scores, each with the share of non-members at least as high."""
    rows = _highest(scored)
    others = np.sort(scored.score[~scored.member])
    above = 1 - np.searchsorted(others, scored.score[rows]) / others.size
    return [
        {
            "record": str(scored.record[row]),
            "score": float(scored.score[row]),
            "fpr": float(share),
            **({} if scored.group is None else {"group": str(scored.group[row])}),
        }
        for row, share in zip(rows, above, strict=True)
    ]


def _highest(scored: Scored) -> np.ndarray:
    """The members with the highest scores; of those that tie the first by name, not by row."""
    rows = np.flatnonzero(scored.member)
    last = np.sort(scored.score[rows])[-MOST_EXPOSED:][0]
    rows = rows[scored.score[rows] >= last]
    names = [str(scored.record[row]) if scored.named else "" for row in rows]
    groups = ["" if scored.group is None else str(scored.group[row]) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: (-scored.score[rows[i]], names[i], groups[i]))
    return rows[order[:MOST_EXPOSED]]


def _number(value: float, interval: tuple[float, float]) -> dict[str, float]:
    return {"value": float(value), "low": interval[0], "high": interval[1]}


def _html(report: dict, scored: Scored | None, title: str) -> str:
    """The page; everything that comes from a file is escaped."""
    if scored is None:
        name, close = "comparison.html", report["strongest"]
        drawing = _roc(_named(close["roc"], "this attack")) if close else ""
        of_all = _of_all(report["attacks"])
    else:
        name, of_all = "audit.html", ""
        drawing = _roc(curve(scored, report["level"]).assign(series="this attack"))
    shared = {"drawing": drawing, "of_all": of_all, "curves": MOST_CURVES}
    return _templates().get_template(name).render(report=report, title=title, **shared)


def curve(scored: Scored, level: float) -> pd.DataFrame:
    """The ROC curve at rates that logarithmic axes show, with the interval of each point."""
    rates = grid(int((~scored.member).sum()))
    band = np.array([tpr_interval(scored.score, scored.member, r, level) for r in rates])
    tpr = metrics.tpr_on(scored.score, scored.member, rates)
    return pd.DataFrame({"fpr": rates, "tpr": tpr, "low": band[:, 0], "high": band[:, 1]})


def grid(non_members: int) -> np.ndarray:
    """False positive rates that logarithmic axes show, from 0.1%, or 0.01% where that is more."""
    decades = 4 if non_members > 1000 else 3
    return np.unique(np.r_[10.0 ** (np.arange(-A_DECADE * decades, 0) / A_DECADE), 0.5, 0.9])


def _named(points: list[dict[str, float]], name: str) -> pd.DataFrame:
    return pd.DataFrame(points).assign(series=name)


def _of_all(attacks: list[dict]) -> str:
    """The curves of the strongest with each kind of references, where there are two attacks."""
    if len(attacks) == 1:
        return ""
    first: dict[str, dict] = {}
    seen = [
        attack for attack in attacks if any(at["tpr"] for at in attack["roc"] if at["fpr"] <= 0.1)
    ]
    for attack in seen or attacks:
        first.setdefault(attack.get("references", attack["name"]), attack)
    shown = [*first.values()][:MOST_CURVES]
    named = [_named(attack["roc"], attack.get("display", attack["name"])) for attack in shown]
    return _roc(pd.concat(named, ignore_index=True))


def _roc(points: pd.DataFrame) -> str:
    """The address of curves on logarithmic axes, with their bands where they have some.

    It holds the whole picture: two that stand in the page itself would share their parts' names.
    """
    # Here and not above: reading a file and refusing it should not wait for matplotlib.
    from membership import plots

    named = points.assign(panel="")
    with plots.style():
        figure = plots.roc_panels(named, floor=float(points["fpr"].min()))
        figure.set_size_inches(figure.get_figwidth(), HEIGHT)
        drawn = plots.save_bytes(figure, "svg")
    return markup.embedded("svg+xml", drawn)


def _percent(rate: float) -> str:
    # More digits of what is about 0 would look exact.
    return "<0.01%" if 0 < rate < 1e-4 else f"{100 * rate:.3g}%"


def _left_out(attacks: list[dict]) -> list[tuple[str, str]]:
    """Attacks that take the same, together, and what that is."""
    names: dict[str, list[str]] = {}
    for attack in attacks:
        names.setdefault(attack["takes"], []).append(attack["display"])
    return [(", ".join(shown), takes) for takes, shown in names.items()]


@cache
def _templates() -> jinja2.Environment:
    environment = markup.templates("membership.audit")
    environment.filters["percent"] = _percent
    environment.filters["left_out"] = _left_out
    environment.filters["number"] = lambda value: f"{value:.3f}"
    return environment
