"""What pages take by name: numbers of exhibits, and the lists of the whole book."""

import dataclasses
import io
import sys
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from membership import attacks, paths, privacy
from membership.book.exhibits import declared, files
from membership.book.site import overview, substitutions
from membership.errors import InputError

pytestmark = pytest.mark.slow


def forget():
    """Have the tables read anew."""
    substitutions._load.cache_clear()
    substitutions._table.cache_clear()


@pytest.fixture
def committed(tmp_path, monkeypatch):
    """A full run of bmia's Control 2 in a results folder of its own."""
    monkeypatch.setattr(paths, "results_dir", lambda: tmp_path / "results")
    target = files.location("bmia-ctl-2", "bmia", "paper")
    target.parent.mkdir(parents=True)
    content = b"series,n,metric,value,low,high\nexact,10,FPR(%),20.8498,20.8498,20.8498\n"
    content += b"exact,30,FPR(%),33.0815,32.9,33.2\n"
    target.with_suffix(".csv").write_bytes(content)
    digest = files.hashlib.sha256(content).hexdigest()
    record = {"profile": "paper", "chapter": "bmia", "csv_sha256": digest}
    target.with_suffix(".json").write_bytes(files.json_bytes(record))
    forget()
    yield
    forget()


@pytest.fixture
def build(tmp_path, committed):
    """Build pages with Sphinx; give back the HTML of each, and the warnings."""

    def build(**pages):
        source = tmp_path / "source"
        for name, text in pages.items():
            paths.atomic_write(source / f"{name.replace('__', '/')}.md", text)
        warnings = io.StringIO()
        with docutils_namespace():
            app = Sphinx(
                *(str(source), None, str(tmp_path / "html"), str(tmp_path / "trees"), "html"),
                confoverrides={
                    "extensions": ["myst_parser", "membership.book.site.substitutions"],
                    "myst_enable_extensions": ["substitution", "dollarmath"],
                    "root_doc": "index",
                    "exclude_patterns": [],
                },
                status=None,
                warning=warnings,
            )
            app.build()
        made = {name: tmp_path / "html" / f"{name.replace('__', '/')}.html" for name in pages}
        return {name: made[name].read_text() for name in made}, warnings.getvalue()

    return build


def test_a_page_takes_numbers_and_links_from_exhibits(build):
    line = (
        '# Title\n\nOf non-members {{ number("bmia-ctl-2", ".1f", n=10) }} % are accused, '
        '{{ interval("bmia-ctl-2", n=30) }} in {{ ref("bmia-ctl-2") }} or '
        '{{ ref("iha-tab-2", "that <table>") }}; the paper has '
        '{{ printed("gmip_table5", ".2f", column="tau", dataset="CIFAR-10", method="MIP", mu=0.4)'
        " }}.\n"
    )
    toc = "\n```{toctree}\nbook/chapters/iha\n```\n"
    pages, warnings = build(index=line + toc, book__chapters__iha=line)
    assert warnings == ""
    label = next(one.label for one in declared("bmia") if one.id == "bmia-ctl-2")
    for name, page in pages.items():
        body = BeautifulSoup(page, "html.parser").find(class_="body")
        text = " ".join(body.get_text().split())
        assert f"Of non-members 20.8 % are accused, 33.08 [32.90, 33.20] in {label} or" in text
        assert "that <table>; the paper has 2.84." in text
        links = [link["href"] for link in body.find_all("a", class_="reference internal")]
        own = "" if name == "index" else "../../"
        assert any(link.endswith("bmia.html#bmia-ctl-2") for link in links)
        expected = "book/chapters/bmia.html#bmia-ctl-2" if not own else "bmia.html#bmia-ctl-2"
        assert expected in links


def test_a_number_that_is_not_there_is_a_warning(build):
    for wrong in ('number("bmia-ctl-2", n=11)', 'number("bmia-ctl-22")', 'ref("bmia-tab-9")'):
        _, warnings = build(index=f"# Title\n\nHere {{{{ {wrong} }}}}.\n")
        assert "Substitution error:InputError" in warnings


