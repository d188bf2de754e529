import importlib.util
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

from fontTools.ttLib import TTFont

from membership.pipeline import lighter

PAGE = """<head><script defer src="../_static/scripts/fontawesome.js?digest=5"></script>
<script src="../_static/page.js"></script><script src="../searchindex.js"></script></head>"""


def test_a_page_keeps_what_it_uses_and_the_search_its_index(tmp_path):
    (tmp_path / "book").mkdir()
    for name in ("book/game.html", "search.html"):
        (tmp_path / name).write_text(PAGE)
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    lighter.lighten(app, ValueError())
    assert (tmp_path / "book/game.html").read_text() == PAGE
    lighter.lighten(app, None)
    left = '<head>\n<script src="../_static/page.js"></script></head>'
    assert (tmp_path / "book/game.html").read_text() == left
    assert (tmp_path / "search.html").read_text() == PAGE


def test_pages_without_cards_of_the_theme_do_without_their_style(tmp_path):
    link = '<link rel="stylesheet" href="_static/sphinx-design.min.css?v=6" />\n'
    for name, body in (("plain.html", "<p>"), ("cards.html", '<p class="a sd-card">')):
        (tmp_path / name).write_text(f"<head>{link}</head>{body}")
    lighter.lighten(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html")), None)
    assert (tmp_path / "plain.html").read_text() == "<head></head><p>"
    assert link in (tmp_path / "cards.html").read_text()


def test_of_the_icons_those_that_a_page_shows_are_kept(tmp_path):
    static = tmp_path / "_static"
    theme = Path(importlib.util.find_spec("pydata_sphinx_theme").origin).parent
    theme = theme / "theme" / "pydata_sphinx_theme" / "static"
    for part in ("styles", "vendor/fontawesome/webfonts"):
        shutil.copytree(theme / part, static / part)
    (static / "own.css").write_text('p::after { content: "\\f107"; }')
    (tmp_path / "page.html").write_text('<i class="fa-solid fa-bars"></i>')
    lighter.lighten(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html")), None)
    text = (static / "styles" / "pydata-sphinx-theme.css").read_text()
    assert ".fa-bars:before" in text
    assert ".fa-yin-yang:before" not in text
    asked = re.findall(r"url\(\.\./([^)]*webfonts[^)]*)\)", text)
    assert len(asked) == 3
    assert {(static / one).is_file() for one in asked} == {True}
    (font,) = [one for one in asked if "solid" in one]
    glyphs = TTFont(static / font).getBestCmap()
    assert {0xF0C9, 0xF107} <= set(glyphs)
    assert len(glyphs) < 40
    assert (static / font).stat().st_size < 20_000
    assert not list(static.rglob("*.ttf"))


def test_mathjax_comes_in_the_parts_that_are_listed_and_else_whole():
    config = SimpleNamespace(mathjax_path="mathjax/all.js", mathjax3_config=None)
    lighter.choose_mathjax(None, config)
    assert config.mathjax_path == "mathjax/all.js"
    config.mathjax3_config = {"loader": {"load": ["core"]}}
    lighter.choose_mathjax(None, config)
    assert config.mathjax_path == "mathjax/startup.js"
