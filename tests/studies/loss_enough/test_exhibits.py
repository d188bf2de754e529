"""What the pictures and sentences say is of their tables, whatever comes out."""

import matplotlib.pyplot as plt
import pytest

from membership.exhibits import declared
from membership.exhibits.source import Source
from membership.studies.loss_enough.names import ATTACKS, LEAST, MEDIAN
from membership.studies.loss_enough.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})
EXHIBITS = declared("loss_enough")


@pytest.fixture(scope="module")
def source():
    return Source(SETTINGS, EXHIBITS, gather=False)


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_every_exhibit_says_something_and_draws_known_attacks(exhibit, source):
    table = exhibit.compute(source)
    assert exhibit.says(table).endswith(".")
    assert table.attrs["sizes"]
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)
        figure = exhibit.draw(table)
        (legend,) = figure.legends
        assert {one.get_text() for one in legend.get_texts()} <= {*ATTACKS, LEAST, MEDIAN}
        plt.close(figure)
