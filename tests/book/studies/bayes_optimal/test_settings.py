"""The chapter's parameters: what the profiles fill in."""

from membership.book.studies.bayes_optimal.settings import Settings


def test_a_value_that_was_given_stays():
    settings = Settings.from_strings({"profile": "paper", "n_repeats": "5", "n_records": "[400]"})
    assert (settings.n_repeats, settings.n_records, settings.cnn_epochs) == (5, [400], 50)


def test_sizes_and_features_follow_the_data_set():
    cifar = Settings.from_strings({"dataset": "cifar10"})
    assert (cifar.classes, cifar.feature_network) == ([9, 8], "small-cnn")
    assert cifar.n_records == [400, 1000, 2000]
    other = Settings.from_strings({"dataset": "mnist"})
    assert (other.classes, other.feature_network) == ([], "raw")
