from types import SimpleNamespace

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
