import numpy as np
import pytest

from membership.book.studies import patches
from membership.book.studies.bmia import experiment
from membership.book.studies.bmia.settings import Settings


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).random((60, 3, 32, 32)).astype(np.float32)


@pytest.fixture
def few(monkeypatch):
    for name, n in (("_WHITENING", 400), ("FILTERS", 6), ("_REDUCING", 40), ("COMPONENTS", 5)):
        monkeypatch.setattr(patches, name, n)


def one_by_one(filters, image):
    """The responses to one image, patch by patch, in float64."""
    places = range(0, 32 - patches.SIDE + 1, patches.STRIDE)
    cut = [
        image[:, a : a + patches.SIDE, b : b + patches.SIDE].ravel() for a in places for b in places
    ]
    product = (patches._normalised(np.array(cut, dtype=float)) - filters.mean) @ filters.weight.T
    grid = product.reshape(len(places), len(places), -1)
    first, second = slice((len(places) + 1) // 2), slice(len(places) // 2, None)
    found = []
    for sign in (1, -1):
        beyond = np.maximum(sign * grid - 1, 0)
        parts = [
            [beyond[rows, columns].mean(axis=(0, 1)) for columns in (first, second)]
            for rows in (first, second)
        ]
        found.append(np.moveaxis(np.array(parts), 2, 0).ravel())
    return np.concatenate(found)


def test_responses_are_those_of_each_patch(images, few):
    filters = patches.Filters(images)
    expected = [one_by_one(filters, image) for image in images[:3]]
    np.testing.assert_allclose(filters.responses(images[:3]), expected, rtol=1e-3, atol=1e-5)


def test_what_describes_an_image_does_not_depend_on_the_others(images, few):
    one, all_ = (patches.reduced(images[:n], images[20:]) for n in (3, 20))
    np.testing.assert_allclose(one, all_[:3], rtol=1e-3, atol=1e-4)
    assert np.square(patches.reduced(images[20:], images[20:])).mean() == pytest.approx(1, 0.2)


def test_described_images_are_found_again_and_have_a_recipe(images, few, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    y = np.arange(60) % 4
    given = {
        name: patches.data.Dataset(images[part], y[part], name, 4, "noise", digest=name)
        for name, part in (("cifar10", slice(30)), ("cifar100_20k", slice(30, 60)))
    }
    monkeypatch.setattr(patches.data, "load", lambda name, root=None: given[name])
    first, again = patches.load(patches.PATCHES), patches.load(patches.PATCHES)
    np.testing.assert_array_equal(first.x, again.x)
    assert (first.x.shape, first.name) == ((30, 5), "cifar10-patches")
    architecture, recipe = experiment.recipe_of(first, Settings.from_values({"profile": "paper"}))
    assert (architecture, recipe.milestones) == ("mlp-128", (10, 15))
