"""The visual grammar of the book: its committed tables drawn, and what is seen compared."""

from collections import defaultdict

import pytest
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from membership.attacks import looks, registry
from membership.book.bibliography import subjects
from membership.book.exhibits import files
from membership.book.exhibits.declaration import declared
from membership.plots import look

DISPLAYS = {attack.display for attack in registry().values()}
GREYS = {look.REST.lower(), look.GREY.lower()}


def lines_of(figure):
    """The label, colour and mark of each line or row of marks that has a name."""
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
            if isinstance(line, Line2D):
                yield label, to_hex(line.get_color()), line.get_marker()


@pytest.fixture(scope="module")
def drawn():
    """By exhibit, what is drawn under which name."""
    exhibits = [one for chapter in subjects for one in declared(chapter) if one.draw]
    saved = [(one, files.load(one.id)) for one in exhibits]
    return {
        one.id: {*lines_of(one.draw(files.as_saved(found[0])))} for one, found in saved if found
    }


@pytest.mark.slow
def test_an_attack_has_one_colour_and_one_mark_in_every_figure(drawn):
    seen = defaultdict(set)
    for exhibit, series in drawn.items():
        for label, colour, mark in series:
            own = looks.of_series(label)
            if own is None:
                continue
            assert colour in {own.colour.lower(), *GREYS}, (exhibit, label)
            if label in DISPLAYS and mark != "None":
                seen[label].add(mark)
    assert len(seen) > 15
    assert {label: marks for label, marks in seen.items() if len(marks) > 1} == {}


@pytest.mark.slow
def test_at_most_four_series_of_a_figure_have_a_colour(drawn):
    for exhibit, series in drawn.items():
        names = [label for label in dict.fromkeys(label for label, *_ in series)]
        shades = look._shades(sorted(names)).keys()
        colours = {colour for label, colour, _ in series if label not in shades} - GREYS
        assert len(colours) + bool(shades) <= 5, exhibit
        own = {colour for label, colour, _ in series if looks.of_series(label)} - GREYS
        assert len(own) <= 4, exhibit
