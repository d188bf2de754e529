import pandas as pd
import pytest

from membership.exhibits import card, pivots
from membership.exhibits.numbers import MISSING

ID = "bayes-optimal-tab-1"
PAPER = {"heading": "paper-size run (committed)", "profile": "paper"}


def test_the_card_is_well_formed_and_its_table_is_readable_without_sight(
    read, make_table, make_run
):
    html = card.html(ID, [make_run(make_table())])
    reader = read(html)
    (region,) = [tag for tag in reader.having("div") if tag.get("role") == "region"]
    assert region["tabindex"] == "0"
    assert region["aria-label"]
    assert len(reader.having("caption")) == 1
    scopes = [tag["scope"] for tag in reader.having("th")]
    assert scopes == ["col"] * 3 + ["row"] * 3
    rows = html[html.index("<tbody>") : html.index("</tbody>")].split("<tr>")[1:]
    assert all(row.count("<td>") == 2 for row in rows)


def test_no_styles_no_scripts_no_colours(read, make_table, make_run):
    html = card.html(ID, [make_run(make_table())])
    assert not {"style", "script"} & {tag for tag, _ in read(html).tags}
    assert "style=" not in html
    assert "#" not in html.replace("&#x27;", "")


def test_verdicts_are_words_and_symbols(read, make_table, make_run):
    html = card.html(ID, [make_run(make_table())])
    reader = read(html)
    classes = [tag.get("class", "") for tag in reader.having("span")]
    assert "verdict verdict-agrees" in classes
    assert "verdict verdict-differs" in classes
    for symbol, word in [("\u2713", "agrees"), ("\u2717", "differs")]:
        assert f'<span aria-hidden="true">{symbol}</span> {word}' in html
    assert "published 0.3 below the interval" in html
    assert "inside the 95% interval, or within 0.05 of the regenerated one." in html


def test_a_run_that_is_not_comparable_says_why(read, make_table, make_run):
    reader = read(card.html(ID, [make_run(make_table(False, ["digits for CIFAR-10"]))]))
    classes = [tag.get("class") for tag in reader.having("span")]
    assert classes.count("verdict verdict-not-comparable") == 3
    assert "Differs from the paper: digits for CIFAR-10." in reader.text


@pytest.mark.parametrize("longest_list", [2, 100])
def test_every_text_is_escaped(read, make_table, make_run, monkeypatch, longest_list):
    monkeypatch.setattr(pivots, "LONGEST_LIST", longest_list)
    evil = "<script>alert('x')</script> & \"more\""
    table = make_table(False, [evil], note=evil, data={evil: evil}, device=evil)
    table["attack"] = [evil, "0-1", "MATT"]
    run = make_run(table, heading=evil)
    html = card.html(ID, [run, run])
    reader = read(html)
    assert "script" not in {tag for tag, _ in reader.tags}
    assert reader.tables[-1][1:3] in (
        [["n = 400"], [evil, "54.1 [53.5, 54.7]"]],
        [[f"n = 400, {evil}, attack accuracy (%)", MISSING, *["54.1 [53.5, 54.7]"] * 2],
         reader.tables[-1][2]],
    )  # fmt: skip


def test_two_runs_stand_side_by_side(read, make_table, make_run):
    paper = make_run(make_table(device="cuda"), **PAPER)
    own = make_run(make_table(False, ["digits"]))
    reader = read(card.html(ID, [paper, own]))
    (table,) = reader.tables
    assert table[0] == ["quantity", "published", "paper-size run (committed)", "this run, quick"]
    assert len(table) == 4
    assert "Run on cuda with profile paper." in reader.text
    assert "Run on cpu with profile quick. Differs from the paper: digits." in reader.text


def test_many_quantities_are_a_pivot_a_run(read, long_table, make_table, make_run):
    own = long_table.assign(n=long_table["n"] + 1)
    own.attrs = make_table(False, ["digits", "5 splits"]).attrs
    html = card.html(ID, [make_run(long_table, **PAPER), make_run(own)])
    reader = read(html)
    regions = [tag["aria-label"] for tag in reader.having("div") if tag.get("role") == "region"]
    title = "Table 1 of Sablayrolles et al. (2019)"
    assert regions == [f"{title}: paper-size run (committed)", f"{title}: this run, quick"]
    assert html.index("45 published numbers") < html.index("<table")
    assert "Paper-size run (committed). 45 published numbers: 9 agree, 36 differ." in reader.text
    assert "This run, quick. The paper gives none of these numbers." in reader.text
    paper, quick = reader.tables
    assert "n = 400" in paper[1]
    assert "n = 401" in quick[1]


def test_a_pivot_of_a_run_that_is_not_comparable_says_why_once(
    read, long_table, make_table, make_run
):
    long_table.attrs = make_table(False, ["digits", "5 splits"]).attrs
    words = read(card.html(ID, [make_run(long_table)])).text
    assert "45 published numbers: none comparable (digits; 5 splits)." in words
    assert "Agrees" not in words
    assert "Differs from the paper" not in words


