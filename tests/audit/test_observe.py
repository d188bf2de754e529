"""Evidence of one's own model: what is stored, what is refused, and what is warned of."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from scipy.special import logit, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.utils.data import TensorDataset

from membership import attacks, audit, curvature, metrics, signals, training
from membership.attacks.bmia import frozen_moments
from membership.errors import InputError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 6))
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
MEMBER = RNG.permutation(120) < 60
SMALL = {"n_reference": 3, "n_targets": 2}


def linear(x, y, seed):
    torch.manual_seed(seed)
    return nn.Linear(6, 3).double()


def logistic(x, y, seed):
    return LogisticRegression().fit(x, y)


def forest(x, y, seed):
    return RandomForestClassifier(5, random_state=seed).fit(x, y)


def test_what_is_stored_is_what_the_models_answer():
    model = linear(X, Y, 77)
    found = audit.gather(X, Y, linear, model=model, member=MEMBER, held=(X[:30], Y[:30]), seed=5)
    assert found["log_odds"].shape == (17, 120)
    assert found["held_hinge"].shape == (17, 30)
    np.testing.assert_allclose(found["hinge"][0], signals.hinge(model, X, Y)[0], rtol=1e-6)
    np.testing.assert_allclose(
        found["log_odds"][3], signals.scaled_logit(linear(X, Y, 8), X, Y)[0], rtol=1e-6
    )
    assert (found["member"][0].values == MEMBER).all()
    assert (found["member"][1:].sum("record") == 60).all()
    assert (found["member"][1:].sum("model") == 8).all()
    assert found.attrs["targets"] == [0]
    assert found.attrs["references"] == list(range(1, 17))


def test_the_three_kinds_of_model_agree():
    fitted = logistic(X, Y, 0)
    weight, bias = (torch.tensor(v) for v in (fitted.coef_, fitted.intercept_))
    module = nn.Linear(6, 3).double()
    module.weight.data, module.bias.data = weight, bias
    each = [
        audit.gather(X, Y, logistic, model=one, member=MEMBER, n_reference=2)
        for one in (fitted, module, fitted.decision_function)
    ]
    for one in each[1:]:
        np.testing.assert_allclose(one["log_odds"], each[0]["log_odds"], atol=1e-5)
    p = fitted.predict_proba(X)[np.arange(120), Y]
    np.testing.assert_allclose(each[0]["log_odds"][0], logit(p), rtol=1e-5)


def test_a_forest_that_is_sure_stays_finite_and_is_found_out():
    found = audit.gather(X, Y, forest, held=(X[:30], Y[:30]), **SMALL)
    assert np.isfinite(found["log_odds"]).all()
    assert metrics.auc(found["log_odds"][0].values, found["member"][0].values) > 0.6
    assert found.attrs["targets"] == [0, 1]
    assert (found["train_accuracy"] > 80).all()


def test_a_class_that_a_half_lacks_is_improbable():
    rare = np.where(np.arange(120) == 7, 3, Y)
    found = audit.gather(X, rare, logistic, **SMALL)
    without = ~found["member"][:, 7].values
    assert (found["log_odds"][:, 7].values[without] < -15).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y[:-1]}, "x, y have shapes"),
        ({"x": X[:10], "y": Y[:10]}, "at least 20 records"),
        ({"y": Y - 1}, "labels -1 to 1; give whole ones, 0 to classes - 1"),
        ({"y": Y + 0.5}, "give whole ones, 0 to classes - 1"),
        ({"y": np.eye(3)[Y]}, r"labels of shape \(120, 3\); give .*, as y.argmax\(axis=1\)"),
        ({"y": Y[:, None]}, r"labels of shape \(120, 1\); give one a record, as y.ravel\(\)"),
        ({"x": csr_matrix(X)}, r"the records: a sparse csr_matrix; give its toarray\(\)"),
        ({"held": (X[:, :5], Y)}, r"held: records of shape \(5,\); those of x are \(6,\)"),
        ({"x": np.where(X > 2, np.nan, X)}, "give finite numbers"),
        ({"held": (X[:, 0], Y)}, "held have shapes"),
        ({"n_reference": 1}, "n_reference = 1: expected a whole number from 2 up"),
        ({"n_targets": 0}, "n_targets = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"model": logistic(X, Y, 0)}, "member is None"),
        ({"member": MEMBER}, "member is given without model"),
        ({"model": logistic(X, Y, 0), "member": MEMBER[:-1]}, "member"),
        ({"model": logistic(X, Y, 0), "member": MEMBER | True}, "at least 2 of each"),
        ({"model": 3, "member": MEMBER}, "model is of type int"),
        ({"model": lambda x: x[:, 0], "member": MEMBER}, r"model answers \(120,\)"),
        ({"model": lambda x: softmax(x, axis=1), "member": MEMBER}, "answers probabilities"),
        ({"model": lambda x: np.where(x > 2, np.nan, 0.5), "member": MEMBER}, "not finite"),
        ({"model": lambda x: np.where(x > 2, np.inf, x), "member": MEMBER}, "not finite"),
        (
            {"model": nn.Sequential(nn.Linear(6, 3).double(), nn.Softmax(1)), "member": MEMBER},
            "answers probabilities",
        ),
    ],
)
def test_what_does_not_do_is_refused_before_any_training(change, message):
    def never(x, y, seed):
        raise AssertionError("trained")

    given = {"x": X, "y": Y, "train": never, **SMALL, **change}
    with pytest.raises(InputError, match=message):
        audit.gather(given.pop("x"), given.pop("y"), given.pop("train"), **given)


@pytest.mark.parametrize("kind", [float, bool, np.uint8])
def test_labels_are_whole_numbers_of_any_type(kind):
    y = np.minimum(Y, 1)
    expected = audit.gather(X, y, linear, **SMALL)
    assert audit.gather(X, y.astype(kind), linear, **SMALL).identical(expected)


def test_models_that_all_answer_the_same_are_told_of():
    fitted = logistic(X, Y, 0)
    (said,) = audit.gather(X, Y, lambda x, y, seed: fitted, **SMALL).attrs["warnings"]
    assert "All models answer the same" in said


def test_a_training_that_does_not_repeat_is_measured_and_told_of():
    state = iter(range(100))
    found = audit.gather(X, Y, lambda x, y, seed: linear(x, y, next(state)), **SMALL)
    (said,) = found.attrs["warnings"]
    # The first two trainings are the ones that are compared.
    half = found["member"].values[-1]
    one, two = (linear(X[half], Y[half], i) for i in range(2))
    with torch.no_grad():
        records = torch.as_tensor(X[half])
        apart = float((one(records) - two(records)).abs().max())
    assert f"Two trainings with seed = 4 answer up to {apart:.2g} apart" in said


@pytest.mark.parametrize("model", [None, linear(X, Y, 77)])
def test_each_model_is_trained_once_and_one_once_more_whose_first_training_is_kept(model):
    trained = []

    def counted(x, y, seed):
        trained.append((seed, linear(x, y, 100 + len(trained))))
        return trained[-1][1]

    given = {} if model is None else {"model": model, "member": MEMBER}
    found = audit.gather(X, Y, counted, **given, **SMALL)
    masks, own = len(found["member"]), int(model is not None)
    assert sorted(seed for seed, _ in trained) == [*range(own, masks), masks - 1]
    assert [seed for seed, _ in trained[:2]] == [masks - 1] * 2
    kept = {seed: one for seed, one in reversed(trained)} | ({0: model} if own else {})
    for i in range(masks):
        expected = signals.scaled_logit(kept[i], X, Y)[0]
        np.testing.assert_allclose(found["log_odds"][i], expected, rtol=1e-6)


def test_a_model_that_is_trained_further_at_each_call_is_refused():
    model = linear(X, Y, 0)

    def further(x, y, seed):
        with torch.no_grad():
            next(model.parameters()).add_(1.0)
        return model

    with pytest.raises(InputError, match="start a new one at each call"):
        audit.gather(X, Y, further, **SMALL)


def test_the_cost_is_said_before_the_other_trainings(capsys: pytest.CaptureFixture):
    audit.gather(X, Y, linear, **SMALL)
    models = SMALL["n_reference"] + SMALL["n_targets"]
    assert f"{models - 1} more trainings, about 0." in capsys.readouterr().err


def test_copies_and_another_source_are_warned_of():
    given = {"model": logistic(X, Y, 0), "member": MEMBER, "n_reference": 2}
    assert audit.gather(X, Y, logistic, **given).attrs["warnings"] == []
    copied, y = X.copy(), Y.copy()
    copied[5], y[5] = copied[6], y[6]
    (said,) = audit.gather(copied, y, logistic, **given).attrs["warnings"]
    assert said.startswith("1 of 120 records are copies")
    shifted = X + 2.0 * MEMBER[:, None]
    found = audit.gather(shifted, Y, logistic, **given)
    (said,) = found.attrs["warnings"]
    assert "never sees the model" in said
    assert said in audit.compare(found)["warnings"]


DRAWS = np.random.default_rng(3)
POINTS = DRAWS.normal(size=(120, 6))
CLASSES = (POINTS[:, 0] > 0).astype(int) + (POINTS[:, 2] > 0.5)
UNSEEN = (DRAWS.normal(size=(40, 6)), DRAWS.integers(0, 3, 40))
WITH_HELD = {"n_reference": 4, "n_targets": 2, "held": UNSEEN}


def network(x, y, seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3)).double()


@pytest.fixture(scope="module")
def found():
    return audit.gather(POINTS, CLASSES, network, **WITH_HELD, seed=5)


def test_the_regression_is_that_of_each_target_on_held_records(found) -> None:
    asked, held = (np.c_[x, np.eye(3)[y]] for x, y in ((POINTS, CLASSES), UNSEEN))
    for target in range(2):
        fitted = training.fit_qmia(held, found["held_hinge"][target].values, seed=5)
        mean, sd = fitted.predict(asked)
        np.testing.assert_allclose(found["regressed_mean"][target], mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["regressed_sd"][target], sd, rtol=1e-4)
        score = attacks.registry()["qmia"].on(found, target=target)
        z = (found["hinge"][target].values - mean) / sd
        np.testing.assert_array_equal(np.argsort(score[::7]), np.argsort(z[::7]))
    assert np.isnan(found["regressed_mean"][2:]).all()


def test_a_reference_predicts_by_its_last_layer_where_the_record_was_not_its_own(found) -> None:
    each = []
    for at in range(2, 6):
        # Seeds are those of gathering: its own, and the number of the training.
        model, inside = network(POINTS, CLASSES, 5 + at), found["member"][at].values
        layer = curvature.last_layer(model, POINTS, layer="2")
        posterior = curvature.last_layer_laplace(
            layer.features[inside], layer.logits[inside], "marginal-likelihood",
            weight=layer.weight, bias=layer.bias, label=CLASSES[inside],
        )  # fmt: skip
        covariance = posterior.covariance(layer.features)
        moments = frozen_moments(layer.logits, covariance, CLASSES)
        np.testing.assert_allclose(found["posterior_mean"][at], moments[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["posterior_sd"][at], np.sqrt(moments[1]), rtol=1e-4)
        each.append(~inside)
    assert np.isnan(found["posterior_mean"][:2]).all()
    # A target's first reference moves with the target; a member's prediction is another's.
    for target in range(2):
        seen = attacks.observe(found, target=target)
        assert seen["posterior.closed form.mean"].shape == (2, 120)
        order = np.roll(np.arange(2, 6), -target)
        for record in range(0, 120, 11):
            own = [at for at in order if not found["member"][at, record]]
            wanted = found["posterior_mean"].values[own, record]
            np.testing.assert_array_equal(
                seen["posterior.closed form.mean"][:, record], wanted.astype(float)
            )


class Cosine(nn.Linear):
    def forward(self, x):
        return 5 * nn.functional.linear(x, nn.functional.normalize(self.weight)) + self.bias


class Beside(nn.Module):
    """A head that is declared before a part of which the answer is none."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.projector = nn.Linear(4, 3), nn.Linear(4, 5)

    def forward(self, x):
        return self.head(x)


