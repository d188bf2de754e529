import dataclasses

import pandas as pd
import pytest

from membership.book import exhibits
from membership.book.exhibits import chapter as room
from membership.book.exhibits import provenance
from membership.errors import InputError


@pytest.fixture
def chapter(settings, results, monkeypatch, toy):
    toy.install(monkeypatch)
    return exhibits.open_chapter(dataclasses.replace(settings, chapter="gmip"))


def test_showing_saves_what_this_run_made(chapter, results):
    chapter.show("gmip-fig-1")
    found = sorted(path.name for path in (results / "quick" / "gmip").iterdir())
    files = [f"gmip-fig-1.{kind}" for kind in ("csv", "json", "narrow.svg", "pdf", "svg")]
    assert found == [*files, "run.manifest"]
    table, record = exhibits.load("gmip-fig-1", "quick")
    assert list(table["value"]) == [0.62, 0.71]
    assert record["label"] == "Figure 1"


def test_a_notebook_gets_one_card(chapter, monkeypatch):
    shown = []
    monkeypatch.setattr(provenance, "in_notebook", lambda: True)
    monkeypatch.setattr(room, "_display", lambda *forms: shown.append(forms))
    chapter.show("gmip-tab-1")
    ((html, text, _),) = shown
    assert html.count("<article") == 1
    assert 'id="gmip-tab-1"' in html
    assert "1 agree, 1 compatible, 1 differ" in text
    assert "The best AUC is 0.71." in text


@pytest.mark.parametrize("on_site", [True, False])
def test_what_a_notebook_shows_stands_alone_away_from_the_site(
    chapter, on_site, read, monkeypatch, results
):
    shown = []
    monkeypatch.setattr(provenance, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda forms, raw: shown.append(forms))
    monkeypatch.delenv(provenance.ON_SITE, raising=False)
    if on_site:
        monkeypatch.setenv(provenance.ON_SITE, "1")
    chapter.show("gmip-fig-1")
    chapter.gallery("gmip-fig-1", "gmip-tab-1")
    for forms, tables in zip(shown, (1, 2), strict=True):
        assert ("<article" in forms["text/html"]) == on_site
        assert set(forms) - {"text/html", "text/plain"} == (
            {provenance.ALONE} if on_site else set()
        )
        alone = forms.get(provenance.ALONE, forms["text/html"])
        reader = read(alone)
        (image,) = reader.having("img")
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert len(reader.tables) == tables
        assert all("0.62" in str(table) for table in reader.tables)
        assert not {"svg", "style", "script", "a", "link"} & {tag for tag, _ in reader.tags}
        assert str(results) not in alone


def test_an_exhibit_that_is_not_declared_is_refused(chapter, results):
    with pytest.raises(InputError, match="declares no 'gmip-tab-7'; it has gmip-tab-1, gmip-fig-1"):
        chapter.show("gmip-tab-7")
    assert not results.exists()


def test_prose_takes_a_number_by_name(chapter):
    where = {"dataset": "Moons", "attack": "IHA", "metric": "AUC"}
    assert chapter.number("gmip-tab-1", where, ".3f") == "0.710"
    assert chapter.number("gmip-tab-1", where, ".2f", column="low") == "0.71"
    assert chapter.number("gmip-tab-1", where) == "0.71"


@pytest.mark.parametrize(
    ("where", "column", "what"),
    [
        ({"attack": "IHA"}, "value", "singles out 2 rows"),
        ({"attack": "RMIA"}, "value", "singles out 0 rows"),
        ({"attack": "IHA", "data": "Moons"}, "value", "no column 'data'; there are dataset"),
        ({"attack": "IHA", "dataset": "Moons"}, "worth", "no column 'worth'"),
    ],
)
def test_a_number_that_is_not_there_is_no_number(chapter, where, column, what):
    with pytest.raises(InputError, match=what):
        chapter.number("gmip-tab-1", where, column=column)


def test_a_chapter_without_declarations_cannot_be_opened(settings, monkeypatch, toy):
    toy.install(monkeypatch, ())
    with pytest.raises(InputError, match="declares no exhibits"):
        exhibits.open_chapter(dataclasses.replace(settings, chapter="gmip"))


def test_keys_that_are_numbers_are_found_by_their_text():
    table = pd.DataFrame({"n": [400, 1000], "value": [1.0, 2.0]})
    assert room.numbers.number_at(table, {"n": 1000}, ".0f") == "2"
