"""What attacks cost: references, seconds, and who is on the front."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from membership import attacks
from membership.book.studies.comparison import costs, scores


@pytest.mark.slow
def test_fewer_references_are_pairs_and_cost_less(seen, source):
    one = seen[0]
    for place in range(len(one.targets)):
        rows = one.outputs["member"].values[scores._start(one.references, place, 2)]
        assert (rows[0] ^ rows[1]).all()
    times = source.evidence(f"times-{one.cell.word}")
    assert costs.references_of("loss", one) == 0
    assert costs.references_of("lira", one, 4) == 4
    assert costs.references_of("bmia-closed", one) == 2
    assert costs.seconds_of("lira", one, times, 2) < costs.seconds_of("lira", one, times)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bmia-closed", "bmia-mixture", "qmia", "iha", "matt"])
def test_what_an_attack_costs_does_not_hang_on_its_name(seen, source, name, monkeypatch):
    one, known = seen[0], attacks.registry()
    times = source.evidence(f"times-{one.cell.word}")
    more = xr.Dataset({"part": ("case", ["score: renamed"]), "seconds": ("case", [0.5])})
    parts = dict(zip(times["part"].values, times["seconds"].values, strict=True))
    seconds, used = costs.seconds_of(name, one, times), costs.references_of(name, one)
    renamed = replace(known[name], name="renamed")
    monkeypatch.setattr(attacks, "registry", lambda: {**known, "renamed": renamed})
    with_more = xr.concat([times[["part", "seconds"]], more], "case")
    assert costs.references_of("renamed", one) == used
    assert costs.seconds_of("renamed", one, with_more) == pytest.approx(
        seconds - parts[f"score: {name}"] + 0.5
    )


def test_costs_that_differ_by_less_than_a_reference_model_are_equal():
    rows = [
        ("LOSS", 0.01, 0.70),
        ("LOSS", 0.01, 0.70),
        ("RMIA", 0.9428, 0.74),
        ("BASE", 0.9430, 0.78),
        ("BMIA, mixture", 1.4, 0.79),
        ("LiRA", 30.0, 0.78),
    ]
    points = pd.DataFrame(rows, columns=["attack", "seconds", "value"])
    on = costs.front(points, step=0.47)
    assert on.tolist() == [True, True, False, False, True, False]
    # Where a model takes next to nothing to train, a tenth of a millisecond counts.
    assert costs.front(points, step=1e-5).tolist() == [True, True, True, True, True, False]
    said = costs.against_seconds_said(points.assign(**{costs.FRONT: np.where(on, "yes", "no")}))
    assert "none is better than LOSS and BMIA, mixture. LOSS takes 0.01 s" in said
