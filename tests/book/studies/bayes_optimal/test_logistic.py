"""Logistic regression against automatic differentiation, and the measurements behind Table 1."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from scipy.special import expit

from membership import attacks, evidence, metrics
from membership.book import published
from membership.book.studies.bayes_optimal import (
    logistic,
    names,
    regressions,
    splits,
)
from membership.book.studies.bayes_optimal.evidence import sources
from membership.book.studies.bayes_optimal.names import ACCURACY, AUC
from membership.book.studies.bayes_optimal.regressions import Features, fit, with_one
from membership.book.studies.bayes_optimal.settings import Settings, require_both
from membership.errors import InputError

CUTS = (ACCURACY, names.OTHER, names.MODELS)


def overlapping(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = (rng.random(n) < expit(x @ rng.normal(size=d))).astype(int)
    return Features(x, y, {"made": "here"}, ("made up",), {"data": "made up"})


@pytest.fixture(scope="module")
def model():
    data = overlapping()
    return fit(data.x, data.y, 0.5)


def slow_gradient(model, x, y):
    """Gradient of each record's loss, shape (records, d + 1)."""
    return (expit(model.logit(x)) - y)[:, None] * with_one(x)


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
    np.testing.assert_allclose(slow_gradient(model, x.numpy(), y.numpy()), gradient, atol=1e-12)
    hessian = torch.func.hessian(penalised)(theta, x, y, 0.5)
    np.testing.assert_allclose(model.hessian(x.numpy()), hessian, atol=1e-10)


def seen(target, theta0, x, y, reserve):
    """What one split's evidence holds, in double precision."""
    leverage = regressions.leverages(theta0, x, reserve)
    return target.log_odds(x, y), theta0.log_odds(x, y), leverage


def test_the_scores_are_those_of_parameters_gradients_and_hessians(model, tensors):
    """Against the slow way: gradients, and the Hessian with each record added, inverted anew."""
    _, x, y = tensors
    x, y = x.numpy(), y.numpy()
    target = fit(x[:200], y[:200], 0.5)
    scores, ratio = splits.attack_scores(*seen(target, model, x[:5], y[:5], x[200:]))
    gradient, hessian = slow_gradient(model, x[:5], y[:5]), model.hessian(x[200:])
    first = attacks.matt(target.theta, model.theta, gradient)
    printed = attacks.matt(target.theta, model.theta, gradient, hessian=hessian)
    np.testing.assert_allclose(scores[splits.MATT], first, rtol=1e-9)
    np.testing.assert_allclose(scores[splits.SECOND_ORDER], printed, rtol=1e-9)
    assert ratio == pytest.approx(np.std(printed - first) / np.std(first))
    for record in range(5):
        with_record = np.concatenate([x[200:], x[record : record + 1]])
        one = gradient[record]
        second = one @ np.linalg.solve(model.hessian(with_record), one) / 2
        assert scores[splits.CORRECTED][record] == pytest.approx(first[record] - second, rel=1e-8)


def test_matt_is_never_below_the_loss_difference(model, tensors):
    _, x, y = tensors
    x, y = x.numpy(), y.numpy()
    target = fit(x[:200], y[:200], 0.5)
    scores, _ = splits.attack_scores(*seen(target, model, x, y, x[200:]))
    assert (scores[splits.MATT] >= scores[splits.TWIN] - 1e-12).all()


VALUES = {"profile": "tiny", "n_records": "[40, 80]", "n_repeats": "3"}


