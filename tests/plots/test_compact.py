import io
import re
import xml.etree.ElementTree as ET

import numpy as np
from matplotlib.figure import Figure

from membership import plots
from membership.plots.compact import compact

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def drawn() -> bytes:
    """Markers, hatched bars that let something through, a picture and a text, as matplotlib has."""
    content = io.BytesIO()
    with plots.style():
        figure = Figure()
        left, right = figure.subplots(1, 2)
        left.plot(np.linspace(0, 1, 300), np.linspace(1, 2, 300), "o")
        left.bar([0, 1, 2, 3], 1, hatch="///", alpha=0.5)
        right.imshow(np.eye(3))
        right.set_title("a < b")
        figure.savefig(content, format="svg")
    return content.getvalue()


def counted(content: bytes) -> dict[str, int]:
    root = ET.fromstring(content)
    kinds = ("use", "image", "text", "clipPath", "pattern")
    return {kind: len(list(root.iter(SVG + kind))) for kind in kinds}


def test_a_compact_drawing_has_all_its_parts_in_half_the_bytes():
    before = drawn()
    after = compact(before)
    assert counted(after) == counted(before)
    assert counted(after)["use"] > 300
    assert len(after) < len(before) / 2
    texts = [[t.text for t in ET.fromstring(one).iter(SVG + "text")] for one in (before, after)]
    assert texts[0] == texts[1]
    assert after == compact(before)


def test_every_reference_of_a_compact_drawing_leads_somewhere():
    root = ET.fromstring(compact(drawn()))
    said = ET.tostring(root, encoding="unicode")
    asked = set(re.findall(r"url\(#([^)]+)\)", said))
    asked |= {each.get(LINK)[1:] for each in root.iter(SVG + "use")}
    assert asked == {each.get("id") for each in root.iter() if each.get("id")}
    assert len(asked) > 4
    named = {each.get("class") for each in root.iter() if each.get("class")}
    sheet = root.find(f".//{SVG}style").text
    assert named == set(re.findall(r"\.(\w+)\{", sheet))


def test_parts_that_let_something_through_stay_so_one_by_one():
    root = ET.fromstring(compact(drawn()))
    assert not [g for g in root.iter(f"{SVG}g") if re.search(r"(^|;)opacity", g.get("style", ""))]


def test_coordinates_lie_within_a_hundredth_of_a_point():
    def places(content: bytes) -> np.ndarray:
        uses = ET.fromstring(content).iter(SVG + "use")
        return np.array([[float(use.get(key)) for key in ("x", "y")] for use in uses])

    before = drawn()
    assert np.abs(places(before) - places(compact(before))).max() <= 0.0051
