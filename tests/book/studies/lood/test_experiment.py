"""Records of two classes, scaled, and pictures as cells."""

import numpy as np
import pytest

from membership import data
from membership.book.exhibits.tidy import origin
from membership.book.studies.lood import experiment
from membership.book.studies.lood.evidence import of_records, queries, searches
from membership.book.studies.lood.experiment import SCALINGS, load, scaled
from membership.book.studies.lood.settings import Settings
from membership.errors import InputError


def test_two_classes_with_centred_labels(records):
    assert len(records) == 60
    assert records.shape == (1, 8, 8)
    np.testing.assert_array_equal(records.targets.sum(axis=1), 0)
    np.testing.assert_array_equal(records.targets.argmax(axis=1), records.dataset.y)
    assert 10 < records.dataset.y.sum() < 50


def test_scalings(records):
    raw = records.inputs()
    assert raw.shape == (60, 64)
    assert 0 <= raw.min() < raw.max() <= 1
    standard = records.inputs("standardised")
    assert standard.mean() == pytest.approx(0, abs=1e-12)
    assert standard.std() == pytest.approx(1)
    np.testing.assert_allclose(np.square(records.inputs("unit sphere")).mean(axis=1), 1)


def test_standardising_is_by_channel():
    x = np.random.default_rng(0).normal(size=(9, 2, 3, 3)) * np.array([1.0, 5.0])[:, None, None]
    rows = scaled(x, "standardised").reshape(9, 2, 9)
    np.testing.assert_allclose(rows.std(axis=(0, 2)), 1)


def test_too_few_records_are_named():
    with pytest.raises(InputError, match="holds"):
        load(Settings.from_values({"profile": "tiny", "n_records": 5000}))


@pytest.mark.slow
def test_rows_of_a_table_are_bars_with_every_kernel_that_needs_no_neighbours(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 5)) * [1, 1e4, 1, 1, 0] + [0, -7, 0, 0, 3]
    file = data.save(data.from_arrays(x, np.arange(80) % 2), tmp_path / "own.npz")
    values = {"profile": "tiny", "dataset": str(file), "n_records": 40, "n_reconstructed": 2}
    settings = Settings.for_run(values)
    own = load(settings)
    assert own.shape == (1, 1, 5)
    rows = own.inputs()
    assert rows[:, :4].min() >= 0
    assert rows[:, :4].max() <= 1
    assert (rows[:, 4] == 0).all()
    low, high = x.min(axis=0), x.max(axis=0)
    by_hand = (x - low) / np.where(high > low, high - low, 1)
    apart = np.abs(rows[:, None] - by_hand).max(axis=2).min(axis=1)
    assert apart.max() < 1e-5
    made = searches.Searches(own, settings)
    assert not any(searches.convolutional(name) for name in made.kernels(further=True))
    found = queries.most_influenced(settings)
    assert found["level"].shape[-3:] == (1, 1, 5)


def test_digits_are_none_of_the_papers_data(records, settings):
    found = of_records(records, settings)
    assert "none of the paper's data" in found["deviations"][0]


def test_pictures_as_cells():
    image = np.array([[[0.0, 0.5], [1.0, 2.0]]])
    levels = experiment.thumbnail(image)
    assert levels.dtype == np.uint8
    assert experiment.cells(levels) == {"shape": "1x2x2", "pixels": "0 128 255 255"}
    assert experiment.cells(None) == {"shape": "", "pixels": ""}
    assert experiment.correlation(image, 3 - 2 * image) == pytest.approx(-1)
    assert experiment.correlation(image, np.ones_like(image)) == 0
    assert np.ptp(experiment.stretched(image)) == 1


def test_many_correlations_are_those_of_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(3, 1, 2, 2)), rng.normal(size=(4, 1, 2, 2))
    second[1] = 0.5  # has no correlation
    expected = [[experiment.correlation(a, b) for b in second] for a in first]
    np.testing.assert_allclose(experiment.correlations(first, second), expected, atol=1e-14)


def test_the_sizes_are_those_of_the_records_used(gathered, settings):
    found = origin([gathered("process-records")])["sizes"]
    assert found == {"Training records": "60"}
    found = origin([gathered("pairs-relu")])["sizes"]
    assert found["Training records"] == str(settings.network_records)
    assert found["Networks a side"] == str(settings.n_networks)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_others_are_scaled_as_the_records_are(records, scaling):
    x = records.dataset.x.astype(np.float64)
    few = records.alike(x[:3], scaling)
    np.testing.assert_allclose(few, records.inputs(scaling)[:3])
