"""Models of numbers, of several labels, and records in a Dataset: the same evidence as by hand."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from membership import attacks, audit
from membership.audit import streams
from membership.errors import InputError
from tests.audit import test_observe

RNG = np.random.default_rng(4)
X = RNG.normal(size=(200, 8))
Y = X[:, 0] - X[:, 1] ** 2 + RNG.normal(size=200)
MEMBER = RNG.permutation(200) < 100
HELD = (RNG.normal(size=(40, 8)), RNG.normal(size=40))


def forest(x, y, seed):
    return RandomForestRegressor(5, random_state=seed).fit(x, y.ravel())


def least_squares(x, y, seed):
    return LinearRegression().fit(x, y)


def regress(train=least_squares, y=Y, **further):
    given = {"n_reference": 6, "n_targets": 2, "task": "regression", **further}
    return audit.gather(X, y, train, **given)


def test_the_loss_of_a_regression_is_its_squared_error() -> None:
    model = least_squares(X[MEMBER], Y[MEMBER], 0)
    found = regress(model=model, member=MEMBER, held=HELD)
    error = (model.predict(X) - Y) ** 2
    masks = found["member"].values
    unseen = []
    for mask in masks[1:]:
        fitted = least_squares(X[mask], Y[mask], 0)
        unseen.append((fitted.predict(X[~mask]) - Y[~mask]) ** 2)
    scale = 2 * np.concatenate(unseen).mean()
    loss = attacks.registry()["loss"].on(found)
    np.testing.assert_allclose(-loss, error / scale, rtol=1e-5)
    population = (model.predict(HELD[0]) - HELD[1]) ** 2
    share = attacks.registry()["attack-p"].on(found)
    below = (population[None] > error[:, None]).mean(axis=1)
    assert len(np.unique(below)) > 20
    np.testing.assert_allclose(share, below)


def test_several_outputs_are_summed_and_every_kind_of_model_agrees() -> None:
    y = np.c_[Y, 2 * Y + X[:, 2]]
    fitted = least_squares(X, y, 0)
    module = nn.Linear(8, 2).double()
    module.weight.data = torch.tensor(fitted.coef_)
    module.bias.data = torch.tensor(fitted.intercept_)
    each = [
        regress(y=y, model=one, member=MEMBER, n_reference=2)
        for one in (fitted, module, lambda x: fitted.predict(x))
    ]
    for one in each[1:]:
        np.testing.assert_allclose(one["log_odds"], each[0]["log_odds"], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_forest_that_overfits_is_found_out_and_what_asks_for_classes_is_left_out() -> None:
    report = audit.compare(regress(forest, n_reference=8))
    areas = {one["name"]: one["auc"]["value"] for one in report["attacks"]}
    assert {"loss", "lira", "rmia", "attack-r"} <= set(areas)
    assert areas["loss"] > 0.6
    lacks = {one["name"]: one["lacks"] for one in report["left_out"]}
    for name in ("zero-one", "qmia", "bmia"):
        assert lacks[name].endswith("a regression answers no classes"), name
    assert "regression" not in lacks["glir"]


def test_errors_far_out_and_of_nothing_stay_finite() -> None:
    y = Y.copy()
    y[3] = 1e6
    found = regress(lambda x, y, seed: RandomForestRegressor(1, bootstrap=False).fit(x, y.ravel()),
                    y=y)  # fmt: skip
    assert np.isfinite(found["log_odds"]).all()


def test_nothing_to_rank_and_what_does_not_fit_are_refused() -> None:
    for change, said in (
        ({"y": X[:, 0] * 0, "train": lambda x, y, seed: lambda x: 0 * x[:, :1]}, "exactly"),
        ({"y": np.zeros((200, 2, 2))}, r"has shape \(200, 2, 2\)"),
        ({"y": np.where(Y > 2, np.nan, Y)}, "give finite numbers"),
        ({"model": 3, "member": MEMBER}, "model is of type int; give a torch.nn.Module, a regre"),
        ({"model": lambda x: x, "member": MEMBER}, r"answers \(200, 8\) .* give \(200, 1\)"),
        ({"task": "ranking"}, "task = 'ranking': expected one of classification, regression"),
    ):
        with pytest.raises(InputError, match=said):
            regress(**change)
    with pytest.raises(InputError, match=r'labels .* or task="regression"'):
        audit.gather(X, Y, least_squares)


def test_a_model_that_cannot_be_trained_again_is_attacked_without_references() -> None:
    model = forest(X[MEMBER], Y[MEMBER], 0)
    given = {"model": model, "member": MEMBER, "held": HELD, "task": "regression"}
    found = audit.gather(X, Y, None, **given)
    assert (found.sizes["model"], found.attrs["references"]) == (1, [])
    report = audit.compare(found)
    assert {one["name"] for one in report["attacks"]} >= {"loss", "attack-p"}
    lacks = {one["name"]: one["lacks"] for one in report["left_out"]}
    assert "references" in lacks["lira"]
    with pytest.raises(InputError, match="train is None and so is model"):
        audit.gather(X, Y, None, task="regression")


LABELS = np.c_[X[:, :3] > 0, X[:, 3] + RNG.normal(size=200) > 0].astype(float)


def label_forest(x, y, seed):
    return RandomForestClassifier(5, random_state=seed).fit(x, y)


def label_network(x, y, seed):
    torch.manual_seed(seed)
    return nn.Linear(8, 4).double()


def labelled(train=label_network, y=LABELS, **further):
    given = {"n_reference": 4, "n_targets": 2, "task": "multi-label", **further}
    return audit.gather(X, y, train, **given)


def test_the_loss_of_several_labels_is_the_sum_of_their_cross_entropies() -> None:
    module = label_network(X, LABELS, 9)
    found = labelled(model=module, member=MEMBER)
    with torch.no_grad():
        each = nn.functional.binary_cross_entropy_with_logits(
            module(torch.as_tensor(X)), torch.as_tensor(LABELS), reduction="none"
        )
    loss = attacks.registry()["loss"].on(found)
    np.testing.assert_allclose(-loss, each.sum(dim=1), rtol=1e-5)
    function = labelled(model=lambda x: x @ module.weight.detach().numpy().T
                        + module.bias.detach().numpy(), member=MEMBER)  # fmt: skip
    np.testing.assert_allclose(function["log_odds"][0], found["log_odds"][0], rtol=1e-5)


def test_a_forest_of_several_labels_is_found_out_and_a_label_that_all_have_is_known() -> None:
    y = np.c_[LABELS, np.ones(200)]
    report = audit.compare(labelled(label_forest, y))
    areas = {one["name"]: one["auc"]["value"] for one in report["attacks"]}
    assert areas["loss"] > 0.6
    assert {"lira", "rmia", "attack-r"} <= set(areas)
    lacks = {one["name"]: one["lacks"] for one in report["left_out"]}
    assert lacks["zero-one"].endswith("a record of several labels has no single class")
    fitted = label_forest(X, y, 0)
    p = np.stack([one[:, -1] for one in fitted.predict_proba(X)], axis=1).clip(1e-9, 1 - 1e-9)
    found = labelled(label_forest, y, model=fitted, member=MEMBER)
    wanted = -np.log(np.where(y == 1, p, 1 - p)).sum(axis=1)
    np.testing.assert_allclose(-attacks.registry()["loss"].on(found), wanted, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("y", "model", "said"),
    [
        (LABELS[:, 0], None, r"x, y: labels of shape \(200,\); a multi-label task has 0 or 1"),
        (2 * LABELS, None, "a multi-label task has 0 or 1 for each label"),
        (LABELS, lambda x: x[:, :3], r"model answers \(200, 3\) .* give \(200, 4\), a logit for"),
        (LABELS, lambda x: 1 / (1 + np.exp(-x[:, :4])), "answers probabilities, or so it seems"),
        (LABELS, 3, "model is of type int"),
    ],
)  # fmt: skip
def test_what_is_not_of_several_labels_is_refused(y, model, said) -> None:
    given = {} if model is None else {"model": model, "member": MEMBER}
    with pytest.raises(InputError, match=said):
        labelled(y=y, **given)


def test_several_labels_of_a_classification_name_the_task_that_takes_them() -> None:
    with pytest.raises(InputError, match=r'give one a record, .* or task="multi-label"'):
        labelled(task="classification")


class Placed(Dataset):
    """Records by their place."""

    def __init__(self, x, y) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, at: int):
        return self.x[at], self.y[at]


def arrays_of(given):
    """The records of a Subset, as a training would read them."""
    assert isinstance(given, Subset)
    x, _ = next(iter(DataLoader(given, batch_size=len(given))))
    return x.numpy()


def logistic(x, y, seed):
    return LogisticRegression().fit(x if isinstance(x, np.ndarray) else arrays_of(x), y)


@pytest.mark.parametrize(
    "form",
    [
        lambda x, y: TensorDataset(torch.tensor(x), torch.tensor(y)),
        Placed,
        lambda x, y: DataLoader(Placed(x, y), batch_size=7, shuffle=True),
    ],
)
@pytest.mark.parametrize("part", [32, 256])
def test_a_dataset_gives_the_evidence_of_its_arrays(form, part, monkeypatch) -> None:
    monkeypatch.setattr(streams, "PART", part)
    held = (test_observe.X[:50] + 0.5, test_observe.Y[:50])
    own = logistic(test_observe.X[test_observe.MEMBER], test_observe.Y[test_observe.MEMBER], 0)
    given = {"model": own, "member": test_observe.MEMBER, **test_observe.SMALL}
    wanted = audit.gather(test_observe.X, test_observe.Y, logistic, held=held, **given)
    found = audit.gather(
        form(test_observe.X, test_observe.Y), None, logistic, held=form(*held), **given
    )
    assert found.attrs == wanted.attrs
    # A regression of the hinge needs the records in one array.
    assert set(wanted) - set(found) <= {"regressed_mean", "regressed_sd"}
    for name in found:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6, err_msg=name)


def test_a_module_is_asked_part_by_part_and_copies_are_found(monkeypatch) -> None:
    monkeypatch.setattr(streams, "PART", 32)
    largest = []

    class Watched(nn.Linear):
        def forward(self, x):
            largest.append(len(x))
            return super().forward(x)

    def train(x, y, seed):
        torch.manual_seed(seed)
        return Watched(6, 3).double()

    copied, y = test_observe.X.copy(), test_observe.Y.copy()
    copied[5], y[5] = copied[6], y[6]
    found = audit.gather(Placed(copied, y), None, train, **test_observe.SMALL)
    assert max(largest) == 32
    assert any("1 of 120 records are copies" in text for text in found.attrs["warnings"])


def test_a_regression_reads_a_dataset_too() -> None:
    def train(x, y, seed):
        return least_squares(x if isinstance(x, np.ndarray) else arrays_of(x), y, seed)

    given = {**test_observe.SMALL, "task": "regression"}
    wanted = audit.gather(X, Y, train, held=HELD, **given)
    found = audit.gather(Placed(X, Y), None, train, held=Placed(*HELD), **given)
    np.testing.assert_allclose(found["log_odds"], wanted["log_odds"], rtol=1e-5, atol=1e-6)


class Endless(IterableDataset):
    def __iter__(self):
        yield from zip(test_observe.X, test_observe.Y, strict=True)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (Endless(), None, "without a length; give one with __len__"),
        (
            Placed(test_observe.X, test_observe.Y),
            test_observe.Y,
            "y is given beside a Dataset, which has labels; give None",
        ),
        (TensorDataset(torch.tensor(test_observe.X)), None, "does not give pairs"),
        (
            Placed(np.where(test_observe.X > 2, np.nan, test_observe.X), test_observe.Y),
            None,
            "give finite numbers",
        ),
        (Placed(test_observe.X[:0], test_observe.Y[:0]), None, "holds no records"),
        (Placed(test_observe.X[:10], test_observe.Y[:10]), None, "at least 20 records"),
        (Placed(test_observe.X, test_observe.Y + 0.5), None, "give whole ones"),
    ],
)
def test_what_is_no_set_of_records_is_refused(x, y, said: str) -> None:
    with pytest.raises(InputError, match=said):
        audit.gather(x, y, logistic, **test_observe.SMALL)
