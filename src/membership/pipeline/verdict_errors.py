"""The page that says how often the rule of verdicts errs, computed when the site is built."""

import math

from membership import published
from membership.published.references import PRINTED_UNITS, notes_of
from membership.published.replications import MARGIN, REPEATS, error_rates

PAGE = "book/generated/verdict_errors"
_TOP = """\
# How often the rule errs

A verdict is a decision from few numbers, so that it is sometimes wrong ({{doc}}`the rule
<../how-to-read>`). How often can be found by simulation: the whole experiment, theirs and ours,
is repeated many times with means that are known to be the same, or known to differ, and the
rule is applied each time.

Each row is a design for an AUC, whose margin is {margin:g}: $n$ independent units of ours and
$m$ of the paper's, with their standard deviations. *Printed*: the paper prints its spread.
*Imputed*: it prints none, and the published error is taken from ours. The shares are of
{repeats:,} simulated replications; the Monte-Carlo error of a share of 5 % is {error:.2f}
percentage points.

| *n* | *m* | ours | theirs | spread | agrees | false *differs* | false *agrees* | shift of 3 |
|---:|---:|---:|---:|---|---:|---:|---:|---:|
"""
_END = """
*Agrees* and false *differs* are of exact replications. False *agrees*: our mean is one margin
above the paper's, the least difference that ought not to be called agreement. The last column:
it is three margins above.

Where the spread is printed, both errors keep to the nominal 5 %, within the Monte-Carlo error and
the approximation of Welch's degrees of freedom: the largest here are {differs:.1f} % (*differs*)
and {agrees:.1f} % (*agrees*). What is left is *compatible*: with few units or a wide spread
most replications are, and that is no failure of the paper or of the run. Where the spread is
imputed, both hold as long as the paper's units vary as ours do. Where theirs vary more, too
many differ (the row with {wide:g} for ours of {narrow:g}): a bare number deserves less trust
than one with its spread. There a verdict takes the larger spread, if the paper prints one for
another metric of the same attack.

## Margins

A difference within the margin makes no difference. All were chosen before any result was looked at,
and none is below {units:g} times the last printed digit, so that an exact number that is rounded
correctly always agrees.

| paper | metric | margin |
|---|---|---|
"""


def verdict_errors() -> str:
    """Write the page as Markdown; the simulation takes a few seconds."""
    rates = error_rates()
    printed = rates[rates["error"] == "printed"]
    unequal = rates[rates["sd_paper"] > rates["sd"]].iloc[0]
    rows = [
        f"| {row.n} | {row.m} | {row.sd:g} | {row.sd_paper:g} | {row.error} | "
        + " | ".join(f"{100 * share:.1f} %" for share in row[5:])
        + " |\n"
        for row in rates.itertuples(index=False, name="Row")
    ]
    error = 100 * math.sqrt(0.05 * 0.95 / REPEATS)
    end = _END.format(
        differs=100 * printed["false differs"].max(),
        agrees=100 * printed["false agrees"].max(),
        wide=unequal["sd_paper"],
        narrow=unequal["sd"],
        units=PRINTED_UNITS,
    )
    top = _TOP.format(margin=MARGIN, repeats=REPEATS, error=error)
    return top + "".join(rows) + end + "".join(_margins())


def _margins() -> list[str]:
    return [
        f"| {paper.short} | {published.metric_words(metric)} | {_margin(stated)} |\n"
        for chapter, paper in published.papers.items()
        for metric, stated in notes_of(chapter)["metrics"].items()
    ]


def _margin(stated: dict[str, float]) -> str:
    """One metric's margin in words, in its own unit."""
    if stated.get("seconds"):
        return "depends on the machine: never compared"
    if "factor" in stated:
        return f"a factor of {stated['factor']:g}, on logarithms"
    if "margin" in stated:
        return f"{stated['margin']:g}"
    share = f"{100 * stated['share']:g} % of the published number"
    return f"{share}, at least {stated['least']:g}" if "least" in stated else share
