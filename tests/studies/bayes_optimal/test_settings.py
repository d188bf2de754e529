"""The chapter's parameters: what the profiles fill in, and what is refused at once."""

import pytest

from membership.errors import InputError
from membership.studies.bayes_optimal.settings import Settings


def test_a_value_that_was_given_stays():
    settings = Settings.from_strings({"profile": "paper", "n_repeats": "5", "n_records": "[400]"})
    assert (settings.n_repeats, settings.n_records, settings.cnn_epochs) == (5, [400], 50)


def test_sizes_and_features_follow_the_data_set():
    cifar = Settings.from_strings({"dataset": "cifar10"})
    assert (cifar.classes, cifar.feature_network) == ([9, 8], "small-cnn")
    assert cifar.n_records == [400, 1000, 2000]
    other = Settings.from_strings({"dataset": "mnist"})
    assert (other.classes, other.feature_network) == ([], "raw")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_records", "[401]", "even and at least 20"),
        ("n_records", "[18]", "even and at least 20"),
        ("n_records", "[60,60]", "give each size once"),
        ("n_repeats", "1", "at least 2"),
        ("n_reference", "3", "at least 4"),
        ("cnn_records", "19", "at least 20"),
        ("feature_network", "vgg16", "raw, small-cnn, resnet18, resnet18-pooled"),
        ("classes", "[1, 2, 3]", "two labels"),
    ],
)
def test_a_size_that_cannot_work_is_named_at_once(name, value, message):
    with pytest.raises(InputError, match=rf"(?s){name}.*{message}"):
        Settings.from_strings({name: value})
