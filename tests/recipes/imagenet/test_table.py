"""Table 3 on a tiny ImageNet, from folders to verdicts."""

import numpy as np
import pytest
import torch
from scipy.stats import beta

from membership import data
from membership.book import published
from membership.book.studies.bayes_optimal.network_tables import judged_on_imagenet
from membership.errors import InputError
from recipes.imagenet import Settings, training
from recipes.imagenet import table as study

SMALL = {
    "models": ["resnet18"],
    "epochs": 2,
    "batch_size": 5,
    "image_size": 32,
    "seed": 1,
    "device": "cpu",
    "n_jobs": 1,
}


@pytest.fixture
def settings(imagenet):
    return Settings.from_values({**SMALL, "data_root": str(imagenet)})


def _best_accuracy(score, member):
    """Every threshold tried, ties against the attacker; (accuracy, threshold)."""
    levels = np.sort(np.unique(score))
    cuts = [np.inf, *((levels[1:] + levels[:-1]) / 2)[::-1]]
    accuracies = [np.mean((score >= cut) == member) for cut in cuts]
    return max(accuracies), cuts[int(np.argmax(accuracies))]


@pytest.mark.slow
def test_numbers_against_a_slow_reference_and_departures_stated(settings, folder):
    table = study.table_3(settings, progress=False)
    numbers = ["value", "low", "high", "standard_error", "degrees_of_freedom"]
    assert list(table.columns) == ["model", "attack", "metric", *numbers]
    member, outside = data.disjoint_halves(27, 1)
    rng = np.random.default_rng([1, 26])
    queried = np.flatnonzero(member | outside)
    truth = member[queried]
    inside, others = (rng.permutation(np.flatnonzero(side))[:6] for side in (truth, ~truth))
    choosing = np.isin(np.arange(26), [*inside, *others])
    for augmentation in training.AUGMENTATIONS:
        job = training.Job(
            study._factory("resnet18", 3, 32),
            folder,
            member,
            augmentation,
            32,
            study._config(settings),
            1,
            torch.device("cpu"),
        )
        module = training.train(job, workers=0, progress=False)
        loss, correct = training.losses(module, folder, 32, 7, workers=0, progress=False)
        loss, correct = loss[queried], correct[queried]
        _, cut = _best_accuracy(-loss[choosing], truth[choosing])
        expected = {
            ("(model)", "train_accuracy(%)"): correct[truth].mean(),
            ("(model)", "validation_accuracy(%)"): correct[~truth].mean(),
            ("0-1", "attack_accuracy(%)"): (correct[truth].mean() + 1 - correct[~truth].mean()) / 2,
            ("MALT", "attack_accuracy(%)"): ((-loss >= cut) == truth)[~choosing].mean(),
            ("MALT", "peak_accuracy(%)"): _best_accuracy(-loss, truth)[0],
        }
        rows = table[table["model"] == f"resnet18, aug={augmentation}"]
        found = rows.set_index(["attack", "metric"])["value"].to_dict()
        assert found == pytest.approx({key: 100 * value for key, value in expected.items()})
    stated = published.setup("bayes_optimal")["Table 3"]
    reasons = published.comparability(stated, table.attrs["setup"]["networks"])
    assert reasons[0] == "other data: 27 images of 3 classes instead of ImageNet"
    assert "another recipe: epochs 2 instead of 90" in reasons
    assert table.attrs["deviations"] == [
        "3 classes (the paper: 1000)",
        "27 images (the paper: 1.2 million)",
        "2 epochs (the paper: 90)",
        "batches of 5 (the paper: 256)",
        "images of 32 pixels (usual: 224)",
    ]
    assert table.attrs["data"] == {"imagenet (names and sizes)": folder.digest}
    assert table.attrs["device"] == "cpu"
    assert judged_on_imagenet(table)["published"].isna().all()


def test_the_defaults_are_the_papers():
    settings = Settings.from_values({})
    config = study._config(settings)
    assert settings.models == ["resnet101", "vgg16"]
    assert (config.epochs, config.batch_size, config.momentum) == (90, 256, 0.9)
    assert config.weight_decay == 1e-4
    rates = [config.learning_rate_at(epoch) for epoch in (0, 29, 30, 59, 60, 89)]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4])