@pytest.mark.parametrize(
    ("head", "there"),
    [
        (lambda: nn.Linear(4, 3, bias=False), True),
        (lambda: Cosine(4, 3), False),
        (Beside, True),
    ],
)
def test_what_a_last_layer_predicts_is_the_reference_s_own_hinge_or_is_left_out(head, there):
    def train(x, y, seed):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(6, 4), nn.Tanh(), head()).double()

    found = audit.gather(POINTS, CLASSES, train, n_reference=2, n_targets=1, seed=5)
    assert ("posterior_mean" in found) == there
    if there:
        np.testing.assert_allclose(found["posterior_mean"][1:], found["hinge"][1:], atol=1e-5)
    lacks = {one["name"]: one["lacks"] for one in audit.compare(found)["left_out"]}
    assert ("bmia-closed" in lacks) != there


def test_they_are_attacks_of_the_comparison_and_are_left_out_with_what_they_take(found) -> None:
    there = {"qmia", "bmia-closed", "bmia-mixture", "rmia-warm", "base-warm"}
    assert there <= set(attacks.scores(found).score)
    stream = TensorDataset(torch.tensor(POINTS), torch.tensor(CLASSES))
    for other in (
        audit.gather(stream, None, network, n_reference=4, n_targets=1),
        audit.gather(
            POINTS, CLASSES, None, model=network(POINTS, CLASSES, 1), member=np.arange(120) < 60
        ),
    ):
        report = audit.compare(other)
        lacks = {one["name"]: one["lacks"] for one in report["left_out"]}
        assert there - set(lacks) <= {"rmia-warm", "base-warm"}
        assert lacks["qmia"].endswith("held ones that no model has seen")
        assert "linear layer" in lacks["bmia-closed"]
        assert "attacks.iha" in lacks["iha"]
        assert [name for name, text in lacks.items() if ": " not in text] == []
