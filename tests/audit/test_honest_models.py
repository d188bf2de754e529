"""Models as people have them, none of which is to be refused, as arrays and as a Dataset."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import logsumexp
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from torch import nn
from torch.utils.data import TensorDataset

from membership import audit, signals
from membership.audit import streams
from membership.errors import InputError

N = 260
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 6)).astype(np.float32)
ONE = (X[:, 0] + RNG.normal(size=N) > -0.6).astype(int)
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
LABELS = (X[:, :2] + RNG.normal(size=(N, 2)) > -0.5).astype(int)
NUMBERS = X[:, 0] - X[:, 1] ** 2
IMAGES = RNG.random((N, 1, 6, 6)).astype(np.float32)
WORDS = RNG.integers(0, 30, (N, 8))
SERIES = RNG.normal(size=(N, 5, 3)).astype(np.float32)
MEMBER = np.arange(N) % 2 == 0
LOGITS = {"outputs": "logits"}


class Answering(nn.Module):
    """A module of one function of its parts."""

    def __init__(self, forward, **parts) -> None:
        super().__init__()
        self.parts, self.answer = nn.ModuleDict(parts), forward

    def forward(self, x):
        return self.answer(self.parts, x)


class Shared(nn.Module):
    """A head tied to the embedding, as language models have it."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 4)
        self.head = nn.Linear(4, 30, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.words(x).mean(1))[:, :3]


