"""A service that answers classes alone: what is counted, what it costs, and what is said of it."""

import re

import numpy as np
import pytest
import torch
from scipy import ndimage
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from membership import attacks, audit, metrics
from membership.errors import InputError

RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 6))
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
MEMBER = RNG.permutation(120) < 60
NOISE = audit.Noise(0.5, draws=7, seed=3)
PICTURES = RNG.random((20, 5, 6))


class Service:
    """Classes by a plane, and a count of the records that were asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, x):
        self.asked += len(x)
        return (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 0.5)


def forest(x, y, seed):
    return RandomForestClassifier(8, random_state=seed).fit(x, y)


def slow_noise(predict, x, y, scale, draws, seed):
    """The share of queries that keep the label, record by record."""
    rng = np.random.default_rng(seed)
    noise = [np.zeros(x.shape[1:])] + [scale * rng.normal(size=x.shape[1:]) for _ in range(draws)]
    return [
        sum(int(predict((record + one)[None])[0]) == label for one in noise) / len(noise)
        for record, label in zip(x, y, strict=True)
    ]


@pytest.mark.parametrize("scale", [0.5, np.linspace(0.1, 1.1, 6)])
def test_the_share_is_that_of_a_slow_count(scale) -> None:
    found = audit.kept_label(Service(), X, Y, audit.Noise(scale, draws=7, seed=3))
    np.testing.assert_allclose(found, slow_noise(Service(), X, Y, scale, 7, 3), rtol=1e-12)
    assert found.dtype == np.float64


def moved(picture, down, across):
    """A picture moved by pixels, one by one; what comes in is the nearest pixel."""
    rows, columns = picture.shape
    return np.array([
        [picture[min(max(r - down, 0), rows - 1), min(max(c - across, 0), columns - 1)]
         for c in range(columns)]
        for r in range(rows)
    ])  # fmt: skip


@pytest.mark.parametrize(("rotation", "shift"), [(0, 1), (0, 2), (20, 0), (15, 1)])
def test_pictures_are_turned_and_moved_as_a_slow_count_has_it(rotation, shift) -> None:
    def predict(x):
        return (x[:, 0, 0] + x[:, -1, 1] > 1).astype(int)

    perturb = audit.Moves(rotation=rotation, shift=shift)
    y, wanted = predict(PICTURES), []
    for picture, label in zip(PICTURES, y, strict=True):
        each = [picture]
        for angle in {-rotation, rotation} - {0}:
            each.append(ndimage.rotate(picture, angle, reshape=False, order=1, mode="nearest"))
        for down in range(-shift, shift + 1):
            for across in range(-shift, shift + 1):
                if shift and abs(down) + abs(across) == shift:
                    each.append(moved(picture, down, across))
        assert len(each) == perturb.queries
        wanted.append(sum(int(predict(one[None])[0]) == label for one in each) / len(each))
    found = audit.kept_label(predict, PICTURES, y, perturb)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    channels = np.stack([PICTURES, PICTURES], axis=1)
    again = audit.kept_label(lambda x: predict(x[:, 1]), channels, y, perturb)
    np.testing.assert_array_equal(again, found)


def test_the_order_of_records_and_what_else_is_asked_do_not_matter() -> None:
    whole = audit.kept_label(Service(), X, Y, NOISE)
    order = RNG.permutation(120)
    np.testing.assert_array_equal(
        audit.kept_label(Service(), X[order], Y[order], NOISE), whole[order]
    )
    np.testing.assert_array_equal(audit.kept_label(Service(), X[:9], Y[:9], NOISE), whole[:9])


def test_a_service_is_asked_as_often_as_was_said_beforehand(capsys) -> None:
    service = Service()
    found = audit.gather(
        X, Y, forest, model=service, member=MEMBER, held=(X[:30] + 1, Y[:30]), n_reference=2,
        perturb=NOISE,
    )  # fmt: skip
    said = capsys.readouterr().err
    told = re.search(r"8 times each: ([\d,]+) answers, ([\d,]+) of them by what is audited", said)
    assert told is not None
    assert int(told[2].replace(",", "")) == service.asked == 8 * (120 + 30 + 32)
    assert int(told[1].replace(",", "")) == 3 * 8 * 150
    assert found.attrs["queries"]["each"] == 8
    count = 8 * np.array(slow_noise(Service(), X, Y, 0.5, 7, 3))
    odds = [np.log((k + 0.5) / (8 - k + 0.5)) for k in count]
    np.testing.assert_allclose(found["log_odds"][0], odds, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(found["correct"][0], Service()(X) == Y)
    loss = attacks.registry()["loss"].on(found)
    share = audit.kept_label(Service(), X, Y, NOISE)
    assert metrics.auc(loss, MEMBER) == metrics.auc(share, MEMBER)


def test_the_report_says_what_was_asked_and_what_was_not_seen(tmp_path) -> None:
    found = audit.gather(X, Y, forest, n_reference=4, n_targets=2, perturb=NOISE)
    report = audit.compare(found)
    first = report["meaning"][0]
    assert "Models were asked for classes alone" in first
    assert "each record 8 times, once as it is and 7 times with normal noise of a standard" in first
    assert "Who sees probabilities, or asks otherwise, may find more." in first
    named = {one["name"]: one for one in report["attacks"]}
    assert {"loss", "zero-one", "lira-global", "rmia"} <= set(named)
    assert named["loss"]["knowledge"] == ["classes of perturbed records"]
    left = {one["name"]: one["takes"] for one in report["left_out"]}
    assert left["bmia-closed"] == "models were asked for classes alone, which show no logits"
    assert report["setup"]["queries"] == 8
    assert "How records are perturbed was chosen by whoever" in report["setup"]["tuning"]
    untested = [one["text"] for one in report["checklist"] if one["status"] == "not tested"]
    assert any(text.startswith("Other perturbations than these") for text in untested)
    audit.write(report, None, tmp_path, "a service")
    page = " ".join((tmp_path / "audit.html").read_text().split())
    assert "each was asked 8 times about each record, for a class" in page
    assert "Classes of perturbed records</strong>: how often the model keeps" in page
    assert any(
        "keep their label as often as any does, and tie" in note for note in report["warnings"]
    )
    sure = audit.gather(X, Y, forest, n_reference=2, n_targets=1, perturb=audit.Noise(5.0, draws=9))
    assert not any("tie" in note for note in sure.attrs["warnings"])


def test_models_that_answer_more_are_asked_for_their_classes() -> None:
    fitted = LogisticRegression().fit(X, Y)
    module = nn.Linear(6, 3).double()
    module.weight.data, module.bias.data = map(torch.tensor, (fitted.coef_, fitted.intercept_))
    wanted = audit.kept_label(fitted.predict, X, Y, NOISE)
    for one in (fitted, module):
        np.testing.assert_array_equal(audit.kept_label(one, X, Y, NOISE), wanted)
    two = np.minimum(Y, 1)
    plane = LogisticRegression().fit(X, two)
    alone = nn.Linear(6, 1).double()
    alone.weight.data, alone.bias.data = map(torch.tensor, (plane.coef_, plane.intercept_))
    np.testing.assert_array_equal(
        audit.kept_label(alone, X, two, NOISE), audit.kept_label(plane, X, two, NOISE)
    )


def test_without_reference_models_and_of_several_checkpoints() -> None:
    alone = audit.gather(X, Y, None, model=Service(), member=MEMBER, perturb=NOISE)
    assert {"loss", "zero-one"} == {one["name"] for one in audit.compare(alone)["attacks"]}
    pair = [Service(), LogisticRegression().fit(X[MEMBER], Y[MEMBER]).predict]
    both = audit.gather(X, Y, None, model=pair, member=MEMBER, perturb=NOISE)
    assert both["sequence_log_odds"].shape == (1, 2, 120)
    assert "score-difference" in {one["name"] for one in audit.compare(both)["attacks"]}


def test_a_folder_of_other_queries_is_not_taken_up(tmp_path) -> None:
    sizes = {"n_reference": 2, "n_targets": 1, "keep": tmp_path}
    first = audit.gather(X, Y, forest, perturb=NOISE, **sizes)
    other = audit.gather(X, Y, forest, perturb=audit.Noise(0.5, draws=7, seed=4), **sizes)
    assert not np.array_equal(first["log_odds"], other["log_odds"])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: audit.Noise(0.0), "scale = 0.0: give standard deviations above 0"),
        (lambda: audit.Noise(np.array([1.0, np.nan])), "give standard deviations above 0"),
        (lambda: audit.Noise(1.0, draws=0), "draws = 0: expected a whole number from 1"),
        (lambda: audit.Noise(1.0, seed=-1), "seed = -1"),
        (lambda: audit.Moves(rotation=0, shift=0), "no query is perturbed"),
        (lambda: audit.Moves(rotation=-5), "rotation = -5: give degrees from 0, below 180"),
        (lambda: audit.Moves(shift=-1), "shift = -1"),
        (lambda: audit.kept_label(Service(), X, Y, 0.5), "perturb is of type float; give audit."),
        (lambda: audit.kept_label(Service(), X, Y[:9], NOISE), "x, y have shapes"),
    ],
)
def test_what_perturbs_nothing_is_refused(make, said) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        make()
