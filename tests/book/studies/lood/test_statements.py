"""The paper's statements hold in numbers, and the slips change what they should."""

import numpy as np
import pandas as pd
import pytest

from membership.book.studies.lood import influenced, statements


def test_the_statements_hold(gathered, settings):
    slopes, records = gathered("measured-slopes"), gathered("process-records")
    table = statements.statements(slopes, records, [gathered("process-constant")], settings)
    table = table.set_index(["statement", "case", "quantity"])["value"]
    slopes = table["Theorem 4.1"]
    for (_, quantity), value in slopes.items():
        assert (value < 1e-5) == ("KL" in quantity), quantity
    assert (table["Appendix C.2"] >= 1).all()
    for place in influenced.PLACES:
        part = table["Proposition 5.1"][f"S {place}"]
        assert part["formula"] == pytest.approx(part["differences"], rel=1e-5)
    bounds = table["Proposition 6.1"].unstack("quantity")
    assert (bounds["largest variance"] <= bounds["its bound"]).all()
    assert (bounds["largest KL"] <= bounds["bound of the KL"]).all()


def test_the_released_deviations_are_not_on_the_edge_of_chaos_but_for_relu():
    table = pd.DataFrame(statements.decay()).set_index(["case", "quantity"])["value"]
    relu = [table[f"ReLU, L = {depth}"]["(1 - c) L^2"] for depth in (10, 20, 40)]
    assert relu == sorted(relu)
    assert relu[-1] < 4.5 * np.pi**2
    assert table["GeLU, sqrt(2), no bias, L = 40"]["variance"] < 1e-8
    assert table["GeLU, 1.9822, no bias, L = 40"]["variance"] > 1e11


def test_the_released_slips_change_what_they_should(gathered):
    table = statements.released_code(gathered("process-slips"))
    table = table.set_index(["slip", "metric"])["value"]
    assert table[statements.LEFT_IN, "largest t, as released (at most 1/2)"] <= 0.5
    left_in = table[statements.LEFT_IN]
    assert left_in["median KL, as released"] < left_in["median KL, record left out"]
    assert 20 < table[statements.LABEL, "labels that change (%)"] < 80