class Adapted(nn.Module):
    """A frozen layer with an adapter of low rank beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(6, 3).requires_grad_(False)
        self.down, self.up = nn.Linear(6, 1, bias=False), nn.Linear(1, 3, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Answer:
    def __init__(self, logits) -> None:
        self.logits = logits


def weak(*sizes):
    """A network whose last layer a strong penalty has left nothing but its bias."""
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, *sizes))
    with torch.no_grad():
        model[2].weight.mul_(0.02)
        model[2].bias.fill_(0.7)
    return model


def seeded(make):
    def made():
        torch.manual_seed(5)
        return make()

    return made


# Each with records, labels and what it has to be told, where its answers may be probabilities.
CLASSIFIERS = {
    "one logit": (lambda: nn.Linear(6, 1), X, ONE, {}),
    "one logit that is squeezed": (
        lambda: Answering(lambda of, x: of["a"](x).squeeze(), a=nn.Linear(6, 1)), X, ONE, {},
    ),
    "one logit, flattened": (lambda: nn.Sequential(nn.Linear(6, 1), nn.Flatten(0)), X, ONE, {}),
    "a strong penalty, one logit": (lambda: weak(1), X, ONE, LOGITS),
    "a strong penalty, two": (lambda: weak(2), X, ONE, LOGITS),
    "much noise": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.Tanh(), nn.Threshold(0.0, 0.1)), X, THREE, LOGITS,
    ),
    "ReLU of a tanh": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.Tanh(), nn.ReLU()), X, THREE, LOGITS,
    ),
    "hard sigmoid as a clamp": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.Hardtanh(0.0, 1.0)), X, THREE, LOGITS,
    ),
    "of nothing but zeros": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.Threshold(1e9, 0.0)), X, THREE, {},
    ),
    "constant": (lambda: nn.Sequential(nn.Linear(6, 1), nn.Threshold(1e9, 0.5)), X, ONE, {}),
    "log-softmax": (lambda: nn.Sequential(nn.Linear(6, 3), nn.LogSoftmax(1)), X, THREE, {}),
    "half precision": (lambda: nn.Linear(6, 3).bfloat16(), X, THREE, {}),
    "double precision": (lambda: nn.Linear(6, 3).double(), X, THREE, {}),
    "batch norm and dropout": (
        lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3)),
        X, THREE, {},
    ),
    "group norm and pooling": (
        lambda: nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(),
                              nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)),
        IMAGES, THREE, {},
    ),
    "pooling, squeezed": (
        lambda: Answering(lambda of, x: of["a"](x).mean((2, 3)).squeeze(), a=nn.Conv2d(1, 3, 3)),
        IMAGES, THREE, {},
    ),
    "bytes for images": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(36, 3)),
        (255 * IMAGES).astype(np.uint8), THREE, {},
    ),
    "embedding": (
        lambda: nn.Sequential(nn.Embedding(30, 4), nn.Flatten(), nn.Linear(32, 3)),
        WORDS, THREE, {},
    ),
    "words in a table of floats": (
        lambda: nn.Sequential(nn.EmbeddingBag(30, 4), nn.Linear(4, 3)),
        WORDS.astype(np.float64), THREE, {},
    ),
    "LSTM": (
        lambda: Answering(lambda of, x: of["b"](of["a"](x)[0][:, -1]),
                          a=nn.LSTM(3, 4, batch_first=True), b=nn.Linear(4, 3)),
        SERIES, THREE, {},
    ),
    "transformer": (
        lambda: nn.Sequential(nn.Linear(3, 4),
                              nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
                              nn.Flatten(), nn.Linear(20, 3)),
        SERIES, THREE, {},
    ),
    "tied weights": (Shared, WORDS, THREE, {}),
    "adapter": (Adapted, X, THREE, {}),
    "weight norm": (
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), X, THREE, {},
    ),
    "cosine head": (
        lambda: Answering(lambda of, x: 8 * nn.functional.normalize(x)
                          @ nn.functional.normalize(of["a"].weight).T, a=nn.Linear(6, 3)),
        X, THREE, {},
    ),
    "an answer with logits": (
        lambda: Answering(lambda of, x: Answer(of["a"](x)), a=nn.Linear(6, 3)), X, THREE, {},
    ),
    "more classes than labels": (lambda: nn.Linear(6, 7), X, THREE, {}),
}  # fmt: skip


def log_odds(answers, y):
    """By the definition, in float64."""
    answers = np.asarray(answers, np.float64)
    if answers.ndim == 1 or answers.shape[1] == 1:
        answers = np.c_[np.zeros(len(y)), answers.reshape(len(y))]
    others = np.array([logsumexp(np.delete(row, label)) for row, label in zip(answers, y)])  # noqa: B905
    return answers[np.arange(len(y)), y] - others


def by_hand(model, x):
    """What the module answers in evaluation mode, given what it reads."""
    model = copy.deepcopy(model).eval()
    reads_words = any(isinstance(part, nn.Embedding | nn.EmbeddingBag) for part in model.modules())
    dtype = torch.int64 if reads_words else next(model.parameters()).dtype
    with torch.no_grad():
        answer = model(torch.tensor(np.asarray(x)).to(dtype))
    return getattr(answer, "logits", answer).double().numpy()


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
def test_a_classifier_is_read_as_it_answers(name) -> None:
    make, x, y, told = CLASSIFIERS[name]
    model = seeded(make)()
    wanted = log_odds(by_hand(model, x), y)
    close = {"rtol": 1e-4, "atol": 2e-2 if name == "half precision" else 1e-5}
    np.testing.assert_allclose(signals.scaled_logit(model, x, y, **told)[0], wanted, **close)
    both = signals.scaled_logit([model, model], x, y, **told)
    np.testing.assert_allclose(both, np.stack([wanted, wanted]), **close)
    given = {"model": model, "member": MEMBER, **told}
    train = lambda x, y, seed: seeded(make)()  # noqa: E731
    found = audit.gather(x, y, train, n_reference=2, **given)
    np.testing.assert_allclose(found["log_odds"], np.stack([wanted] * 3), **close)
    # The last part of 260 records has four.
    stream = TensorDataset(torch.tensor(x), torch.tensor(y))
    np.testing.assert_allclose(audit.gather(stream, None, None, **given)["log_odds"][0], wanted,
                               **close)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if CLASSIFIERS[name][3]])
def test_what_may_be_probabilities_is_refused_with_a_way_on(name) -> None:
    make, x, y, _ = CLASSIFIERS[name]
    model = seeded(make)()
    for ask in (
        lambda: signals.loss(model, x, y),
        lambda: audit.gather(x, y, None, model=model, member=MEMBER),
    ):
        with pytest.raises(InputError, match='outputs="logits" or outputs="probabilities"'):
            ask()


OF_LIBRARIES = {
    "forest": RandomForestClassifier(5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=3),
    "boosting by histograms": HistGradientBoostingClassifier(max_iter=3),
    "linear, with a strong penalty": LogisticRegression(C=1e-4),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive Bayes": GaussianNB(),
}


@pytest.mark.parametrize("y", [ONE, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_a_classifier_of_probabilities_is_read_by_them(name, y) -> None:
    model = copy.deepcopy(OF_LIBRARIES[name]).fit(X, y)
    p = model.predict_proba(X).astype(np.float64).clip(1e-9, 1 - 1e-9)
    found = audit.gather(X, y, None, model=model, member=MEMBER)["log_odds"][0]
    np.testing.assert_allclose(found, log_odds(np.log(p), y), rtol=1e-4, atol=1e-5)
    told = {"outputs": "probabilities", "model": model.predict_proba, "member": MEMBER}
    np.testing.assert_allclose(audit.gather(X, y, None, **told)["log_odds"][0], found, rtol=1e-6)
    signal = signals.scaled_logit(model.predict_proba(X), None, y, outputs="probabilities")
    np.testing.assert_allclose(signal[0], found, rtol=1e-4, atol=1e-6)


def test_a_classifier_without_probabilities_is_named_with_what_would_do() -> None:
    model = LinearSVC().fit(X, ONE)
    with pytest.raises(InputError, match=r"LinearSVC; give .*decision_function"):
        audit.gather(X, ONE, None, model=model, member=MEMBER)
    found = audit.gather(X, ONE, None, model=model.decision_function, member=MEMBER)
    wanted = log_odds(model.decision_function(X), ONE)
    np.testing.assert_allclose(found["log_odds"][0], wanted, rtol=1e-5)


class Plain:
    """A classifier of somebody's own, which lists no classes."""

    def __init__(self, column: bool) -> None:
        self.column = column

    def predict_proba(self, x):
        p = 1 / (1 + np.exp(-x[:, 0].astype(float)))
        return p[:, None] if self.column else np.c_[1 - p, p]


