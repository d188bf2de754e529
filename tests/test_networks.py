"""A user's network: what it reads, what it may answer, and that it is left as it was."""

import inspect
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import membership
from membership import attacks, audit, curvature, signals
from membership.errors import InputError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 2
MEMBER = np.arange(40) < 20
TRAIN, QUERY = (X[:20], Y[:20]), (X, Y)
RECIPE = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "damping": 5.0}


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


class Counting(nn.Module):
    """Draws a number and counts, in any mode."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        torch.rand(1)
        return x


def network(*between):
    torch.manual_seed(3)
    parts = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), *between, nn.Linear(4, 2)
    return nn.Sequential(*parts)


def linear(x, y, seed):
    torch.manual_seed(seed)
    return nn.Linear(3, 2)


def white_box(run):
    return lambda model: run(model, cross_entropy, *TRAIN)


def attacked(run):
    return lambda model: run(model, cross_entropy, TRAIN, QUERY, MEMBER, **RECIPE)


READERS = {
    "signals.loss": lambda model: signals.loss(model, X, Y),
    "signals.probability": lambda model: signals.probability(model, X, Y),
    "signals.hinge": lambda model: signals.hinge(model, X, Y),
    "signals.scaled_logit": lambda model: signals.scaled_logit(model, X, Y),
    "signals.correct": lambda model: signals.correct(model, X, Y),
    "audit.gather": lambda model: audit.gather(
        X, Y, linear, model=model, member=MEMBER, n_reference=2
    ),
    "audit.kept_label": lambda model: audit.kept_label(model, X, Y, audit.Noise(0.5, draws=2)),
    "curvature.last_layer": lambda model: curvature.last_layer(model, X, layer=str(len(model) - 1)),
}
DIFFERENTIATED = {
    "curvature.ggn": white_box(curvature.ggn),
    "curvature.gradient_parts": lambda model: list(
        curvature.gradient_parts(model, cross_entropy, *TRAIN)
    ),
    "curvature.hessian": white_box(curvature.hessian),
    "curvature.least_damping": white_box(curvature.least_damping),
    "curvature.per_record_gradients": white_box(curvature.per_record_gradients),
    "curvature.spectrum": white_box(curvature.spectrum),
    "curvature.white_box_view": lambda model: curvature.white_box_view(
        model, cross_entropy, TRAIN, QUERY
    ),
    "attacks.iha": attacked(attacks.iha),
    "attacks.iha, cg": lambda model: attacks.iha(
        model, cross_entropy, TRAIN, QUERY, MEMBER, **RECIPE, solver="cg"
    ),
    "attacks.sif": lambda model: attacks.sif(model, cross_entropy, TRAIN, QUERY, 5.0),
    "attacks.residual": lambda model: attacks.residual(
        model, cross_entropy, TRAIN, QUERY, MEMBER, 0.1
    ),
}


def test_every_public_function_that_takes_a_network_is_tried():
    named = {name.split(",")[0] for name in (*READERS, *DIFFERENTIATED)}
    for room in (signals, attacks, curvature, audit, membership.metrics, membership.data):
        for name in getattr(room, "__all__", vars(room)):
            function = vars(room).get(name) or getattr(room, name)
            if not inspect.isfunction(function) or name.startswith("_"):
                continue
            kinds = [str(p.annotation) for p in inspect.signature(function).parameters.values()]
            if any("torch.nn" in kind for kind in kinds) and name != "answers":
                assert f"{room.__name__.split('.')[-1]}.{name}" in named


def state(model):
    parts = [
        (name, part.training, len(part._forward_hooks)) for name, part in model.named_modules()
    ]
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    kinds = [
        (name, id(value), value.dtype, value.device, value.requires_grad, value._version)
        for name, value in model.named_parameters()
    ]
    gradients = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    return parts, kinds, {name: value.clone() for name, value in tensors.items()}, gradients


@pytest.mark.parametrize("name", [*READERS, *DIFFERENTIATED])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_network_and_the_random_state_are_left_as_they_were(name, dtype):
    model = (network(Counting()) if name in READERS else network()).to(dtype)
    model.train()
    model[1].eval()  # frozen, as in fine-tuning
    model(torch.zeros(4, 3, dtype=dtype)).sum().backward()
    before, drawn = state(model), torch.get_rng_state()
    x = X.copy()
    {**READERS, **DIFFERENTIATED}[name](model)
    after = state(model)
    assert before[:2] == after[:2]
    for old, new in zip(before[2].values(), after[2].values(), strict=True):
        assert torch.equal(old, new)
    for old, new in zip(before[3], after[3], strict=True):
        assert torch.equal(old, new)
    if name != "audit.gather":  # whose training is the user's
        assert torch.equal(drawn, torch.get_rng_state())
    np.testing.assert_array_equal(x, X)


def tokens():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(12, 2))


@pytest.mark.parametrize("kind", ["i8", "i4", "u1", "u2", ">i8", "O"])
def test_whole_numbers_stay_whole_where_the_network_reads_them(kind):
    x, model = RNG.integers(0, 9, (40, 3)), tokens()
    expected = model(torch.tensor(x)).detach().numpy()
    given = x.astype(kind)
    found = signals.scaled_logit(model, given, Y)[0]
    sign = np.where(Y == 1, 1, -1)
    np.testing.assert_allclose(found, sign * (expected[:, 1] - expected[:, 0]), rtol=1e-5)
    np.testing.assert_allclose(
        curvature.last_layer(model, given, layer="2").logits, expected, rtol=1e-5, atol=1e-6
    )
    gathered = audit.gather(given, Y, lambda x, y, seed: tokens(), n_reference=2, n_targets=1)
    np.testing.assert_allclose(gathered["log_odds"][0], found, rtol=1e-5)
    assert curvature.per_record_gradients(model, cross_entropy, given, Y).shape == (40, 62)
    # A network that reads weights' own type gets that.
    np.testing.assert_array_equal(
        signals.loss(linear(0, 0, 0), given, Y), signals.loss(linear(0, 0, 0), x.astype("f4"), Y)
    )


def test_a_word_that_the_network_does_not_know_is_named():
    for run in (
        lambda x: signals.loss(tokens(), x, Y),
        lambda x: curvature.last_layer(tokens(), x, layer="2"),
        lambda x: curvature.hessian(tokens(), cross_entropy, x, Y),
    ):
        with pytest.raises(InputError, match="index out of range"):
            run(np.full((40, 3), 9))


def forms(values):
    torch.manual_seed(0)
    model = nn.Linear(3, values)
    return model(torch.tensor(X).float()).detach()


PROBABILITIES = {
    "one sigmoid": torch.sigmoid(forms(1)),
    "several sigmoids": torch.sigmoid(forms(4)),
    "softmax": torch.softmax(forms(3), 1),
    "few of a softmax": torch.softmax(forms(3), 1)[:2],
    "decisions": (forms(1) > 0).float(),
    "one of the classes": nn.functional.one_hot(forms(3).argmax(1), 3).float(),
    "half precision": torch.softmax(forms(8), 1).bfloat16(),
    "a mean whose rounding is above 1": torch.eye(3)[forms(3).argmax(1)] + 1e-7,
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_probabilities_are_refused_where_logits_are_asked(name):
    answers = PROBABILITIES[name]
    label = np.zeros(len(answers), int)
    for signal in (signals.loss, signals.hinge, signals.correct):
        with pytest.raises(InputError, match="model answers probabilities"):
            signal(answers, None, label)
    if len(answers) == len(X):
        with pytest.raises(InputError, match="model answers probabilities"):
            audit.gather(X, Y, linear, model=lambda x: answers, member=MEMBER)
        logits = answers.double() + 1.5  # from elsewhere, the same numbers pass
        assert np.isfinite(signals.loss(logits, None, label)).all()


@pytest.mark.parametrize("last", [nn.Sigmoid(), nn.Softmax(1)])
def test_a_network_that_ends_in_probabilities_is_refused(last):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 1 if isinstance(last, nn.Sigmoid) else 2), last)
    with pytest.raises(InputError, match="model answers probabilities"):
        signals.loss(model, X, Y)


LOGITS = np.array([[2.0, 0, 1], [0, 1, 3]])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: signals.loss(LOGITS, None, ["a", "b"]), "y must be .* not of words"),
        (lambda: signals.loss(LOGITS, None, None), "y is None"),
        (lambda: signals.loss(LOGITS, None, [0, None]), "y must be an array"),
        (lambda: signals.loss(LOGITS, None, np.ma.array([0, 1], mask=[0, 1])), "masked"),
        (lambda: signals.loss(LOGITS + 1j, None, [0, 1]), "logits must be .* complex"),
        (lambda: signals.loss(linear(0, 0, 0), [["a", "b", "c"]], [0]), "x must be"),
        (lambda: signals.loss(linear(0, 0, 0), [[1, 2, 3], [1]], [0, 0]), "rows of one length"),
        (lambda: signals.loss(linear(0, 0, 0), X[:0], Y[:0]), "at least one record"),
        (lambda: signals.loss(lambda x: x, X, Y), "source is function"),
        (lambda: curvature.last_layer(linear(0, 0, 0), X, batch_size=0), "batch_size = 0"),
        (lambda: curvature.last_layer(linear(0, 0, 0), X[:, :2]), "cannot be put to the model"),
        (lambda: curvature.last_layer(3, X), "model = int"),
        (lambda: audit.gather(X, np.array(["n", "y"])[Y], linear), "numpy.unique"),
        (lambda: audit.gather(X, Y, linear, n_reference=4.0), r"n_reference = 4\.0"),
        (lambda: audit.gather(X, Y, linear, held=X), "held is a ndarray; give the pair"),
    ],
)
def test_what_cannot_be_read_is_one_line(run, message):
    with pytest.raises(InputError, match=message) as error:
        run()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "same",
    [
        X[:, ::-1][:, ::-1],
        X.astype(">f8"),
        X.astype(np.longdouble),
        torch.tensor(X, requires_grad=True),
        X.tolist(),
    ],
    ids=["negative strides", "big-endian", "long double", "in a graph", "lists"],
)
def test_numbers_are_read_in_any_form(same):
    model = linear(0, 0, 0)
    np.testing.assert_array_equal(signals.loss(model, same, Y), signals.loss(model, X, Y))
    np.testing.assert_array_equal(
        curvature.last_layer(model, same).logits, curvature.last_layer(model, X).logits
    )
    assert curvature.last_layer(model, torch.tensor(X).bfloat16()).logits.shape == (40, 2)


def test_a_classifier_of_words_and_held_records_that_were_seen_are_named():
    from sklearn.linear_model import LogisticRegression

    words = LogisticRegression().fit(X, np.array(["n", "y"])[Y])
    with pytest.raises(InputError, match="its classes are 'n', 'y'"):
        audit.gather(X, Y, linear, model=words, member=MEMBER)
    (said,) = audit.gather(X, Y, linear, held=(X, Y), n_reference=2, n_targets=1).attrs["warnings"]
    assert said.startswith("40 of 40 held records are among the records")


@pytest.mark.parametrize(
    ("rows", "member", "message"),
    [
        ([0, 1], [False, False], "record 0 of query is marked as no member"),
        ([0, 30], [True, True], "record 1 of query is marked as a member"),
        ([30, 5, 5], [False, True, False], None),  # a copy of one that is queried as a member
        ([30, 5], [False, True], None),
    ],
)
def test_marks_that_the_training_records_contradict_are_refused(rows, member, message):
    model, query = linear(0, 0, 0), (X[rows].astype("f4"), Y[rows])
    for run in (
        lambda: attacks.iha(model, cross_entropy, TRAIN, query, member, **RECIPE).score,
        lambda: attacks.residual(model, cross_entropy, TRAIN, query, member, 0.1),
    ):
        if message is None:
            assert np.isfinite(run()).all()
        else:
            with pytest.raises(InputError, match=message):
                run()


def test_scripts_and_wrapped_networks_answer_as_they_are(no_accelerator):
    model = linear(0, 0, 0)
    expected = signals.loss(model, X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # to torch, scripts are old
        script = torch.jit.script(model.eval())
        forms = [script, torch.jit.freeze(script), torch.jit.trace(model, torch.zeros(1, 3))]
    for form in (*forms, nn.DataParallel(model)):
        np.testing.assert_array_equal(signals.loss(form, X, Y), expected)
