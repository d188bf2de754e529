import dataclasses

import pytest

from membership import paths
from membership.book import exhibits
from membership.book.exhibits import cards, files, panels, provenance


@pytest.fixture
def shown(toy, settings, results, monkeypatch):
    """Save runs of one exhibit of the made-up chapter and give the panels and the card."""
    toy.install(monkeypatch)

    def show(exhibit_id, *profiles, shift=0.0):
        for profile in profiles:
            made = dataclasses.replace(settings, chapter="gmip", profile=profile)
            monkeypatch.setattr(toy, "table", _shifted(toy, shift if profile == "paper" else 0.0))
            exhibits.open_chapter(made).show(exhibit_id)
        (exhibit,) = (one for one in exhibits.declared("gmip") if one.id == exhibit_id)
        runs = panels.panels(exhibit, profiles[-1], "")
        return runs, cards.html(exhibit, runs)

    original = toy.table

    def _shifted(toy, shift):
        return lambda: original(shift)

    return show


def test_the_paper_size_run_comes_first_and_the_readers_own_beside_it(shown, read):
    runs, html = shown("gmip-tab-1", "paper", "quick", shift=0.001)
    assert [run.name for run in runs] == ["Full run", "Quick run"]
    text = read(html).text
    assert text.index("Full run") < text.index("0.511") < text.index("Quick run")
    assert "full run, seed 3" in text
    assert "quick run, seed 3" not in text


def test_identical_runs_are_shown_once(shown):
    runs, _ = shown("gmip-tab-1", "paper", "quick")
    assert [run.name for run in runs] == ["Full run"]
    assert [run.name for run in shown("gmip-tab-1", "quick")[0]] == ["Full run"]


def test_the_header_has_label_id_question_and_counts(shown, read):
    _, html = shown("gmip-tab-1", "quick")
    reader = read(html)
    assert {"id": "gmip-tab-1", "class": "exhibit"} in reader.having("article")
    assert next(link["href"] for link in reader.having("a")) == "#gmip-tab-1"
    head = reader.text[: reader.text.index("Quick run")]
    assert "#gmip-tab-1" in head.split()
    assert "Which attack is <best>?" in head
    assert " ".join(head.split()).endswith("1 agree 1 compatible 1 differ")


@pytest.mark.parametrize(("words", "folded"), [(40, False), (41, True)])
def test_a_note_stands_in_sight_or_where_it_is_long_in_the_fold(
    shown, toy, monkeypatch, words, folded
):
    note = " ".join(["word"] * words)
    monkeypatch.setitem(toy.ATTRS, "note", note)
    _, html = shown("gmip-tab-1", "quick")
    assert html.count(note) == 1
    assert (f"<dd>{note}</dd>" in html) == folded


def test_verdicts_are_made_when_the_card_is(shown, toy, monkeypatch):
    runs, _html = shown("gmip-tab-1", "quick")
    assert runs[0].counts == {"agrees": 1, "compatible": 1, "differs": 1}
    changed = dataclasses.replace(
        runs[0].exhibit, judge=lambda made: toy.judge(made).assign(verdict="agrees")
    )
    assert panels.panels(changed, "quick", "")[0].counts == {"agrees": 4}


def test_every_text_is_escaped_and_there_is_no_script(shown, read):
    for exhibit_id in ("gmip-tab-1", "gmip-fig-1", "gmip-ctl-9"):
        _, html = shown(exhibit_id, "quick")
        assert not {"script", "style", "best"} & {tag for tag, _ in read(html).tags}
    assert "&lt;best&gt;" in shown("gmip-tab-1", "quick")[1]


def test_a_figure_is_linked_on_the_site_and_embedded_elsewhere(shown, read, monkeypatch):
    (image,) = read(shown("gmip-fig-1", "quick")[1]).having("img")
    assert image["src"].startswith("data:image/svg+xml;base64,")
    monkeypatch.setenv(provenance.ON_SITE, "1")
    (image,) = read(shown("gmip-fig-1", "quick")[1]).having("img")
    assert image["src"] == "../../results/quick/gmip/gmip-fig-1.svg"
    assert image["alt"] == "A line through 2 points."
    assert image["loading"] == "lazy"


def test_the_folds_hold_numbers_sizes_departures_and_citation(shown, read):
    reader = read(shown("gmip-tab-1", "quick")[1])
    folds = [
        word for word in reader.words if word in ("The numbers as a table", "Cite and download")
    ]
    assert len(folds) == 2
    for wanted in (
        "10 (paper: 128)",
        "digits in place of MNIST",
        "@misc{membership-gmip-tab-1",
        "@inproceedings{leemann2023",
        "year = {2026}",
    ):
        assert wanted in reader.text
    assert "n_jobs" not in reader.text
    numbers = reader.tables[-1]
    assert numbers[0] == [
        "dataset",
        "attack",
        "measure",
        "published",
        "regenerated",
        "95% interval",
        "verdict",
    ]
    assert [cell.strip() for cell in numbers[4]] == [
        *("Moons", "IHA", "AUC", "0.60", "0.7100", "[0.7060, 0.7140]", "differs 0.096 above"),
    ]


def test_a_short_table_of_words_is_shown_once(shown, read):
    runs, html = shown("gmip-ctl-9", "quick")
    assert runs[0].is_told
    assert read(html).tables == [[["attack", "knows"], ["LOSS", "the loss"]]]
    assert "Not in the paper" in read(html).text


def test_away_from_the_site_files_are_named_and_not_linked(shown, read, results):
    _, html = shown("gmip-tab-1", "quick")
    assert str(results / "quick" / "gmip" / "gmip-tab-1.csv") in read(html).text
    assert all("results" not in link["href"] for link in read(html).having("a"))


def test_runs_in_a_folder_of_their_own_stand_beside_the_committed_one(
    shown, toy, settings, results, tmp_path
):
    shown("gmip-tab-1", "paper", shift=0.001)
    own = str(tmp_path / "own")
    made = dataclasses.replace(settings, chapter="gmip", profile="paper", results_dir=own)
    (exhibit,) = (one for one in exhibits.declared("gmip") if one.id == "gmip-tab-1")
    exhibits.open_chapter(made).show("gmip-tab-1")
    found = [run.name for run in panels.panels(exhibit, "paper", own)]
    assert found[0] == "Full run"
    assert files.load("gmip-tab-1", "paper", own) is not None
    assert paths.results_dir() == results


def test_several_pictures_are_one_card_with_as_many_links():
    pair = [one for one in exhibits.declared("bmia") if one.id in ("bmia-fig-6", "bmia-fig-7")]
    html = cards.gallery([panels.panels(one, "paper", "") for one in pair])
    assert html.count("<article") == 1
    assert "Figures 6 to 7" in html
    for one in pair:
        assert html.count(f'id="{one.id}"') == 1
        assert all(f"{one.id}.{kind}" in html for kind in ("csv", "pdf", "svg", "json"))