@pytest.mark.parametrize("column", [False, True])
def test_a_classifier_that_lists_no_classes_has_them_from_0(column) -> None:
    found = audit.gather(X, ONE, None, model=Plain(column), member=MEMBER)["log_odds"][0]
    np.testing.assert_allclose(found, np.where(ONE == 1, X[:, 0], -X[:, 0]), rtol=1e-4, atol=1e-6)


REGRESSIONS = {
    "ridge": Ridge().fit(X, NUMBERS),
    "boosting": GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS),
    "one column": seeded(lambda: nn.Linear(6, 1))(),
    "squeezed": seeded(lambda: Answering(lambda of, x: of["a"](x).squeeze(), a=nn.Linear(6, 1)))(),
    "all within 0 and 1": seeded(lambda: nn.Sequential(nn.Linear(6, 1), nn.Sigmoid()))(),
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_regression_is_read_as_it_predicts(name) -> None:
    model = REGRESSIONS[name]
    y = 1 / (1 + np.exp(-NUMBERS)) if name == "all within 0 and 1" else NUMBERS
    given = {"model": model, "member": MEMBER, "task": "regression"}
    answers = model.predict(X) if hasattr(model, "predict") else by_hand(model, X).reshape(N)
    error = (answers - y) ** 2
    wanted = error / (2 * error.mean())
    for x, labels in ((X, y), (TensorDataset(torch.tensor(X), torch.tensor(y)), None)):
        found = audit.gather(x, labels, None, **given)["log_odds"][0]
        np.testing.assert_allclose(np.logaddexp(0, -found), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", ["network", "weak network", "forest", "one forest a label"])
def test_several_labels_are_read_as_they_are_answered(form) -> None:
    told = LOGITS if form == "weak network" else {}
    if "network" in form:
        model = seeded(lambda: weak(2) if told else nn.Linear(6, 2))()
        odds = by_hand(model, X)
    else:
        forest = RandomForestClassifier(5, random_state=0)
        model = (MultiOutputClassifier(forest) if "one" in form else forest).fit(X, LABELS)
        p = np.stack([each[:, 1] for each in model.predict_proba(X)], axis=1)
        p = p.clip(1e-9, 1 - 1e-9)
        odds = np.log(p) - np.log1p(-p)
    loss = np.logaddexp(0, (1 - 2 * LABELS) * odds).sum(axis=1)
    given = {"model": model, "member": MEMBER, "task": "multi-label", **told}
    for x, y in ((X, LABELS), (TensorDataset(torch.tensor(X), torch.tensor(LABELS)), None)):
        found = audit.gather(x, y, None, **given)["log_odds"][0]
        np.testing.assert_allclose(np.logaddexp(0, -found), loss, rtol=1e-4, atol=1e-6)


def test_the_last_part_of_one_record_is_read_like_the_others(monkeypatch) -> None:
    monkeypatch.setattr(streams, "PART", N - 1)
    for name in ("one logit that is squeezed", "pooling, squeezed"):
        make, x, y, _ = CLASSIFIERS[name]
        model = seeded(make)()
        stream = TensorDataset(torch.tensor(x), torch.tensor(y))
        found = audit.gather(stream, None, None, model=model, member=MEMBER)
        np.testing.assert_allclose(
            found["log_odds"][0], log_odds(by_hand(model, x), y), rtol=1e-4, atol=1e-5
        )


def test_a_model_answers_in_its_own_precision_whatever_the_caller_has_switched_on() -> None:
    model = seeded(lambda: nn.Linear(6, 3))()
    wanted = signals.loss(model, X, THREE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        np.testing.assert_array_equal(signals.loss(model, X, THREE), wanted)
        found = audit.gather(X, THREE, None, model=model, member=MEMBER)
    np.testing.assert_allclose(
        np.logaddexp(0, -found["log_odds"][0]), wanted[0], rtol=1e-5, atol=1e-7
    )


def test_several_outputs_are_a_noise_of_one_variance() -> None:
    y = np.c_[NUMBERS, X[:, 2], X[:, 3]]
    model = seeded(lambda: nn.Linear(6, 3))()
    error = (by_hand(model, X) - y) ** 2
    # Minus the log-likelihood of three numbers, without its constant.
    wanted = (error / (2 * error.mean())).sum(axis=1)
    given = {"model": model, "member": MEMBER, "task": "regression"}
    found = audit.gather(X, y, None, **given)["log_odds"][0]
    np.testing.assert_allclose(np.logaddexp(0, -found), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("classes", [[1, 2, 3], ["a", "b", "c"]], ids=["from 1", "words"])
def test_a_classifier_of_other_labels_is_refused_with_a_way_on(classes) -> None:
    model = LogisticRegression().fit(X, np.array(classes)[THREE])
    with pytest.raises(InputError, match=r"labels are 0 to 2; train .*the function model\.pred"):
        audit.gather(X, THREE, None, model=model, member=MEMBER)
    given = {"model": model.predict_proba, "outputs": "probabilities", "member": MEMBER}
    found = audit.gather(X, THREE, None, **given)["log_odds"][0]
    wanted = log_odds(np.log(model.predict_proba(X)), THREE)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("classes", [[0, 2], [0, 1, 2, 5]], ids=["fewer", "more"])
def test_a_classifier_may_know_fewer_labels_or_more(classes) -> None:
    known = np.array(classes)[np.minimum(THREE, len(classes) - 1)]
    known[: len(classes)] = classes
    model = LogisticRegression().fit(X, known)
    p = np.full((N, max(2, *classes) + 1), 1e-9)
    p[:, classes] = model.predict_proba(X)
    found = audit.gather(X, THREE, None, model=model, member=MEMBER)["log_odds"][0]
    np.testing.assert_allclose(found, log_odds(np.log(p), THREE), rtol=1e-4, atol=1e-5)


def test_a_model_that_reads_names_of_columns_is_refused_with_a_way_on() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    scaled = ColumnTransformer([("scaled", StandardScaler(), list("abcd"))])
    model = make_pipeline(scaled, LogisticRegression()).fit(frame, THREE)
    with pytest.raises(InputError, match=r"it fails on the records, an array .*a data frame"):
        audit.gather(frame, THREE, None, model=model, member=MEMBER)

    with pytest.raises(InputError, match=r"not of words; number the words of a data frame"):
        audit.gather(frame.assign(a="b"), THREE, None, model=model, member=MEMBER)

    def asked(x):
        return model.predict_proba(pd.DataFrame(x, columns=list("abcdef")))

    given = {"model": asked, "outputs": "probabilities", "member": MEMBER}
    found = audit.gather(frame, THREE, None, **given)["log_odds"][0]
    wanted = log_odds(np.log(model.predict_proba(frame)), THREE)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


UNSTEADY = {
    "dropout that is left on": lambda: Answering(
        lambda of, x: of["a"](nn.functional.dropout(x, 0.5, training=True)), a=nn.Linear(6, 3)
    ),
    "a norm without statistics": lambda: nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8, track_running_stats=False), nn.Linear(8, 3)
    ),
}


@pytest.mark.parametrize("name", UNSTEADY)
def test_a_model_whose_answer_is_not_the_record_s_alone_is_said(name) -> None:
    model = seeded(UNSTEADY[name])()
    stream = TensorDataset(torch.tensor(X), torch.tensor(THREE))
    for x, y in ((X, THREE), (stream, None)):
        found = audit.gather(x, y, None, model=model, member=MEMBER)
        assert any("answers the same records otherwise" in one for one in found.warnings)
    found = audit.gather(X, THREE, lambda x, y, seed: model, n_reference=2, n_targets=1)
    assert sum("answers the same records otherwise" in one for one in found.warnings) == 1
    with pytest.warns(UserWarning, match="answers the same records otherwise"):
        signals.loss(model, X, THREE)
    with pytest.warns(UserWarning, match="answers the same records otherwise"):
        signals.loss([nn.Linear(6, 3), model], X, THREE)