def test_the_pivot_has_the_lists_numbers(read, long_table, make_run, monkeypatch):
    run = make_run(long_table)
    (pivoted,) = read(card.html(ID, [run])).tables
    monkeypatch.setattr(pivots, "LONGEST_LIST", 1000)
    (listed,) = read(card.html(ID, [run])).tables
    found, group = {}, ""
    for first, *cells in pivoted[1:]:
        group = group if cells else first
        for metric, cell in zip(pivoted[0][1:], cells, strict=bool(cells)):
            if cell != MISSING:
                number, printed = cell.split("\n")
                paper, price, verdict = printed.split(" ", 2)
                assert paper == "paper"
                found[f"{group}, {first}, {metric}"] = (price, f"{number} {verdict}")
    assert len(listed) == 46
    assert found == {quantity: (price, cell.split("\n")[0]) for quantity, price, cell in listed[1:]}


def test_controls_are_pivoted_without_verdicts(read, long_table, make_run):
    html = card.html(ID, [make_run(long_table, judged=False)])
    assert "verdict" not in html
    assert "paper" not in html[html.index("<thead>") : html.index("</table>")]
    (table,) = read(html).tables
    assert table[:3] == [
        ["attack", "train accuracy (%)", "validation accuracy (%)", "attack accuracy (%)",
         "mAP test (%)", "mAP train (%)"],
        ["n = 400"],
        ["(model)", "98.00 [97.80, 98.20]", "93.90 [93.70, 94.10]", *[MISSING] * 3],
    ]  # fmt: skip


def test_data_of_a_figure_are_counted_and_not_shown(read, make_table, make_run):
    scores = pd.DataFrame({"attack": "MALT", "score": range(1800)})
    curve = pd.DataFrame({"temperature": range(1, 42), "value": 0.5})
    for table, count in ((scores, "1,800"), (curve, "41")):
        table.attrs = make_table().attrs
        reader = read(card.html(ID, [make_run(table, judged=False, drawn=True)]))
        assert reader.tables == []
        assert f"The {count} rows behind the figure are in the CSV." in reader.text


def test_a_figure_of_few_or_judged_numbers_has_its_table(read, long_table, make_table, make_run):
    few = card.html(ID, [make_run(make_table(), judged=False, drawn=True)])
    judged = card.html(ID, [make_run(long_table, drawn=True)])
    for html in (few, judged):
        reader = read(html)
        assert len(reader.tables) == 1
        assert "behind the figure" not in reader.text


def test_the_paper_size_runs_figure_stands_in_the_card(read, make_table, make_run):
    paper = make_run(make_table(), drawn=True, **PAPER)
    own = make_run(make_table(), drawn=True)
    reader = read(card.html(ID, [paper, own]))
    (image,) = reader.having("img")
    assert image == {
        "src": "../../results/paper/bayes_optimal/x.svg",
        "alt": "logistic regression: model accuracy, attack accuracy, mAP, n=400..6000",
    }
    assert "The same figure from the paper-size run (committed)" in reader.text


def test_a_figure_that_the_site_lacks_is_not_shown(read, make_table, make_run):
    own = make_run(make_table(), drawn=True)
    without = make_run(make_table(), **PAPER)
    elsewhere = make_run(make_table(), linked=False, drawn=True, **PAPER)
    for runs in ([own], [without, own], [elsewhere, own]):
        assert read(card.html(ID, runs)).having("img") == []


def test_numbers_nobody_published_have_no_verdict(read, make_table, make_run):
    html = card.html(ID, [make_run(make_table().assign(exact=1.25), judged=False)])
    reader = read(html)
    assert "published" not in html[html.index("<thead>") : html.index("</thead>")]
    assert "verdict" not in html
    assert [tag["scope"] for tag in reader.having("th")] == ["col"] * 3 + ["row"] * 3
    assert "<td>1.25</td>" in html


def test_a_long_table_is_cut_and_says_so(read, make_table, make_run):
    attrs = make_table().attrs
    table = pd.DataFrame({"attack": "MALT", "score": range(100)})
    table.attrs = attrs
    html = card.html(ID, [make_run(table, judged=False)])
    read(html)
    assert html.count('scope="row"') == 30
    assert "30 of 100 rows, all are in the CSV" in html


def test_plain_text_counts_the_verdicts(read, make_table, make_run):
    text = card.text(ID, [make_run(make_table())])
    assert text.splitlines() == [
        "Table 1 of Sablayrolles et al. (2019) (bayes-optimal-tab-1)",
        "this run, quick: agrees: 2, differs: 1, ../../results/quick/bayes_optimal/x.csv",
    ]
