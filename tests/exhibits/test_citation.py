import pytest

import membership
from membership import exhibits, paths
from membership.errors import InputError
from membership.exhibits import listing


def test_an_exhibit_is_cited_by_id_label_paper_and_version():
    entry = exhibits.bibtex("bayes-optimal-tab-1")
    assert entry.startswith("@misc{membership-bayes-optimal-tab-1,\n")
    assert "Table 1 of Sablayrolles et al. (2019), regenerated" in entry
    assert f"version = {{{membership.__version__}}}" in entry
    assert "note = {Exhibit bayes-optimal-tab-1}" in entry


@pytest.mark.slow
@pytest.mark.parametrize("exhibit_id", listing.listed()["id"])
def test_every_entry_is_one_a_reader_reads(exhibit_id):
    pybtex = pytest.importorskip("pybtex.database")
    read = pybtex.parse_string(exhibits.bibtex(exhibit_id), "bibtex")
    assert list(read.entries) == [f"membership-{exhibit_id}"]
    assert "\\%" in exhibits.bibtex(exhibit_id) or "%" not in exhibits.bibtex(exhibit_id)


def test_a_run_is_cited_by_its_profile_seed_and_commit(results, settings, table, save):
    save(table, settings)
    _, record = exhibits.load("bayes-optimal-tab-1", "quick")
    note = "note = {Exhibit bayes-optimal-tab-1, quick run, seed 3"
    for commit, ending in (("", "}"), ("abc", ", commit abc}")):
        entry = exhibits.bibtex("bayes-optimal-tab-1", record | {"commit": commit})
        assert note + ending in entry


def test_author_and_version_are_those_of_the_citation_file():
    yaml = pytest.importorskip("yaml")
    file = paths.project_root() / "CITATION.cff"
    if not file.is_file():
        pytest.skip("this is no checkout with a citation file")
    stated = yaml.safe_load(file.read_text(encoding="utf-8"))
    entry = exhibits.bibtex("bayes-optimal-tab-1")
    assert f"author = {{{{{stated['authors'][0]['name']}}}}}" in entry
    assert f"version = {{{stated['version']}}}" in entry
    assert f"year = {{{stated['date-released'][:4]}}}" in entry
    assert stated["date-released"] == membership.__date__


def test_an_exhibit_is_cited_by_the_address_of_its_card_where_the_site_has_one(monkeypatch):
    page = "book/chapters/bayes_optimal.html#bayes-optimal-tab-1"
    monkeypatch.setattr(membership, "__url__", "")
    assert "url" not in exhibits.bibtex("bayes-optimal-tab-1")
    monkeypatch.setattr(membership, "__url__", "https://example.org/m/")
    assert f"url = {{https://example.org/m/{page}}}" in exhibits.bibtex("bayes-optimal-tab-1")


def test_an_unknown_exhibit_is_refused():
    with pytest.raises(InputError, match="no exhibit"):
        exhibits.bibtex("bayes-optimal-tab-9")


def test_the_catalogue_says_what_has_been_run(results, settings, table, save):
    assert not exhibits.catalogue("quick")["run"].any()
    save(table, settings)
    run = exhibits.catalogue("quick").query("run")
    assert list(run["id"]) == ["bayes-optimal-tab-1"]
    assert not exhibits.catalogue("paper")["run"].any()
    assert not exhibits.catalogue("quick", root=results / "elsewhere")["run"].any()
