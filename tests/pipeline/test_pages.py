"""The pages that list: they say what `overview` and `cases` found, and nothing else."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from membership.errors import InputError
from membership.pipeline import cases, overview, pages


def context(page):
    return {"env": SimpleNamespace(docname=page)}


def html(text):
    return BeautifulSoup(text, "html.parser")


@pytest.mark.parametrize(
    ("page", "base"),
    [
        ("book/index", ""),
        ("book/chapters/iha", "../"),
        ("index", "book/"),
        ("a/b/c", "../../book/"),
    ],
)
def test_links_lead_to_the_book_from_every_page(page, base):
    assert pages.base(context(page)) == base


def test_a_claim_is_told_with_its_outcome_and_a_link():
    part = next(one for one in overview.parts() if one.chapter == "gmip")
    row = next(one for one in part.claims if one.claim.id == "gmip-c14")
    told = html(pages.claim(context("book/errata"), "gmip-c14"))
    assert told.a["href"] == "chapters/gmip.html#gmip-c14"
    assert told.get_text().strip() == row.outcome.word
    said = html(pages.claim(context("book/index"), "gmip-c14", "said"))
    assert said.get_text().startswith(f"“{row.claim.quote}”")
    with pytest.raises(InputError, match="no claim 'gmip-c99'"):
        pages.claim(context("book/index"), "gmip-c99")


def test_the_tables_have_a_row_for_everything():
    rows = list(overview.rows(overview.parts()))
    shown = html(pages.verdicts(context("book/verdicts"), "exhibits"))
    listed = [
        row.th.a["href"]
        for row in shown.select(".overview-exhibits > tbody > tr:not([data-beside])")
    ]
    assert [f"book/{link}" for link in listed] == [
        r["link"] for r in rows if r["kind"] == "exhibit"
    ]
    numbers = [row["verdict"] for row in rows if row["kind"] == "number"]
    assert [row["data-verdict"] for row in shown.select(".o-numbers > tbody > tr")] == numbers
    shown = html(pages.verdicts(context("book/verdicts"), "claims"))
    words = [row["data-outcome"] for row in shown.select(".overview-claims > tbody > tr")]
    assert words == [row["verdict"] for row in rows if row["kind"] == "claim"]
    with pytest.raises(InputError, match="no part 'all'"):
        pages.verdicts(context("book/verdicts"), "all")


def test_the_summary_counts_and_leads_to_the_filtered_list():
    numbers, claims, findings = overview.totals()
    shown = html(pages.verdicts(context("book/index"), "summary"))
    counts = [int(strong.get_text()) for strong in shown.select(".o-tally a strong")]
    assert counts == [*numbers.values(), *claims.values(), *findings.values()]
    assert "verdicts.html?show=not%20run" in [link["href"] for link in shown.select("a")]


def test_the_tally_of_a_chapter_counts_its_claims_and_numbers():
    part = next(one for one in overview.parts() if one.chapter == "iha")
    shown = html(pages.tally(context("book/index"), "iha"))
    chips = [chip["title"] for chip in shown.select(".o-chips > span[title]")]
    found = [*part.by_origin["papers"].items(), *part.counts.items()]
    assert chips == [f"{n} {word}" for word, n in found]


def test_every_attack_has_a_row_with_its_needs():
    shown = html(pages.cases(context("book/which-attack")))
    rows = shown.select("#attacks-by-case > tbody > tr")
    assert [row.strong.get_text() for row in rows] == [c.attack.display for c in cases.cases()]
    buttons = {button["value"] for button in shown.select('[data-group="needs"] button')}
    for row in rows:
        assert set(row["data-needs"].split("|")) <= buttons
