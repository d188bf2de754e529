import pytest

from membership.errors import InputError
from membership.studies.bmia.settings import Settings


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"n_targets": 1}, "n_targets = 1: an interval needs at least 2"),
        ({"n_reference": 3}, "n_reference = 3: the reliability"),
        ({"n_samples": 1}, "n_samples = 1: a standard deviation needs at least 2"),
        ({"architectures": ["mlp-8"]}, "architectures names one"),
        ({"architectures": ["logistic", "resnet"]}, "architecture 'resnet': give logistic"),
        ({"n_refrence": 4}, "did you mean 'n_reference'"),
    ],
)
def test_impossible_sizes_are_refused_before_any_work(values, named):
    with pytest.raises(InputError, match=named):
        Settings.from_values(values)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"dataset": "purchase_like:200", "architecture": "small-cnn"}, "takes images"),
        ({"dataset": "purchase_like:60"}, "60 records; give at least 100"),
        ({"ood_dataset": "purchase_like:200"}, "can only be averaged down"),
    ],
)
def test_data_that_networks_cannot_take_are_refused_before_any_work(values, named):
    with pytest.raises(InputError, match=named):
        Settings.from_values({"profile": "tiny", **values}).check_data()
