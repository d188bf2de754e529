"""Logistic regression against automatic differentiation, and the measurements behind Table 1."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit

from membership import attacks, metrics, published
from membership.errors import InputError
from membership.studies.bayes_optimal import logistic
from membership.studies.bayes_optimal.features import Features
from membership.studies.bayes_optimal.settings import Settings


def overlapping(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = (rng.random(n) < expit(x @ rng.normal(size=d))).astype(int)
    return Features(x, y, {"made": "here"}, ("made up",), comparable=False)


@pytest.fixture(scope="module")
def model():
    data = overlapping()
    return logistic.fit(data.x, data.y, 0.5)


def torch_loss(theta, x, y):
    """The definition, in float64: -log of the label's probability."""
    p = torch.sigmoid(x @ theta[:-1] + theta[-1])
    return -torch.where(y == 1, p, 1 - p).log()


def penalised(theta, x, y, inverse_penalty):
    return torch_loss(theta, x, y).sum() + theta[:-1].square().sum() / (2 * inverse_penalty)


@pytest.fixture
def tensors(model):
    data = overlapping(seed=1)
    return torch.tensor(model.theta), torch.tensor(data.x), torch.tensor(data.y)


def test_the_fit_is_the_minimum_of_the_penalised_sum(model):
    data = overlapping()
    theta = torch.tensor(model.theta, requires_grad=True)
    penalised(theta, torch.tensor(data.x), torch.tensor(data.y), 0.5).backward()
    assert theta.grad.abs().max() < 1e-3


def test_loss_gradient_and_hessian_are_those_of_torch(model, tensors):
    theta, x, y = tensors
    loss = torch_loss(theta, x, y)
    np.testing.assert_allclose(model.loss(x.numpy(), y.numpy()), loss, rtol=1e-10)
    gradient = torch.func.vmap(torch.func.grad(torch_loss), (None, 0, 0))(theta, x, y)
    np.testing.assert_allclose(model.gradient(x.numpy(), y.numpy()), gradient, atol=1e-12)
    hessian = torch.func.hessian(penalised)(theta, x, y, 0.5)
    np.testing.assert_allclose(model.hessian(x.numpy()), hessian, atol=1e-10)


def test_the_leverage_correction_is_the_hessian_with_the_record(model, tensors):
    """Against the slow way: the Hessian with each record added, inverted anew."""
    _, x, y = tensors
    x, y = x.numpy(), y.numpy()
    target = logistic.fit(x[:200], y[:200], 0.5)
    scores, _ = logistic._scores(target, model, x[:5], y[:5], x[200:])
    for record in range(5):
        one = x[record : record + 1]
        with_record = np.concatenate([x[200:], one])
        gradient = model.gradient(one, y[record : record + 1])[0]
        second = gradient @ np.linalg.solve(model.hessian(with_record), gradient) / 2
        first = attacks.matt(target.theta, model.theta, gradient[None])[0]
        assert scores[logistic.CORRECTED][record] == pytest.approx(first - second, rel=1e-8)


def test_matt_is_never_below_the_loss_difference(model, tensors):
    _, x, y = tensors
    target = logistic.fit(x.numpy()[:200], y.numpy()[:200], 0.5)
    scores, _ = logistic._scores(target, model, x.numpy(), y.numpy(), x.numpy()[200:])
    assert (scores[logistic.MATT] >= scores[logistic.TWIN] - 1e-12).all()


@pytest.fixture(scope="module")
def table():
    values = {"profile": "tiny", "n_records": "[40, 80]", "n_repeats": "3", "n_jobs": "1"}
    return logistic.trials(overlapping(), Settings.from_strings(values))


def test_the_parts_of_a_split_share_no_record():
    parts = logistic._split(overlapping(), 80, repeat=1, seed=0)
    assert [len(part) for part in parts] == [40, 40, 40, 280]
    assert len(np.unique(np.concatenate(parts))) == 400


def test_the_0_1_attack_follows_from_the_models_accuracies(table):
    """Equation 41 of the paper, repeat by repeat."""
    wide = table.pivot_table(index=["n", "repeat"], columns=["attack", "metric"], values="value")
    train = wide["(model)", "train_accuracy(%)"]
    test = wide["(model)", "validation_accuracy(%)"]
    attack = wide["0-1", "attack_accuracy(%)"]
    np.testing.assert_allclose(attack, 50 + (train - test) / 2, atol=1e-9)


def test_table_1_holds_means_with_t_intervals_for_every_published_cell(table):
    summary = logistic.table_1(table)
    row = summary.query("n == 80 and attack == 'MALT' and metric == 'mAP_train(%)'").iloc[0]
    values = table.query("n == 80 and attack == 'MALT' and metric == 'mAP_train(%)'")["value"]
    assert row["value"] == pytest.approx(values.mean())
    assert (row["low"], row["high"]) == pytest.approx(metrics.mean_interval(values))
    reference = published.table("bayes_optimal_table1")
    cells = set(zip(reference["attack"], reference["metric"], strict=True))
    assert set(zip(summary["attack"], summary["metric"], strict=True)) == cells


def test_other_data_are_never_called_agreement(table):
    judged = logistic.judged(
        logistic.table_1(table).assign(n=400).drop_duplicates(["attack", "metric"])
    )
    assert set(judged["verdict"]) == {"not comparable"}
    assert (judged["published"] > 0).all()


def test_control_1_shows_peak_other_threshold_and_null(table):
    control = logistic.control_1(table).set_index(["n", "attack", "metric"])["value"]
    for n in (40, 80):
        null = control[n, "random score", "attack_accuracy(%)"]
        assert null == pytest.approx(100 * metrics.peak_accuracy_null(n // 2, n // 2))
        for attack in ("MALT", "MATT"):
            peak = control[n, attack, "attack_accuracy(%)"]
            assert peak >= control[n, attack, "attack_accuracy_other_threshold(%)"]


def test_scores_without_information_measure_the_null_and_a_coin():
    """Random scores: the peak is the null, and the threshold of another half gives 50%."""
    rng = np.random.default_rng(0)
    member = np.arange(200) < 100
    measured = pd.DataFrame(
        [logistic._measure(rng.normal(size=200), member, rng) for _ in range(300)]
    )
    error = measured.std() / np.sqrt(300)
    peak = 100 * metrics.peak_accuracy_null(100, 100)
    assert abs(measured["attack_accuracy(%)"].mean() - peak) < 4 * error["attack_accuracy(%)"]
    other = "attack_accuracy_other_threshold(%)"
    assert abs(measured[other].mean() - 50) < 4 * error[other]


def test_controls_2_and_3_have_their_rows(table):
    twins = logistic.control_2(table)
    assert set(twins["metric"]) == {"auc(%)", "rank_correlation"}
    assert twins.query("metric == 'rank_correlation'")["value"].between(0.9, 1).all()
    assert len(logistic.control_3(table)) == 2 * 4


def test_too_few_records_are_refused_with_the_largest_size():
    settings = Settings.from_strings({"profile": "tiny", "n_records": "[260]"})
    with pytest.raises(InputError, match=r"260 needs 410 records .* are 400; .* is 252"):
        logistic.trials(overlapping(), settings)
    logistic.require(overlapping().y, [252])


def test_the_same_seed_gives_the_same_numbers(table):
    values = {"profile": "tiny", "n_records": "[40, 80]", "n_repeats": "3", "n_jobs": "2"}
    again = logistic.trials(overlapping(), Settings.from_strings(values))
    pd.testing.assert_frame_equal(table, again, check_exact=True)
