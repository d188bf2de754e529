import re

import pytest

from membership import published
from membership.errors import InputError


def test_every_chapter_has_its_paper():
    assert list(published.papers) == ["bayes_optimal", "iha", "bmia", "gmip", "lood"]
    assert published.papers["bayes_optimal"].short == "Sablayrolles et al. (2019)"
    assert published.papers["bayes_optimal"].authors[-1] == "Hervé Jégou"


@pytest.mark.parametrize("chapter", published.papers)
def test_the_entry_is_well_formed(chapter):
    paper, entry = published.papers[chapter], published.bibtex(chapter)
    assert entry.startswith(f"@{paper.kind}{{{paper.key},\n")
    assert entry.count("{") == entry.count("}")
    assert f"title = {{{{{paper.title}}}}}" in entry
    assert " and ".join(paper.authors) in entry
    assert re.fullmatch(r"\d{4}\.\d{5}", paper.arxiv)
    assert len({paper.key for paper in published.papers.values()}) == len(published.papers)


def test_a_bibtex_reader_reads_the_entry():
    pybtex = pytest.importorskip("pybtex.database")
    text = "".join(published.bibtex(chapter) for chapter in published.papers)
    read = pybtex.parse_string(text, "bibtex")
    people = read.entries["sablayrolles2019"].persons["author"]
    assert [str(person.last_names[-1]) for person in people][-1] == "Jégou"
    assert len(read.entries) == 5


def test_a_question_across_papers_is_cited_by_all_of_them():
    assert set(published.subjects) == {*published.papers, *published.questions}
    for chapter, question in published.questions.items():
        entries = published.bibtex(chapter)
        assert question.short == f"“{question.words}”"
        assert all(published.bibtex(one) in entries for one in question.chapters)
        assert entries.count("@") == len(question.chapters) > 1


def test_an_unknown_chapter_is_refused():
    with pytest.raises(InputError, match=r"'sablayrolles2019'.*bayes_optimal"):
        published.bibtex("sablayrolles2019")