def test_verdicts_and_sentences_come_from_the_declaration(committed, monkeypatch):
    with pytest.raises(InputError, match="has no full run"):
        substitutions.SUBSTITUTIONS["number"]("iha-tab-2")

    @dataclasses.dataclass
    class Panel:
        sentence: str = "IHA* has <most>."
        counted: str = ""

    monkeypatch.setattr(substitutions, "_panel", lambda exhibit_id: Panel())
    assert substitutions.SUBSTITUTIONS["says"]("iha-tab-2") == r"IHA\* has \<most\>."
    assert substitutions.SUBSTITUTIONS["counts"]("iha-tab-2") == "not judged"


def test_the_calculator_s_numbers_are_the_accountant_s():
    calculated = substitutions.SUBSTITUTIONS["calculated"]
    sizes = {"n": 100, "n_records": 1000, "epochs": 2}
    found = privacy.assess(**sizes, sigma=2.0)
    assert calculated("epsilon", ".4f", **sizes, sigma=2.0) == f"{found.epsilon:.4f}"
    rate = f"{found.differential.tpr[1]:.2%}"
    assert calculated("differential.tpr.1", ".2%", **sizes, sigma=2.0) == rate
    assert calculated("epsilon", ".3f", **sizes, epsilon=1.5, delta=1e-6) == "1.500"
    by_theirs = calculated("epsilon", ".3f", "dp_accounting", **sizes, sigma=2.0)
    assert by_theirs == f"{found.epsilon:.3f}"


def test_the_table_of_attacks_is_the_registry(monkeypatch):
    before = substitutions.SUBSTITUTIONS["attacks"]().splitlines()
    assert len(before) == 2 + len(attacks.registry())
    line = next(line for line in before if "<MALT>" in line)
    assert line == (
        "| {term}`LOSS <MALT>` | black box | none | `loss` or `log_odds` | "
        "{cite:t}`sablayrolles2019`, Equation 31 | `malt` |"
    )
    module = sys.modules["membership.attacks.registry"]
    more = dataclasses.replace(attacks.registry()["loss"], name="new", display="new one")
    monkeypatch.setitem(module.ATTACKS, "new", more)
    assert "new one" in substitutions.SUBSTITUTIONS["attacks"]()


def test_mathjax_comes_in_the_parts_that_are_listed_and_else_whole():
    config = SimpleNamespace(mathjax_path="mathjax/all.js", mathjax3_config=None)
    substitutions._choose_mathjax(None, config)
    assert config.mathjax_path == "mathjax/all.js"
    config.mathjax3_config = {"loader": {"load": ["core"]}}
    substitutions._choose_mathjax(None, config)
    assert config.mathjax_path == "mathjax/startup.js"


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
    assert substitutions.base(context(page)) == base


def test_a_claim_is_told_with_its_outcome_and_a_link():
    part = next(one for one in overview.parts() if one.chapter == "gmip")
    row = next(one for one in part.claims if one.claim.id == "gmip-c14")
    told = html(substitutions.claim(context("book/errata"), "gmip-c14"))
    assert told.a["href"] == "chapters/gmip_details.html#gmip-c14"
    assert told.get_text().strip() == row.outcome.word
    said = html(substitutions.claim(context("book/index"), "gmip-c14", "said"))
    assert said.get_text().startswith(f"“{row.claim.quote}”")
    with pytest.raises(InputError, match="no claim 'gmip-c99'"):
        substitutions.claim(context("book/index"), "gmip-c99")


def test_the_tables_have_a_row_for_everything():
    rows = list(overview.rows(overview.parts()))
    shown = html(substitutions.verdicts(context("book/verdicts"), "exhibits"))
    listed = [
        row.th.a["href"]
        for row in shown.select(".overview-exhibits > tbody > tr:not([data-beside])")
    ]
    assert [f"book/{link}" for link in listed] == [
        r["link"] for r in rows if r["kind"] == "exhibit"
    ]
    numbers = [row["verdict"] for row in rows if row["kind"] == "number"]
    assert [row["data-verdict"] for row in shown.select(".o-numbers > tbody > tr")] == numbers
    shown = html(substitutions.verdicts(context("book/verdicts"), "claims"))
    words = [row["data-outcome"] for row in shown.select(".overview-claims > tbody > tr")]
    assert words == [row["verdict"] for row in rows if row["kind"] == "claim"]
    with pytest.raises(InputError, match="no part 'all'"):
        substitutions.verdicts(context("book/verdicts"), "all")