def observed(n_jobs="1"):
    """Evidence of both sizes, through a file."""
    settings = Settings.from_strings({**VALUES, "n_jobs": n_jobs})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(regressions, "two_classes", lambda _: overlapping())
        return [sources(settings)[names.logistic(n)]() for n in (40, 80)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evidence")
    names = [folder / "a.evidence", folder / "b.evidence"]
    found = zip(names, observed(), strict=True)
    loaded = [evidence.load(evidence.save(name, one)) for name, one in found]
    return splits.trials([splits.Size(one) for one in loaded])


def test_the_parts_of_a_split_share_no_record():
    parts = regressions.split(400, 80, repeat=1, seed=0)
    assert [len(part) for part in parts] == [40, 40, 40, 280]
    assert len(np.unique(np.concatenate(parts))) == 400


def test_records_are_in_the_order_of_their_log_odds_to_twelve_bits():
    one = observed()[0]
    odds, member = one["log_odds"].values, one["member"].values
    for row, own in zip(odds, member, strict=True):
        assert (np.diff(row[own]) >= 0).all()
        assert (np.diff(row[~own]) >= 0).all()
    assert not (odds.view(np.uint32) & np.uint32((1 << 11) - 1)).any()


def test_splits_without_leverages_have_no_second_order_term(monkeypatch, table):
    monkeypatch.setattr(regressions, "SPLITS_WITH_LEVERAGE", 2)
    some = splits.trials([splits.Size(one) for one in observed()])
    terms = (splits.SECOND_ORDER, splits.CORRECTED, splits.TERMS)
    counts = some.groupby("attack")["repeat"].nunique()
    assert set(counts[list(terms)]) == {2}
    assert set(counts.drop(list(terms))) == {3}
    found = logistic.second_order(some)
    assert found.attrs["sizes"]["Splits with leverages kept"] == "2"
    assert set(found["n_repeats"]) == {2}
    # What is left is what it was with all of them.
    both = [one[~one["attack"].isin(terms)].reset_index(drop=True) for one in (some, table)]
    pd.testing.assert_frame_equal(*both)


def test_the_0_1_attack_follows_from_the_models_accuracies(table):
    """Equation 41 of the paper, repeat by repeat."""
    wide = table.pivot_table(index=["n", "repeat"], columns=["attack", "metric"], values="value")
    train = wide["(model)", "train_accuracy(%)"]
    test = wide["(model)", "validation_accuracy(%)"]
    attack = wide["0-1", ACCURACY]
    np.testing.assert_allclose(attack, 50 + (train - test) / 2, atol=1e-9)


def test_table_1_holds_means_with_t_intervals_for_every_published_cell(table):
    summary = logistic.table_1(table)
    row = summary.query("n == 80 and attack == 'MALT' and metric == 'mAP_train(%)'").iloc[0]
    values = table.query("n == 80 and attack == 'MALT' and metric == 'mAP_train(%)'")["value"]
    assert row["value"] == pytest.approx(values.mean())
    interval = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx(interval)
    reference = published.table("bayes_optimal_table1")
    cells = set(zip(reference["attack"], reference["metric"], strict=True))
    shown = summary[~(summary["attack"] + summary["metric"]).str.contains(" less ")]
    assert set(zip(shown["attack"], shown["metric"], strict=True)) == cells


def test_the_control_shows_peak_other_threshold_and_null(table):
    control = logistic.peak_and_crossed(table).set_index(["n", "attack", "metric"])["value"]
    for n in (40, 80):
        null = control[n, "random score", ACCURACY]
        assert null == pytest.approx(100 * metrics.peak_accuracy_null(n // 2, n // 2))
        for attack in ("MALT", "MATT"):
            peak = control[n, attack, ACCURACY]
            assert peak >= control[n, attack, "attack_accuracy_other_threshold(%)"]


def test_differences_are_paired_split_by_split(table):
    wide = table[table["n"] == 80].pivot_table(
        index="repeat", columns=["attack", "metric"], values="value"
    )
    test, train = splits.MAP_TEST, splits.MAP_TRAIN
    gain = {m: wide["MATT", m] - wide["MALT", m] for m in (AUC, test, train, *CUTS)}
    lead = {m: wide["MALT", m] - wide["0-1", ACCURACY] for m in CUTS[1:]}
    other = {
        (f"{a}, {splits.GAIN} {whose}", ACCURACY): wide[a, ACCURACY] - wide[a, m]
        for a in ("MALT", "MATT")
        for whose, m in zip(("others", "other models"), CUTS[1:], strict=True)
    }
    own = {("MATT less MALT", m): gain[m] for m in (AUC, test, train)}
    own["MATT less MALT", logistic.GAINS] = gain[train] - gain[test]
    own["MALT", logistic.SIDES] = wide["MALT", test] - wide["MALT", train]
    cuts = {("MATT less MALT", m): gain[m] for m in CUTS}
    cuts |= {("MALT less 0-1", m): each for m, each in lead.items()}
    cuts["0-1", ACCURACY] = wide["0-1", ACCURACY]
    twin = {("MATT less loss difference", AUC): wide["MATT", AUC] - wide[splits.TWIN, AUC]}
    for make, expected in (
        (logistic.table_1, own),
        (logistic.peak_and_crossed, cuts | other),
        (logistic.twin, twin),
    ):
        rows = make(table).query("n == 80").set_index(["attack", "metric"])
        for name, each in expected.items():
            stated = metrics.summary(each.to_numpy())
            assert rows.loc[name, list(stated)].to_dict() == pytest.approx(stated)


@pytest.mark.parametrize("count", [1, 2])
def test_the_threshold_of_other_models_is_that_of_the_next_splits_pooled(count):
    one = splits.Size(observed()[1])
    numbers = pd.DataFrame([numbers for _, numbers in one.numbers()])
    for attack in ("MALT", "MATT"):
        found = one.at_others(attack, count)
        for place, split in enumerate(one.splits):
            after = [one.splits[(place + 1 + more) % 3] for more in range(count)]
            score = np.concatenate([each.scores[attack] for each in after])
            cut = metrics.best_threshold(score, np.concatenate([each.member for each in after]))
            said = split.scores[attack] >= cut
            right = (said[split.member].mean() + (~said)[~split.member].mean()) / 2
            assert found[place] == pytest.approx(100 * right)
        peak = numbers[attack, ACCURACY]
        assert (found <= peak + 1e-9).all()
    # Table 1's control takes all there are.
    np.testing.assert_array_equal(numbers["MALT", names.MODELS], one.at_others("MALT", 2))


def test_malt_is_0_1_at_log_2_and_its_lead_is_told_by_models_and_by_auc(table):
    both = [splits.Size(one) for one in observed()]
    found = logistic.by_models(both, table)
    assert (found.query("attack == 'MALT at log 2 less 0-1'")["value"] == 0).all()
    leads = found.query("models == 2 and attack == 'MALT less 0-1'").set_index("n")["value"]
    numbers = pd.DataFrame([numbers for _, numbers in both[1].numbers()])
    each = both[1].at_others("MALT", 2) - numbers["0-1", ACCURACY]
    assert leads[80] == pytest.approx(each.mean())
    auc = found.query("n == 80 and models == 0 and metric == 'auc(%)'").iloc[0]
    area, right = (numbers[a, AUC] for a in ("MALT", "0-1"))
    np.testing.assert_allclose(right, numbers["0-1", ACCURACY])
    assert auc["value"] == pytest.approx((area - right).mean())
    assert len(logistic.by_models_drawn(found).axes) == 2
    assert f"{leads[40]:+.2f} with a threshold from 2." in logistic.by_models_said(found)


@pytest.mark.slow
def test_scores_without_information_measure_the_null_and_a_coin():
    """Random scores: the peak is the null, and the threshold of another half gives 50%."""
    rng = np.random.default_rng(0)
    member = np.arange(200) < 100
    names = (ACCURACY, "attack_accuracy_other_threshold(%)")
    drawn = [(rng.normal(size=200), member, rng.permutation(200) % 2 == 0) for _ in range(300)]
    measured = pd.DataFrame([{n: splits.MEASURES[n](*one) for n in names} for one in drawn])
    error = measured.std() / np.sqrt(300)
    peak = 100 * metrics.peak_accuracy_null(100, 100)
    assert abs(measured[ACCURACY].mean() - peak) < 4 * error[ACCURACY]
    other = "attack_accuracy_other_threshold(%)"
    assert abs(measured[other].mean() - 50) < 4 * error[other]


def test_too_few_records_are_refused_with_the_largest_size(monkeypatch):
    settings = Settings.from_strings({"profile": "tiny", "n_records": "[260]"})
    monkeypatch.setattr(regressions, "two_classes", lambda _: overlapping())
    with pytest.raises(InputError, match=r"260 needs 410 records .* are 400; give at most 252"):
        sources(settings)["logistic-260"]()
    require_both(400, [252])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_evidence_on_any_number_of_cores():
    again = observed(n_jobs="2")
    assert [evidence.digest(one) for one in again] == [evidence.digest(one) for one in observed()]
