"""What a chapter's settings refuse before any work: values, and words of the one line."""

import pytest

from membership.book import running
from membership.errors import InputError

TINY = {"profile": "tiny"}
ALSO = {"also_datasets": '["digits"]'}
REFUSED = [
    ("bayes_optimal", {"n_records": "[401]"}, "n_records.*even and at least 20"),
    ("bayes_optimal", {"n_records": "[18]"}, "n_records.*even and at least 20"),
    ("bayes_optimal", {"n_records": "[60,60]"}, "n_records.*give each size once"),
    ("bayes_optimal", {"n_records": "[400]"}, "n_records: 400 needs 620"),
    ("bayes_optimal", {"n_repeats": "1"}, "n_repeats.*at least 2"),
    ("bayes_optimal", {"n_reference": "3"}, "n_reference.*at least 4"),
    ("bayes_optimal", {"cnn_records": "19"}, "cnn_records.*at least 20"),
    (
        "bayes_optimal",
        {"cnn_records": "900"},
        "cnn_records = 900: .* holds 1,797; give at most 898",
    ),
    (
        "bayes_optimal",
        {"feature_network": "vgg16"},
        "feature_network.*raw, small-cnn, resnet18, resnet18-pooled",
    ),
    ("bayes_optimal", {"classes": "[1, 2, 3]"}, "classes.*two labels"),
    ("bmia", {"n_targets": "1"}, "n_targets = 1: an interval needs at least 2"),
    ("bmia", {"n_reference": "3"}, "n_reference = 3: the reliability"),
    ("bmia", {"n_samples": "1"}, "n_samples = 1: a standard deviation needs at least 2"),
    ("bmia", {"architectures": '["mlp-8"]'}, "architectures names one"),
    ("bmia", {"architectures": '["mlp-8", "resnet"]'}, "'resnet': give logistic"),
    ("bmia", {"n_refrence": "4"}, "did you mean 'n_reference'"),
    ("bmia", {"dataset": "purchase_like:200", "architecture": "small-cnn"}, "takes images"),
    ("bmia", {"dataset": "purchase_like:60"}, "60 records; give at least 100"),
    ("bmia", {"ood_dataset": "purchase_like:200"}, "can only be averaged down"),
    ("comparison", {"models": '["forest"]'}, "models 'forest': give some of logistic"),
    ("comparison", {"n_reference": "7"}, "n_reference is 7; give an even number"),
    ("comparison", {"n_targets": "1"}, "n_targets = 1.*at least 2"),
    ("comparison", {"dataset": "digit"}, "digit"),
    ("comparison", {"dataset": "purchase_like:200", "models": '["small"]'}, "at least 300"),
    (
        "comparison",
        {"also_datasets": '["purchase_like:1000"]', "also_models": '["cnn"]'},
        "takes images",
    ),
    ("comparison", {**ALSO, "also_models": '["forest@digits"]'}, "models 'forest'"),
    (
        "comparison",
        {**ALSO, "also_models": '["cnn@mnist"]'},
        "also_models 'cnn@mnist': after @ goes one of also_datasets: digits",
    ),
    (
        "comparison",
        {"also_datasets": '["digits", "purchase_like:400"]', "also_models": '["cnn@digits"]'},
        "also_models has no kind for purchase_like:400; add one, as 'logistic@",
    ),
    (
        "comparison",
        {**ALSO, "also_sizes": '["n_pool=300@digits"]'},
        "'n_pool=300@digits': give n_targets of 2 or more or n_counted of 100 or",
    ),
    ("comparison", {**ALSO, "also_sizes": '["n_targets=1@digits"]'}, "'n_targets=1@digits'"),
    (
        "comparison",
        {**ALSO, "also_models": '["small"]', "also_sizes": '["n_targets=5@mnist"]'},
        "also_sizes 'n_targets=5@mnist': after @ goes one of also_datasets: digits",
    ),
    ("comparison", {"without_qmia": '["mnist"]'}, "give some of the run's data sets"),
    ("gmip", {"audit_models": "1"}, "audit_models'? = 1"),
    ("gmip", {"utility_seeds": "1"}, "utility_seeds'? = 1"),
    ("gmip", {"utility_seeds": "101"}, "utility_seeds'? = 101"),
    ("gmip", {"simulated_repeats": "1"}, "simulated_repeats'? = 1"),
    ("gmip", {"simulated_records": "999"}, "simulated_records'? = 999"),
    ("gmip", {"n_reference": "2"}, "n_reference'? = 2"),
    ("iha", {"n_models": "7"}, "n_models = 7: .*even"),
    ("iha", {"n_models": "4"}, "n_models = 4: .*needs at least 6"),
    ("iha", {"n_targets": "2"}, "n_targets = 2: .*at least 3"),
    ("iha", {"n_models": "8", "n_targets": "9"}, "n_targets = 9: there are 8 models"),
    ("iha", {"n_queries": "39"}, "n_queries = 39: .*at least 40"),
    ("iha", {"loo_records": "1"}, "loo_records = 1: .*at least 2"),
    ("iha", {"loo_models": "3"}, "loo_models = 3: .*at least 4"),
    ("lood", {"n_retrained": "51"}, "n_retrained = 51: give at most 15"),
    ("lood", {"n_networks": "3"}, "n_networks = 3: a law fitted on half of them"),
    ("lood", {"noise": "-0.1"}, "noise"),
    ("lood", {"depth": "101"}, "depth"),
    ("lood", {"n_records": "60", "network_records": "100"}, "network_records = 100: give at most"),
    ("loss_enough", {"dataset": "digits"}, "dataset = 'digits'.*leave it empty"),
    ("loss_enough", {"n_games": "1"}, "n_games = 1.*at least"),
    ("loss_enough", {"n_records": "1"}, "n_records = 1.*at least"),
    ("loss_enough", {"n_draws": "1"}, "n_draws = 1.*at least"),
    ("loss_enough", {"grid_points": "1"}, "grid_points = 1.*at least"),
]


@pytest.mark.parametrize(("chapter", "values", "words"), REFUSED)
def test_what_cannot_work_is_named_at_once(chapter, values, words):
    with pytest.raises(InputError, match=f"(?s){words}"):
        running.settings_class(chapter).from_strings({**TINY, **values}).check_run()
