"""The RO-Crate metadata is read by the standard's library, and true of the unpacked files."""

import json

from rocrate.rocrate import ROCrate

from membership.manifest import digest_of
from membership.pipeline import deposit

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
    known = [entity["@id"] for entity in graph]
    assert len(set(known)) == len(known)
    assert known[0] == "ro-crate-metadata.json"
    assert graph[0]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    values = [value for entity in graph[1:] for value in entity.values()]
    named = [v for value in values for v in (value if isinstance(value, list) else [value])]
    referred = {one["@id"] for one in named if isinstance(one, dict)}
    assert referred - set(known) == set()
    assert set(known) - referred == {"ro-crate-metadata.json", "./"}
