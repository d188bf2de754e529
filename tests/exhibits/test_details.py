from membership import exhibits, published
from membership.exhibits.details import details

ID = "bayes-optimal-tab-1"


def test_citations_are_there_to_copy(read, make_table, make_run):
    run = make_run(make_table())
    words = read(details(ID, [run])).text
    assert exhibits.bibtex(ID, run.record) in words
    assert published.bibtex("bayes_optimal") in words


def test_files_are_links_only_where_the_site_has_them(read, make_table, make_run):
    linked = details(ID, [make_run(make_table())])
    assert read(linked).having("a") == [{"href": "../../results/quick/bayes_optimal/x.csv"}]
    plain = details(ID, [make_run(make_table(), linked=False)])
    assert read(plain).having("a") == []
    assert "../../results/quick/bayes_optimal/x.csv" in plain


def test_each_run_has_its_provenance(read, make_table, make_run):
    paper = make_run(make_table(device="cuda"), heading="paper-size run", profile="paper")
    words = read(details(ID, [paper, make_run(make_table())])).text
    assert "Provenance: paper-size run" in words
    assert "Provenance: this run, quick" in words
    assert words.count("sizes [400, 1000]") == 2
