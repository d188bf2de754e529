import pytest

from membership.published import misprints


def test_what_is_printed_twice_is_read_from_the_tables():
    table = misprints.pairs("iha").set_index("quantity")
    first = table.loc["LOSS on Purchase-100, AUC"]
    assert first["printed"] == 0.531
    assert first["printed there"] == 0.529
    assert first["difference"] == pytest.approx(0.002)
    (order,) = (q for q in table.index if q.startswith("TPR at FPR 0.3"))
    assert table.loc[order, "difference"] < 0
