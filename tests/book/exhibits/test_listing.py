"""Exhibits are found, named and cited; how near a run is to the paper's is declared beside it."""

import pytest

import membership
from membership import paths
from membership.book import exhibits, home, published
from membership.book.exhibits import declared, listing, panels
from membership.book.exhibits.exhibit_pages import chapter_of, pages_of
from membership.errors import InputError


def test_the_room_lists_what_it_offers_before_it_is_loaded():
    assert set(exhibits.__all__) <= set(dir(exhibits))


def test_an_exhibit_is_found():
    assert listing.find("bayes-optimal-tab-3") == {
        "chapter": "bayes_optimal",
        "id": "bayes-optimal-tab-3",
        "label": "Table 3",
        "kind": "table",
        "content": "ImageNet: 0-1 and MALT by augmentation",
    }


def test_names_tell_the_papers_exhibits_from_ours():
    assert listing.name("iha-fig-1") == "Figure 1 of Suri et al. (2024)"
    added = "Control 2, an addition to Sablayrolles et al. (2019)"
    assert listing.name("bayes-optimal-ctl-2") == added
    assert listing.name("loss-enough-ctl-2") == "Control 2 of “Is the loss enough?”"


def test_a_misspelt_id_gets_the_nearest():
    with pytest.raises(InputError, match=r"'bayes-optimal-tab1'; did you mean 'bayes-optimal-tab"):
        listing.find("bayes-optimal-tab1")
    with pytest.raises(InputError, match="'bayes-optimal-tab-1' or 'iha-tab-1' or "):
        listing.find("tab-1")
    with pytest.raises(InputError, match="membership list CHAPTER"):
        listing.find("zzz")


@pytest.mark.parametrize(("gone", "heir"), listing.retired().items())
def test_a_retired_id_answers_with_what_took_its_place(gone, heir):
    is_test = heir.startswith("tests/")
    assert (paths.project_root() / heir).is_dir() if is_test else listing.find(heir)["id"] == heir
    with pytest.raises(InputError, match=f"'{gone}' is retired; '{heir}' took its place"):
        exhibits.bibtex(gone)
    folder = paths.project_root() / "notebooks"
    pages = (folder / f"{name}.md" for name in pages_of(chapter_of(gone)))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    _, anchor, text = text.partition(f"\n({gone})=\n")
    assert anchor
    assert heir in text.partition("\n\n")[0]


def test_an_exhibit_is_cited_by_id_label_paper_and_version():
    entry = exhibits.bibtex("bayes-optimal-tab-1")
    assert entry.startswith("@misc{membership-bayes-optimal-tab-1,\n")
    assert "Table 1 of Sablayrolles et al. (2019), regenerated" in entry
    assert f"version = {{{membership.__version__}}}" in entry
    assert "note = {Exhibit bayes-optimal-tab-1}" in entry


@pytest.mark.slow
@pytest.mark.parametrize("exhibit_id", [one["id"] for one in listing.listed()])
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


def test_a_run_on_own_data_with_other_parameters_has_an_entry_of_its_own():
    record = {"profile": "quick", "seed": 3, "commit": "", "csv_sha256": 64 * "a"}
    record |= {"data": {"cohort": "1", "digits": "2"}, "own_data": ["cohort"]}
    record |= {"parameters": {"epochs": 10, "dataset": "cohort.csv:y"}}
    entry = exhibits.bibtex("iha-fig-1", record)
    assert entry.startswith("@misc{membership-iha-fig-1-quick-aaaaaaaa,\n")
    assert "{{After Figure 1 of Suri et al. (2024), on cohort (own data): ROC curves" in entry
    assert "regenerated" not in entry
    assert "quick run, on cohort (own data), digits, with epochs = 10, dataset = c" in entry
    other = exhibits.bibtex("iha-fig-1", record | {"csv_sha256": 64 * "b"})
    assert other.splitlines()[0] != entry.splitlines()[0]


def test_an_exhibit_is_found_as_one_says_it():
    for said in (
        *("iha-tab-2", "IHA-TAB-2", "IHA Table 2", "iha table 2", " iha-tab-2 ", "iha_tab_2"),
        *("iha\u2011tab\u20112", "iha-tab-2.csv", "results/paper/iha/iha-tab-2.narrow.svg"),
        *("chapters/iha.html#iha-tab-2", '{{ ref("iha-tab-2") }}'),
    ):
        assert listing.find(said)["id"] == "iha-tab-2"
    assert listing.find("results/paper/iha/iha-ctl-10.csv")["id"] == "iha-ctl-10"
    for said in ("iha-tab-2,iha-tab-3", "iha", "", "figure 1"):
        with pytest.raises(InputError, match="no exhibit"):
            listing.find(said)
    assert listing.find("Bayes optimal Table 1")["id"] == "bayes-optimal-tab-1"


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
    monkeypatch.setattr(home, "REPOSITORY", "")
    assert "url" not in exhibits.bibtex("bayes-optimal-tab-1")
    monkeypatch.setattr(home, "REPOSITORY", "https://github.com/Owner/m")
    assert f"url = {{https://owner.github.io/m/{page}}}" in exhibits.bibtex("bayes-optimal-tab-1")


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


EXHIBITS = [one for chapter in published.subjects for one in declared(chapter)]


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_what_is_declared_is_known_and_there_where_a_run_has_data(exhibit):
    computed = {listing.COMPUTED, listing.RECIPE, listing.NOT_RUN}
    assert set(exhibit.standing) <= set(listing.STANDINGS) - computed
    runs = panels.panels(exhibit, "paper", "")
    assert bool(exhibit.standing) == bool(runs and runs[0].about["data"])


@pytest.mark.parametrize(
    ("exhibit_id", "found"),
    [
        # CIFAR-10 for the paper's ImageNet.
        ("bayes-optimal-ctl-14", (listing.SUBSTITUTE,)),
        # Fixed features of CIFAR-10, and none of the paper's data sets beside it.
        ("bmia-fig-2", (listing.OTHER, listing.SUBSTITUTE)),
        ("iha-tab-2", (listing.AS_PAPER, listing.SUBSTITUTE)),
    ],
)
def test_the_standing_of_a_run_is_the_declared_one(exhibit_id, found):
    exhibit = next(one for one in EXHIBITS if one.id == exhibit_id)
    assert listing.standing(exhibit, panels.panels(exhibit, "paper", "")[0]) == found


def test_without_a_run_a_page_may_say_how():
    exhibit = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-3")
    assert listing.standing(exhibit, None) == (listing.RECIPE,)
    other = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-1")
    assert listing.standing(other, None) == (listing.NOT_RUN,)


def test_a_run_without_data_is_computed():
    exhibit = next(one for one in declared("gmip") if one.id == "gmip-tab-5")
    run = panels.panels(exhibit, "paper", "")[0]
    assert listing.standing(exhibit, run) == (listing.COMPUTED,)
