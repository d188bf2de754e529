from html.parser import HTMLParser

import pandas as pd
import pytest

from membership import exhibits, published
from membership.exhibits import card, record

ID = "bayes-optimal-tab-1"
VOID = {"br", "hr", "img", "input", "meta", "link"}


class Checker(HTMLParser):
    """Reads HTML and stops at a tag that is closed out of turn."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def having(checker, tag):
    return [attributes for name, attributes in checker.tags if name == tag]


@pytest.fixture
def make_run(settings, make_comparison):
    def make(table, heading="this run, quick", judged=True, linked=True):
        comparison = make_comparison(table, tolerance=0.05) if judged else None
        described = record.build(ID, table, b"", settings, comparison)
        files = {"CSV": "../../results/quick/bayes_optimal/x.csv"}
        return card.Run(heading, table, described, files, linked)

    return make


def test_the_card_is_well_formed_and_its_table_is_readable_without_sight(make_table, make_run):
    html = card.html(ID, [make_run(make_table())])
    checker = read(html)
    (region,) = [tag for tag in having(checker, "div") if tag.get("role") == "region"]
    assert region["tabindex"] == "0"
    assert region["aria-label"]
    assert len(having(checker, "caption")) == 1
    scopes = [tag["scope"] for tag in having(checker, "th")]
    assert scopes == ["col"] * 3 + ["row"] * 3
    rows = html[html.index("<tbody>") : html.index("</tbody>")].split("<tr>")[1:]
    assert all(row.count("<td>") == 2 for row in rows)


def test_no_styles_no_scripts_no_colours(make_table, make_run):
    html = card.html(ID, [make_run(make_table())])
    assert not {"style", "script"} & {tag for tag, _ in read(html).tags}
    assert "style=" not in html
    assert "#" not in html.replace("&#x27;", "")


def test_verdicts_are_words_and_symbols(make_table, make_run):
    html = card.html(ID, [make_run(make_table())])
    checker = read(html)
    classes = [tag.get("class", "") for tag in having(checker, "span")]
    assert "verdict verdict-agrees" in classes
    assert "verdict verdict-differs" in classes
    for symbol, word in [("\u2713", "agrees"), ("\u2717", "differs")]:
        assert f'<span aria-hidden="true">{symbol}</span> {word}' in html
    assert "published 0.3 below the interval" in html
    assert "inside the 95% interval, or within 0.05 of the regenerated one." in html


def test_a_run_that_is_not_comparable_says_why(make_table, make_run):
    checker = read(card.html(ID, [make_run(make_table(False, ["digits for CIFAR-10"]))]))
    classes = [tag.get("class") for tag in having(checker, "span")]
    assert classes.count("verdict verdict-not-comparable") == 3
    assert "Differs from the paper: digits for CIFAR-10." in "".join(checker.words)


def test_every_text_is_escaped(make_table, make_run):
    evil = "<script>alert('x')</script> & \"more\""
    table = make_table(False, [evil], note=evil, data={evil: evil}, device=evil)
    table["attack"] = [evil, "0-1", "MATT"]
    run = make_run(table, heading=evil)
    html = card.html(ID, [run, run])
    checker = read(html)
    assert "script" not in {tag for tag, _ in checker.tags}
    assert evil in "".join(checker.words)


def test_two_runs_stand_side_by_side(make_table, make_run):
    paper = make_run(make_table(device="cuda"), heading="paper-size run (committed)")
    own = make_run(make_table(False, ["digits"]))
    html = card.html(ID, [paper, own])
    words = "".join(read(html).words)
    heads = html[html.index("<thead>") : html.index("</thead>")]
    assert heads.index("paper-size run (committed)") < heads.index("this run, quick")
    assert "sizes [400, 1000]" in words
    assert "run on cuda" in words


def test_citations_are_there_to_copy(make_table, make_run):
    run = make_run(make_table())
    words = "".join(read(card.html(ID, [run])).words)
    assert exhibits.bibtex(ID, run.record) in words
    assert published.bibtex("bayes_optimal") in words


def test_files_are_links_only_where_the_site_has_them(make_table, make_run):
    linked = card.html(ID, [make_run(make_table())])
    assert having(read(linked), "a") == [{"href": "../../results/quick/bayes_optimal/x.csv"}]
    plain = card.html(ID, [make_run(make_table(), linked=False)])
    assert having(read(plain), "a") == []
    assert "../../results/quick/bayes_optimal/x.csv" in plain


def test_numbers_nobody_published_have_no_verdict(make_table, make_run):
    html = card.html(ID, [make_run(make_table().assign(exact=1.25), judged=False)])
    checker = read(html)
    assert "published" not in html[html.index("<thead>") : html.index("</thead>")]
    assert "verdict" not in html
    assert [tag["scope"] for tag in having(checker, "th")] == ["col"] * 3 + ["row"] * 3
    assert "<td>1.25</td>" in html


def test_a_long_table_is_cut_and_says_so(make_table, make_run):
    attrs = make_table().attrs
    table = pd.DataFrame({"attack": "MALT", "score": range(100)})
    table.attrs = attrs
    html = card.html(ID, [make_run(table, judged=False)])
    read(html)
    assert html.count('scope="row"') == 30
    assert "30 of 100 rows, all are in the CSV" in html


def test_plain_text_counts_the_verdicts(make_table, make_run):
    text = card.text(ID, [make_run(make_table())])
    assert text.splitlines() == [
        "Table 1 of Sablayrolles et al. (2019) (bayes-optimal-tab-1)",
        "this run, quick: agrees: 2, differs: 1, ../../results/quick/bayes_optimal/x.csv",
    ]
