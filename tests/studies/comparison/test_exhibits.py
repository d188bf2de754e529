"""Every exhibit of a tiny run: it is drawn, it says something, its numbers hang together."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from membership.exhibits import declared

EXHIBITS = declared("comparison")


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_every_exhibit_says_something_and_is_drawn(exhibit, source):
    table = source.table(exhibit.id)
    assert exhibit.says(table).endswith(".")
    assert "nan" not in exhibit.says(table)
    assert table.attrs["sizes"]
    assert not table.duplicated(list(table.columns[: list(table.columns).index("value")])).any()
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)
        plt.close(exhibit.draw(table))


def test_without_mislabelled_records_asked_nothing_is_said_of_them():
    plain = pd.DataFrame({"attack": ["LiRA"], "records": ["as they are"], "value": [0.6]})
    (exhibit,) = (exhibit for exhibit in declared("comparison") if exhibit.id == "comparison-ctl-1")
    assert exhibit.says(plain) == ""
    both = pd.concat([plain, plain.assign(records="mislabelled", value=0.9)])
    assert exhibit.says(both).endswith("0.900 on mislabelled ones.")