def test_the_summary_counts_and_leads_to_the_filtered_list():
    numbers, claims, findings = overview.totals()
    shown = html(substitutions.verdicts(context("book/index"), "summary"))
    counts = [int(strong.get_text()) for strong in shown.select(".o-tally a strong")]
    assert counts == [*numbers.values(), *claims.values(), *findings.values()]
    assert "verdicts.html?show=not%20run" in [link["href"] for link in shown.select("a")]


def test_the_score_counts_what_was_compared_and_sets_the_formula_apart():
    rows = [row for row in overview.rows(overview.parts()) if row["kind"] == "number"]
    compared = [row for row in rows if row["verdict"] in ("agrees", "compatible", "differs")]
    formula = [row for row in compared if row["id"] == "gmip-tab-5"]
    words = html(substitutions.score(context("book/index"))).get_text()
    assert f"Of {len(rows)} printed numbers {len(compared)} could be compared" in words
    assert f"{len(formula)} of these" in words
    measured = [row["verdict"] for row in compared if row["id"] != "gmip-tab-5"]
    assert f"Of the other {len(measured)}, {measured.count('agrees')} agree" in words
    assert f"{measured.count('compatible')} are compatible" in words
    assert f"{measured.count('differs')} differ." in words


def test_bars_share_one_scale_and_begin_where_they_are_told():
    shown = html(substitutions.bars(50, ("a <b>", "60%"), ("coin", "50%"), ("worse", "49%")))
    assert [bar["style"] for bar in shown.select("i")] == ["width: 100%", "width: 0%", "width: 0%"]
    assert [name.get_text() for name in shown.select("dt")] == ["a <b>", "coin", "worse"]


def test_a_verdict_is_given_with_its_reason():
    where = {"dataset": "MNIST-Odd", "metric": "AUC"}
    assert substitutions.verdict("iha-tab-2", attack="LiRA", **where).startswith(
        r"differs: difference -0.052 \["
    )
    with pytest.raises(InputError, match="singles out 0 rows"):
        substitutions.verdict("iha-tab-2", attack="none", **where)


def test_the_tally_of_a_chapter_counts_its_claims_and_numbers():
    part = next(one for one in overview.parts() if one.chapter == "iha")
    shown = html(substitutions.tally(context("book/index"), "iha"))
    chips = [chip["title"] for chip in shown.select(".o-chips > span[title]")]
    found = [*part.by_origin["papers"].items(), *part.counts.items()]
    assert chips == [f"{n} {word}" for word, n in found]
    words = html(substitutions.tally(context("notebooks/iha"), "iha"))
    for hidden in (*shown.select(".visually-hidden"), *words.select(".visually-hidden")):
        hidden.decompose()
    counts = part.by_origin["papers"]
    assert f"{counts['supported']} supported" in words.get_text()
    assert "supported" not in shown.get_text()


def test_every_attack_has_a_row_with_its_needs():
    shown = html(substitutions.cases(context("book/which-attack")))
    rows = shown.select("#attacks-by-case > tbody > tr")
    # Every registered attack is a case, see test_attack_finder.py.
    names = [attack.display for attack in attacks.registry().values()]
    assert [row.strong.get_text() for row in rows] == names
    buttons = {button["value"] for button in shown.select('[data-group="needs"] button')}
    for row in rows:
        assert set(row["data-needs"].split("|")) <= buttons


def test_a_square_is_darker_further_from_its_start():
    html = substitutions.square(
        50, ["one", "all"], knows_none=["50%", "60%"], knows_all=["45%", "75%"]
    )
    table = BeautifulSoup(html, "html.parser").table
    assert [th.get_text() for th in table.select("th[scope=row]")] == ["knows none", "knows all"]
    assert [td["style"] for td in table.select("td[style]")] == [
        f"--share: {share}%" for share in (0, 40, 0, 100)
    ]
    assert [th.get_text() for th in table.select("th[scope=col]")] == ["one", "all"]
