"""Laws of wide networks beside retrained ones, against numbers worked out another way."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import spearmanr

from membership import lood, nngp
from membership.book.studies.lood import laws, leakage, measures


def test_the_posterior_is_that_of_the_other_exhibits(gathered):
    found, before = gathered("process-laws"), measures.contrast(gathered("process-influence"))
    part = found.sel(activation="relu", law=laws.PROCESS, level=0.05)
    np.testing.assert_array_equal(part["record"], gathered("process-influence")["record"])
    np.testing.assert_allclose(part["excess"], before.excess[:, 0], rtol=1e-9)
    np.testing.assert_allclose(part["shift"], before.shift[:, 0], rtol=1e-9)
    np.testing.assert_allclose(part["mean_distance"], before.mean_distance, rtol=1e-9)


@pytest.mark.parametrize("activation", laws.NETWORKS)
def test_the_tangent_posterior_is_one_with_that_kernel(gathered, records, settings, activation):
    found = gathered("process-laws")
    few = records.first(settings.network_records)
    w_std = {"relu": 2**0.5, "gelu": 1.9822}[activation]
    kernel = nngp.fully_connected(settings.depth, activation, w_std)
    tangent = nngp.tangent_kernel(kernel, few.inputs())
    part = found.sel(activation=activation, law=laws.TANGENT, level=0.5)
    for i, row in enumerate(part["record"].values):
        kept = np.delete(np.arange(len(few)), row)
        weights = np.linalg.inv(tangent[np.ix_(kept, kept)] + 0.5 * np.eye(len(kept)))
        variance = tangent[row, row] - tangent[row, kept] @ weights @ tangent[kept, row]
        assert part["excess"][i] == pytest.approx(variance / 0.5, rel=1e-8)
    of_ensembles = found.sel(activation=activation, law=laws.ENSEMBLE, level=0.5)
    again = lood.trained_ensembles(
        kernel(few.inputs()), tangent, few.targets, part["record"].values, 0.5
    )
    np.testing.assert_allclose(of_ensembles["excess"], again.excess[:, 0], rtol=1e-12)


def test_the_table_has_every_correlation_with_the_networks(gathered):
    pairs = gathered("pairs-relu")
    table = laws.against_networks(gathered("process-laws"), pairs, gathered("pairs-gelu"))
    auc = measures.network_auc(pairs)[0]
    part = gathered("process-laws").sel(activation="relu", level=5.0)
    estimate = lood.Contrast(
        *(part.sel(law=laws.ENSEMBLE)[name].values[:, None] for name in ("excess", "shift")), 0.0, 2
    ).auc()
    rows = table.set_index(["networks", "law", "noise", "metric"]).sort_index()
    own = rows.loc[("ReLU", laws.ENSEMBLE, 5.0)]["value"]
    assert own[laws.RANKED] == pytest.approx(spearmanr(estimate, auc).statistic)
    assert own[leakage.BY_VALUE] == pytest.approx(np.corrcoef(estimate, auc)[0, 1])
    process = rows.loc[("ReLU", laws.PROCESS, 5.0)]["value"]
    assert own[laws.AHEAD] == pytest.approx(process[laws.RANKED] - own[laws.RANKED])
    assert set(table["noise"].dropna()) == {0.005, 0.05, 0.5, 5.0}


def test_two_halves_that_agree_are_reliable(gathered):
    pairs = gathered("pairs-relu")
    answer = np.repeat(pairs["answer"].values, 2, axis=2)
    alike = xr.Dataset({"answer": (pairs["answer"].dims, answer)}, attrs=pairs.attrs)
    assert laws.reliability(alike)["value"] == pytest.approx(1)
