"""What an archive says of itself is what the standards ask for, and true of its files."""

import json

import pytest
import yaml
from rocrate.rocrate import ROCrate

from membership.book import published
from membership.book.exhibits.declaration import declared
from membership.book.manifest import digest_of
from membership.book.running.chapter_files import settings_class
from membership.book.site import deposit
from tests.book.site import checkouts

pytestmark = pytest.mark.slow

# developers.zenodo.org, "Deposit metadata": what a software deposit needs, and the words for it.
ZENODO = {"upload_type": "software", "access_right": "open"}
RELATIONS = {"references", "isDocumentedBy", "isDerivedFrom"}


@pytest.fixture
def cited(checkout):
    return deposit.citation()


def test_codecheck_lists_every_exhibit_s_files_or_how_to_make_it(unpacked, cited):
    text = (unpacked / "codecheck.yml").read_text()
    assert text.startswith("%YAML 1.1\n---\n")
    read = yaml.safe_load(text)
    assert read["version"] == "https://codecheck.org.uk/spec/config/1.0/"
    assert read["paper"]["title"] == cited["title"]
    assert read["paper"]["authors"] == [{"name": "The Membership companion's contributors"}]
    results = unpacked / "results" / "paper" / checkouts.CHAPTER
    files = {
        p.relative_to(unpacked).as_posix()
        for k in ("csv", "svg", "pdf")
        for p in results.glob(f"*.{k}")
    }
    assert {item["file"] for item in read["manifest"]} == files
    assert len(read["manifest"]) == len(files) > 10
    run = {item["file"].rpartition("/")[2].partition(".")[0] for item in read["manifest"]}
    not_run = {item["exhibit"]: item["recipe"] for item in read["membership_not_run"]}
    assert not_run == {"bayes-optimal-tab-3": "book/imagenet_recipe.md"}
    assert run | set(not_run) == {one.id for one in declared(checkouts.CHAPTER)}
    named = {item["file"].rpartition("/")[2]: item for item in read["manifest"]}
    assert named["bayes-optimal-tab-1.csv"]["comment"].startswith("Table 1 of Sablayrolles et al.")


def test_the_command_reads_evidence_where_that_is_kept_and_repeats_the_run_where_not(checkout):
    settings = settings_class(checkouts.CHAPTER).from_values({"profile": "paper"})
    run = {one.exhibit.id: one.command for one in deposit.made()}
    kept = {
        path.stem for path in (checkout / "results/paper" / checkouts.CHAPTER).glob("*.evidence")
    }
    computed = {
        one.id for one in declared(checkouts.CHAPTER) if set(one.evidence(settings)) <= kept
    }
    assert {one for one in run if run[one] == "membership recompute bayes_optimal"} == computed
    (repeated,) = {run[one] for one in run if one not in computed}
    words = repeated.split(" -p ")
    assert words[0] == "membership run bayes_optimal --profile paper"
    given = dict(pair.split() for pair in words[1:])
    record = json.loads((checkout / "runs" / "paper" / "bayes_optimal.json").read_text())
    typed = settings_class(checkouts.CHAPTER).typed({"profile": "paper", **given})
    again = settings_class(checkouts.CHAPTER).from_values(typed).parameters()
    del record["parameters"]["n_jobs"], again["n_jobs"]
    ran = record["parameters"]
    assert {name: again[name] for name in ran} == ran
    # Parameters that there have been only since that run are as they are by default.
    default = settings_class(checkouts.CHAPTER).from_values({"profile": "paper"}).parameters()
    assert all(again[name] == default[name] for name in again.keys() - ran.keys())
    one = next(one for one in declared(checkouts.CHAPTER) if one.id in run.keys() - computed)
    kept = [f"results/paper/bayes_optimal/{n}.evidence" for n in one.evidence(settings)]
    for name in kept:
        (checkout / name).write_bytes(b"")
    made = {each.exhibit.id: each for each in deposit.made()}
    assert made[one.id].command == "membership recompute bayes_optimal"
    assert list(made[one.id].evidence) == kept


def test_zenodo_gets_what_its_form_asks_for(unpacked, cited):
    told = json.loads((unpacked / ".zenodo.json").read_text())
    assert told.items() >= ZENODO.items()
    assert told["license"] == cited["license"] == "MIT"
    assert told["description"] == cited["abstract"]
    assert told["creators"] == [{"name": author["name"]} for author in cited["authors"]]
    assert (told["version"], told["publication_date"]) == (cited["version"], cited["date-released"])
    related = told["related_identifiers"]
    assert {one["relation"] for one in related} <= RELATIONS
    assert {one["identifier"] for one in related} == {p.url for p in published.papers.values()}


def test_a_configured_address_reaches_every_description(cited):
    cited |= {"url": "https://example.org/m/", "repository-code": "https://example.org/code"}
    related = json.loads(deposit.zenodo(cited))["related_identifiers"]
    assert related[0] == {"identifier": "https://example.org/m/", "relation": "isDocumentedBy"}
    assert related[1] == {"identifier": "https://example.org/code", "relation": "isDerivedFrom"}
    read = yaml.safe_load(deposit.codecheck(cited, []))
    assert read["paper"]["reference"] == "https://example.org/m/"
    assert read["repository"] == "https://example.org/code"
    graph = json.loads(deposit.crate(cited, [], {}, "abc"))["@graph"]
    (root,) = (one for one in graph if one["@id"] == "./")
    assert root["url"] == "https://example.org/m/"


LICENCES = {"https://spdx.org/licenses/MIT", "https://spdx.org/licenses/CC-BY-4.0"}


def test_the_crate_is_read_by_the_standard_s_library_and_describes_its_files(unpacked):
    read, cited = ROCrate(unpacked), deposit.citation()
    assert read.name == cited["title"]
    assert str(read.datePublished)[:10] == cited["date-released"]
    assert {one.id for one in read.license} == LICENCES
    assert read.root_dataset["author"]["name"] == cited["authors"][0]["name"]
    files = [one for one in read.data_entities if "File" in one.type]
    assert len(files) > 30
    for one in read.data_entities:
        assert (unpacked / one.id).exists(), one.id
    for one in files:
        if one.id != "SHA256SUMS":
            assert one["sha256"] == digest_of(unpacked / one.id)
            assert one["contentSize"] == str((unpacked / one.id).stat().st_size)
    actions = read.get_by_type("CreateAction")
    mentioned = read.root_dataset["mentions"]
    # The library gives one thing that is mentioned as itself.
    mentioned = mentioned if isinstance(mentioned, list) else [mentioned]
    assert {one.id for one in actions} == {one.id for one in mentioned}
    results = {each.id for one in actions for each in one["result"]}
    made = {p.relative_to(unpacked).as_posix() for p in (unpacked / "results").rglob("bayes-*")}
    assert results == made


def test_every_reference_of_the_crate_leads_to_an_entity(unpacked):
    graph = json.loads((unpacked / "ro-crate-metadata.json").read_text())["@graph"]
    known = {entity["@id"]: entity for entity in graph}
    assert len(known) == len(graph)
    descriptor = known.pop("ro-crate-metadata.json")
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    values = [value for entity in known.values() for value in entity.values()]
    named = [v for value in values for v in (value if isinstance(value, list) else [value])]
    referred = {one["@id"] for one in named if isinstance(one, dict)}
    assert referred - set(known) == set()
    assert set(known) - referred == {"./"}
