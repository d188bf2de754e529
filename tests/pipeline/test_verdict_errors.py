"""The page of the rule's error rates holds the simulation's numbers, row by row."""

import re

from membership.pipeline.verdict_errors import verdict_errors
from membership.published.replications import error_rates


def test_the_page_holds_the_simulated_shares():
    rates, page = error_rates(), verdict_errors()
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == len(rates)
    for line, (_, row) in zip(rows, rates.iterrows(), strict=True):
        shown = [float(text) for text in re.findall(r"([\d.]+) %", line)]
        assert shown == [round(100 * share, 1) for share in row[5:]]
    printed = rates[rates["error"] == "printed"]
    assert f"{100 * printed['false differs'].max():.1f} % (*differs*)" in page
    assert (
        "| Suri et al. (2024) | TPR at 0.1% FPR (%) | 25 % of the published number, at least 0.05 |"
        in page
    )
