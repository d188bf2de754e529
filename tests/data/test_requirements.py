"""A data set is measured without more work than its check takes."""

import sys

import numpy as np
import pytest

from membership import data
from membership.errors import InputError


@pytest.fixture
def own(tmp_path):
    rng = np.random.default_rng(0)
    file = tmp_path / "own.npz"
    x, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    np.savez(file, x_train=x[:20], y_train=y[:20], x_test=x[20:], y_test=y[20:])
    return file


def test_simulated_records_are_measured_and_not_drawn(monkeypatch):
    monkeypatch.setattr(
        sys.modules["membership.data.requirements"],
        "load",
        lambda *_: pytest.fail("they were drawn"),
    )
    found = data.outline("purchase_like:1500000")
    assert (found.n_records, found.n_train, found.shape) == (1_500_000, 1_500_000, (600,))
    assert (found.n_classes, data.outline("purchase_like:70-odd").n_classes) == (100, 2)
    assert not found.is_image


@pytest.mark.parametrize("name", ["purchase_like:300", "purchase_like:300-odd", "digits-odd"])
def test_the_measures_are_those_of_the_loaded_set(name):
    found, loaded = data.outline(name), data.load(name)
    assert (found.name, found.n_records, found.n_classes) == (
        loaded.name, len(loaded), loaded.n_classes,
    )  # fmt: skip
    assert found.shape == loaded.x.shape[1:]


@pytest.mark.parametrize(
    "name", ["purchase_like:30", "purchase_like:30-odd", "digits", "digits-odd"]
)
def test_what_a_record_is_agrees_with_the_loaded_set(name, own):
    loaded, layout = data.load(name), data.layout(name)
    assert (layout.shape, layout.n_classes) == (loaded.x.shape[1:], loaded.n_classes)
    assert layout.n_encoded == loaded.x[0].size
    assert layout.is_image == data.outline(name).is_image
    assert data.layout(own) == data.Layout((4,), 3, 4)


def test_what_a_record_is_stands_in_the_registry(monkeypatch):
    monkeypatch.setattr(
        sys.modules["membership.data.requirements"],
        "load",
        lambda *_: pytest.fail("they were loaded"),
    )
    assert data.layout("mnist-odd") == data.Layout((1, 28, 28), 2, 784)
    assert data.layout("adult") == data.Layout((12,), 2, 91)


def test_a_file_is_measured_with_its_split(own):
    found = data.outline(own)
    assert (found.n_records, found.n_train, found.shape, found.n_classes) == (30, 20, (4,), 3)


def test_names_are_checked_before_anything_is_loaded(own, monkeypatch):
    data.require_known(["digits", "mnist-odd", "purchase_like:5", str(own)])
    for name, wrong in (("mnits", "mnits"), ("purchase_like:0", "after the colon"), ("x.npz", "x")):
        with pytest.raises(InputError, match=wrong):
            data.require_known(["digits", name])
    with pytest.raises(InputError, match="data_root='/nowhere' is no folder"):
        data.require_known(["digits"], "/nowhere")


def test_features_far_from_one_in_size_are_refused(tmp_path):
    x, y = np.ones((10, 3)), np.arange(10) % 2
    for factor, good in ((30, True), (31, False)):
        np.savez(tmp_path / "own.npz", x=x * [1, factor, 1], y=y)
        found = data.outline(tmp_path / "own.npz")
        if good:
            data.require_scaled(found)
        else:
            with pytest.raises(InputError, match="feature 1 has a root mean square of 31"):
                data.require_scaled(found)


def test_a_column_of_a_table_is_called_by_its_name(tmp_path):
    file, rng = tmp_path / "cohort.csv", np.random.default_rng(0)
    head, words = "sex,age,cholesterol,y", ("f", "m")
    lines = [f"{words[i % 2]},{rng.random():.3f},{{}},{i // 2 % 2}" for i in range(20)]
    file.write_text("\n".join([head, *(line.format(200 + i) for i, line in enumerate(lines))]))
    with pytest.raises(InputError, match="'cholesterol' has a root mean square of 209"):
        data.require_scaled(data.outline(f"{file}:y"))
    of_size = (f"{3000 * rng.random():.0f}" for _ in lines)
    file.write_text("\n".join([head, *map(str.format, lines, of_size)]))
    (told,) = data.cautions(data.outline(f"{file}:y"))
    assert "in standard deviation ('cholesterol' most, 'age' least)" in told


def test_copies_and_features_of_another_size_are_told(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    np.savez(tmp_path / "own.npz", x=x, y=y)
    assert data.cautions(data.outline(tmp_path / "own.npz")) == []
    x[10:] = x[np.arange(50) % 10]
    np.savez(tmp_path / "own.npz", x=x * [1, 1, 1000], y=y)
    copies, sizes = data.cautions(data.outline(tmp_path / "own.npz"))
    assert "50 of the 60 records of own are copies of others" in copies
    assert "-fold in standard deviation (feature 2 most, feature" in sizes
    assert data.cautions(data.outline(tmp_path / "own.npz"), scaled=True) == [copies]
    assert data.cautions(data.outline("digits-odd")) == []


def test_a_constant_feature_is_of_no_size(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    x[:, 1] = 0.1  # whose mean rounds
    np.savez(tmp_path / "own.npz", x=x, y=y)
    assert data.cautions(data.outline(tmp_path / "own.npz")) == []
    found = data.load(f"standardised:{tmp_path / 'own.npz'}")
    assert not found.x[:, 1].any()
