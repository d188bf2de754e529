"""The face of the site and of its figures: in the site itself, small, and free to be shared."""

import re

import pytest
from matplotlib.font_manager import get_font

from membership import paths
from membership.plots import look

STATIC = paths.project_root() / "book" / "_static"
CSS = (STATIC / "custom.css").read_text(encoding="utf-8")
FACES = sorted(set(re.findall(r'url\("(fonts/[\w.-]+)"\)', CSS)))


def test_the_faces_are_files_of_the_site_with_their_licence():
    files = [STATIC / face for face in FACES]
    assert len(files) == 3
    assert all(file.read_bytes().startswith(b"wOF2") for file in files)
    assert sum(file.stat().st_size for file in files) < 100_000
    for folder in (STATIC / "fonts", look._FONTS):
        licence = (folder / "LICENSE.txt").read_text(encoding="utf-8")
        assert "SIL Open Font License, Version 1.1" in " ".join(licence.split())


def test_a_part_of_a_face_does_not_take_the_name_that_its_licence_reserves():
    with open(look._FONTS / "sans.ttf", "rb") as file:
        assert get_font(file.name).family_name == look._FONT == "Membership Sans"


@pytest.mark.parametrize("letters", ["0123456789%", "μδε", "\u2212\u00d7≤≥√²", "…\u2013\u2019"])
def test_figures_have_a_letter_for_what_they_say(letters):
    known = get_font(str(look._FONTS / "sans.ttf")).get_charmap()
    assert [letter for letter in letters if ord(letter) not in known] == []
