import pytest

from membership import exhibits, paths
from membership.errors import InputError
from membership.exhibits import listing
from membership.exhibits.homes import chapter_of, pages_of


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
    with pytest.raises(InputError, match="catalogue"):
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
