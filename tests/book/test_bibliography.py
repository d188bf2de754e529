import re

import pytest
from pybtex.database import parse_string

from membership.book import bibliography, published
from membership.errors import InputError


def test_every_chapter_has_its_paper():
    assert {"bayes_optimal", "iha", "bmia", "gmip", "lood"} <= {*published.papers}
    assert published.papers["bayes_optimal"].short == "Sablayrolles et al. (2019)"
    assert published.papers["bayes_optimal"].authors[-1] == "Hervé Jégou"


@pytest.mark.parametrize("chapter", published.papers)
def test_the_entry_is_well_formed(chapter):
    paper, entry = published.papers[chapter], published.bibtex(chapter)
    assert entry.startswith(f"@{paper.kind}{{{paper.key},\n")
    assert entry.count("{") == entry.count("}")
    assert re.search(rf"title = \{{+{re.escape(paper.title)}\}}+,", entry)
    assert re.fullmatch(r"\d{4}\.\d{5}", paper.arxiv)
    assert len({paper.key for paper in published.papers.values()}) == len(published.papers)


def test_a_bibtex_reader_reads_the_entry():
    text = "".join(published.bibtex(chapter) for chapter in published.papers)
    read = parse_string(text, "bibtex").entries
    later = {"liu2026"}
    assert set(read) == {paper.key for paper in published.papers.values()} | later
    for paper in published.papers.values():
        people = (
            f"{p.first_names[0]} {p.last_names[-1]}" for p in read[paper.key].persons["author"]
        )
        assert tuple(people) == paper.authors
        assert read[paper.key].fields == bibliography.entries[paper.key].fields


WRITTEN = {
    "Jane Doe": ("Doe (2031)", "Jane Doe"),
    "Doe, Jane": ("Doe (2031)", "Jane Doe"),
    "Doe, Jr., Jane Q.": ("Doe (2031)", "Jane Q. Doe Jr."),
    "van der Vaart, Aad": ("van der Vaart (2031)", "Aad van der Vaart"),
    "Florian Tram{\\`e}r": ("Tramèr (2031)", "Florian Tramèr"),
    "{The Privacy Team}": ("The Privacy Team (2031)", "The Privacy Team"),
    "Doe, Jane and Roe, Richard": ("Doe and Roe (2031)", "Jane Doe; Richard Roe"),
    "Doe, Jane and Richard Roe and Poe, Ann": (
        "Doe et al. (2031)",
        "Jane Doe; Richard Roe; Ann Poe",
    ),
    "Doe, Jane and others": ("Doe et al. (2031)", "Jane Doe; others"),
}


@pytest.mark.parametrize("author", WRITTEN)
def test_authors_are_read_however_bibtex_writes_them(author, monkeypatch):
    text = f"""@Misc {{doe2031, AUTHOR = "{author}",
      TITLE = {{On {{MIA}}}}, howpublished = "arXiv", year = 2031, eprint={{1}}, url = {{u}} }}"""
    read = parse_string(text, "bibtex").entries
    monkeypatch.setattr(bibliography, "entries", read)
    paper = bibliography._paper("doe2031")
    assert (paper.short, "; ".join(paper.authors)) == WRITTEN[author]
    again = parse_string(bibliography._laid_out(read["doe2031"]), "bibtex").entries["doe2031"]
    assert again.persons["author"] == read["doe2031"].persons["author"]
    assert dict(again.fields.lower()) == dict(read["doe2031"].fields.lower())


def test_a_paper_of_two_editions_is_cited_by_both():
    read = parse_string(published.bibtex("bmia"), "bibtex").entries
    assert list(read) == ["liu2025", "liu2026"]
    assert len({entry.fields["eprint"] for entry in read.values()}) == 1


def test_a_question_across_papers_is_cited_by_all_of_them():
    assert set(published.subjects) == {*published.papers, *published.questions}
    for chapter, question in published.questions.items():
        entries = published.bibtex(chapter)
        assert question.short == f"“{question.words}”"
        assert all(published.bibtex(one) in entries for one in question.chapters)
        assert len(question.chapters) > 1
        assert entries.count("@") == sum(
            published.bibtex(one).count("@") for one in question.chapters
        )


def test_an_unknown_chapter_is_refused():
    with pytest.raises(InputError, match=r"'sablayrolles2019'.*bayes_optimal"):
        published.bibtex("sablayrolles2019")
