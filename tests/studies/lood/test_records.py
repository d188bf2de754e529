import numpy as np
import pytest

from membership.errors import InputError
from membership.studies.lood import pictures
from membership.studies.lood.origin import observed, of_records
from membership.studies.lood.records import load, scaled
from membership.studies.lood.settings import Settings


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


def test_digits_are_none_of_the_papers_data(records, settings):
    found = of_records(records, settings)
    assert "none of the paper's data" in found["deviations"][0]


def test_pictures_as_cells():
    image = np.array([[[0.0, 0.5], [1.0, 2.0]]])
    levels = pictures.thumbnail(image)
    assert levels.dtype == np.uint8
    assert pictures.cells(levels) == {"shape": "1x2x2", "pixels": "0 128 255 255"}
    assert pictures.cells(None) == {"shape": "", "pixels": ""}
    assert pictures.correlation(image, 3 - 2 * image) == pytest.approx(-1)
    assert pictures.correlation(image, np.ones_like(image)) == 0
    assert np.ptp(pictures.stretched(image)) == 1


def test_the_sizes_are_those_of_the_records_used(gathered, settings):
    found = observed(gathered("process-records"))["sizes"]
    assert found == {"Training records": "60"}
    found = observed(gathered("pairs-relu"))["sizes"]
    assert found["Training records"] == str(settings.network_records)
    assert found["Networks a side"] == str(settings.n_networks)
