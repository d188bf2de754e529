"""What a page holds of a moving picture before its script runs."""

import json
import re
from html import unescape

import pytest

from membership import paths
from membership.book import running
from membership.book.site import moving, plain_markdown, substitutions
from membership.errors import InputError

READ = {"exhibit": substitutions.number, "printed": substitutions.printed}


def numbers(html: str):
    return json.loads(unescape(re.search(r'data-numbers="(.*?)"', html)[1]))


def leaves(one) -> list[float]:
    parts = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return [one] if isinstance(one, float) else [leaf for part in parts for leaf in leaves(part)]


def test_every_chapter_has_one_and_shows_it_before_anything_else() -> None:
    assert set(moving.pictures()) == set(running.chapters())
    for chapter in running.chapters():
        page = (paths.project_root() / "notebooks" / f"{chapter}.md").read_text()
        assert page.count(f'{{{{ moving("{chapter}") }}}}') == 1
        assert page.index("{{ moving(") < page.index("chapter.show(")


@pytest.mark.parametrize("chapter", moving.pictures())
def test_its_scripts_and_its_still_are_there(chapter: str) -> None:
    html = moving.figure(chapter, "../", READ)
    found = re.findall(r'src="\.\./\.\./_static/([^"]+)"', html)
    assert len(found) >= 4
    for name in found:
        assert (paths.project_root() / "book" / "_static" / name).is_file(), name


def test_numbers_are_those_of_the_exhibits_they_name() -> None:
    given = numbers(moving.figure("iha", "", READ))
    where = {"dataset": "MNIST-Odd", "attack": "IHA", "metric": "AUC"}
    assert given["iha"][1][1] == float(substitutions.number("iha-ctl-1", ".10g", **where))
    assert numbers(moving.figure("lood", "", READ)) == {}
    assert len(leaves(numbers(moving.figure("comparison", "", READ)))) == 8


def test_a_name_that_is_none_says_which_there_are() -> None:
    with pytest.raises(InputError, match="no moving picture 'x'; there are bayes_optimal, iha"):
        moving.figure("x", "", READ)


def test_a_notebook_by_itself_says_that_there_is_one() -> None:
    shown = plain_markdown.plain('Before.\n\n{{ moving("lood") }}\n\nAfter.', "book/chapters/lood")
    assert "what a question at each place tells: a picture that moves on the site" in shown