@pytest.mark.slow
def test_every_published_number_finds_its_row():
    rows = [
        {"model": f"{name}, aug={augmentation}", **row}
        for name in study.NAMES.values()
        for augmentation in training.AUGMENTATIONS
        for row in study.measure(np.arange(8.0), np.ones(8), np.arange(8) % 2 == 0, 0)
    ]
    table = study.pd.DataFrame(rows)
    table.attrs = {"setup": {"networks": published.setup("bayes_optimal")["Table 3"]}}
    facts = ("data", "members", "recipe")
    table.attrs["setup"]["networks"] = {
        name: table.attrs["setup"]["networks"][name] for name in facts
    }
    judged = judged_on_imagenet(table).dropna(subset="published")
    printed = published.table("bayes_optimal_table3")
    keys = ["model", "attack", "metric"]
    assert len(judged) == len(printed) == 12
    assert set(map(tuple, judged[keys].values)) == set(map(tuple, printed[keys].values))
    model = judged["attack"] == "(model)"
    assert set(judged["verdict"]) <= {"agrees", "compatible", "differs", "not comparable"}
    assert not (judged[model]["verdict"] == "not comparable").any()


def test_measure_against_closed_forms():
    # Losses of members are uniform on [0, 1], of the others on [0.5, 1.5]: any threshold within
    # [0.5, 1] is best, with accuracy 3/4. 90% and 60% are classified correctly.
    n = 20_000
    member = np.arange(2 * n) % 2 == 0
    grid = (np.arange(n) + 0.5) / n
    loss, correct = np.empty(2 * n), np.empty(2 * n)
    loss[member], loss[~member] = grid, grid + 0.5
    correct[member], correct[~member] = grid < 0.9, grid < 0.6
    rows = {(r["attack"], r["metric"]): r for r in study.measure(loss, correct, member, 0)}
    value = {key: row["value"] for key, row in rows.items()}
    assert value["(model)", "train_accuracy(%)"] == pytest.approx(90)
    assert value["(model)", "validation_accuracy(%)"] == pytest.approx(60)
    assert value["0-1", "attack_accuracy(%)"] == pytest.approx(65)
    assert value["MALT", "peak_accuracy(%)"] == pytest.approx(75, abs=0.01)
    # Five standard deviations of an accuracy counted on half of the records.
    error = 500 * np.sqrt(0.75 * 0.25 / n)
    assert value["MALT", "attack_accuracy(%)"] == pytest.approx(75, abs=error)
    row = rows["0-1", "attack_accuracy(%)"]
    k = round(0.65 * 2 * n)
    assert row["low"] == pytest.approx(100 * beta.ppf(0.025, k, 2 * n - k + 1))
    assert row["high"] == pytest.approx(100 * beta.ppf(0.975, k + 1, 2 * n - k))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["resnet19"]}, r"models.*should name each network once, out of resnet101"),
        ({"models": ["vgg16", "vgg16"]}, "should name each network once"),
        ({"models": []}, "parameter 'models' = .*networks to train"),
        ({"epochs": 0}, "parameter 'epochs' = 0.*1 or more"),
        ({"batch_size": 1}, "parameter 'batch_size' = 1.*2 or more"),
        ({"image_size": 31}, "parameter 'image_size' = 31.*32 or more"),
        ({"epoch": 3}, "unknown parameter 'epoch'; did you mean 'epochs'"),
    ],
)
def test_bad_settings_are_named(change, message):
    with pytest.raises(InputError, match=message):
        Settings.from_values({**SMALL, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data_root": ""}, "data_root is empty: name the folder"),
        ({"data_root": "/nowhere"}, "/nowhere/train: no such folder"),
        ({"batch_size": 12}, "the last batch of 13 images would be a single one"),
    ],
)
def test_bad_input_is_named_before_anything_is_trained(settings, monkeypatch, change, message):
    monkeypatch.setattr(study, "train", None)
    with pytest.raises(InputError, match=message):
        study.table_3(settings.model_copy(update=change), progress=False)


def test_an_image_that_is_none_is_named_before_anything_is_trained(settings, imagenet, monkeypatch):
    monkeypatch.setattr(study, "train", None)
    (imagenet / "train/n01440764/n01440764_3.JPEG").write_bytes(b"")
    with pytest.raises(InputError, match=r"n01440764_3\.JPEG: unreadable image"):
        study.table_3(settings, progress=False)
