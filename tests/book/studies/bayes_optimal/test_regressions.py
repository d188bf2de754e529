"""The two classes of Table 1, raw and through a network."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from membership import data
from membership.book.studies.bayes_optimal import regressions
from membership.book.studies.bayes_optimal.settings import Settings
from membership.errors import InputError


def images(path, n=90, n_classes=3, seed=0, size=(32, 32, 3)):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    x = rng.integers(0, 200, (n, *size)) + 10 * y.reshape(-1, 1, 1, 1)
    np.savez(path, x=x.astype(np.uint8), y=y)
    return str(path)


@pytest.fixture
def small_source(tmp_path, monkeypatch):
    """A small file in the place of CIFAR-100, and a cache of its own."""
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    source = data.load(images(tmp_path / "source.npz"))
    load = data.load
    monkeypatch.setattr(
        data, "load", lambda name, root=None: source if "cifar100" in name else load(name, root)
    )


def test_digits_are_standardised_pixels_of_two_classes():
    found = regressions.two_classes(Settings.from_strings({"profile": "tiny"}))
    assert found.x.shape == (357, 64)
    assert set(found.y) == {0, 1}
    varies = found.x.std(0) > 0
    np.testing.assert_allclose(found.x[:, varies].std(0), 1, atol=1e-12)
    np.testing.assert_allclose(found.x.mean(0), 0, atol=1e-12)
    assert found.setup["data"].startswith("digits")
    assert any("digits" in deviation for deviation in found.deviations)


def test_without_classes_the_two_largest_are_taken(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [5, 30, 20])
    np.savez(tmp_path / "mine.npz", x=rng.normal(size=(55, 4)).astype(np.float32), y=y)
    settings = Settings.from_strings({"dataset": str(tmp_path / "mine.npz")})
    found = regressions.two_classes(settings)
    assert np.bincount(found.y).tolist() == [30, 20]


@pytest.mark.usefixtures("small_source")
def test_a_network_gives_its_last_hidden_layer(tmp_path):
    """Trained on one small file in the place of CIFAR-100, applied to another."""
    values = {
        "profile": "tiny",
        "dataset": images(tmp_path / "mine.npz", seed=1),
        "feature_network": "small-cnn",
        "classes": "[0, 2]",
    }
    found = regressions.two_classes(Settings.from_strings(values))
    assert found.x.shape == (60, 128)
    assert "source" in found.digests
    assert any("small-cnn trained 1 epochs" in deviation for deviation in found.deviations)


@pytest.mark.usefixtures("small_source")
def test_a_network_that_does_not_fit_the_records_is_refused():
    settings = Settings.from_strings({"profile": "tiny", "feature_network": "small-cnn"})
    with pytest.raises(InputError, match="use feature_network = raw"):
        regressions.two_classes(settings)


def test_the_penalty_is_that_of_the_least_loss_outside_the_splits():
    values = {"profile": "tiny", "n_repeats": "2", "n_jobs": "1"}
    settings, n = Settings.from_strings(values), 60
    x, y = (getattr(regressions.two_classes(settings), name) for name in "xy")
    losses = []
    for penalty in regressions.INVERSE_PENALTIES:
        model, of_splits = LogisticRegression(C=penalty, tol=1e-6, max_iter=20_000), []
        for repeat in range(regressions.SPLITS_FOR_PENALTY):
            *_, reserve, outside = regressions.split(len(y), n, repeat, settings.seed)
            answers = model.fit(x[reserve], y[reserve]).predict_proba(x[outside])
            of_splits.append(log_loss(y[outside], answers))
        losses.append(np.mean(of_splits))
    best = regressions.INVERSE_PENALTIES[losses.index(min(losses))]
    assert regressions.white_box(n, settings).attrs["recipe"]["inverse_penalty"] == best
    assert min(losses) < 0.5 * max(losses)
