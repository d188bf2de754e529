"""Finite in, finite out: what the functions that take arrays do with odd but finite numbers."""

import dataclasses
import inspect
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch

from membership import attacks, metrics, privacy, signals
from membership.errors import InputError

# Numbers that float16 holds, so that every form of them is the same number.
RNG = np.random.default_rng(0)
MEMBER = np.tile([[True, False], [False, True], [True, False], [False, True]], (2, 4))
TRUTH = np.arange(8) % 2 == 0
LABEL = np.arange(8) % 3


def numbers(*shape, low=-16, high=16):
    return RNG.integers(low, high, shape) / 8


PER_RECORD, PER_MODEL = numbers(8), numbers(8, 8)
SHARES, SHARES_OF_MODELS = numbers(8, low=1, high=8), numbers(8, 8, low=1, high=8)
LOGITS, EYES = numbers(8, 3), np.tile(np.eye(3), (8, 1, 1))
LOSSES, LOSSES_OF_MODELS = numbers(8, low=0), numbers(8, 8, low=0)
FORMS = {name: numbers(8, low=1) for name in ("own1", "own2", "own3", "mean2", "mean3")}
RATES = np.array([0.0, 0.125, 0.5, 1.0])


def call(*arrays, of=None, **options):
    """The function of a name, or another, with its arrays and its other arguments."""
    return of, arrays, options


def forms(function, *given):
    """A function of quadratic forms as one of their arrays."""

    def run(*arrays):
        return function(dict(zip(FORMS, arrays, strict=False)), *arrays[len(FORMS) :], *given)

    return run


def of_forms(*arrays):
    return forms(attacks.iha_from_forms, 10, 0.1, 0.9, 5e-4)(FORMS["own1"], *arrays)


def residual(own, rest, member):
    return attacks.residual_from_forms({"own2": own, "rest2": rest}, member, 10)


def best_separating(target, reference, member):
    return attacks.mast(target, reference, "best-separating", member)


def contrast(a, b, member):
    return metrics.contrast_interval("auc", [a, b], [1.0, -1.0], member, resamples=20)


def on_auc(function):
    return lambda *arrays: function("auc", *arrays, resamples=20)


def clopper_pearson(score, member):
    return metrics.interval("tpr_at_fpr", score, member, method="clopper-pearson", fpr=0.5)


def rates_of_two(a, b, member):
    found = metrics.resampled_rates({"a": a, "b": b}, member, fprs=[0.5], resamples=20)
    return [(rate.value, rate.under) for rates in found.values() for rate in rates.values()]


def band(score, member, rates):
    return metrics.roc_band([(score, member)] * 2, rates)


def signal(name):
    return lambda logits, label: getattr(signals, name)(logits, None, label)


GRADIENTS = numbers(3), numbers(8, 3), numbers(3), np.eye(3)
STEPS = numbers(2, 3), numbers(2, 8, 3), numbers(2, 3), np.tile(np.eye(3), (2, 1, 1))
DRAWN = LOGITS, EYES, LABEL
BOTH = np.stack([LOGITS, -LOGITS]), np.stack([EYES, EYES]), LABEL
SEVERAL = numbers(8, 2, 8)
TWO, OTHER_TWO, OF_TWO = PER_MODEL[:2], PER_MODEL[2:4], MEMBER[:2]
PUBLIC = numbers(40, 2), numbers(40), numbers(8, 2)
SHARES_AND_BACK = SHARES, SHARES_OF_MODELS, SHARES[::-1], SHARES_OF_MODELS[::-1]

CALLS: dict[str, tuple[Any, tuple, dict]] = {
    "attacks.attack_p": call(PER_RECORD, PER_MODEL[0]),
    "attacks.attack_r": call(LOSSES, LOSSES_OF_MODELS),
    "attacks.attack_r, wide": call(PER_RECORD, PER_MODEL, bounds=(-1e308, 1e308)),
    "attacks.bavaria": call(PER_RECORD, PER_MODEL, MEMBER),
    "attacks.bavaria, normal": call(PER_RECORD, PER_MODEL, MEMBER, predictive="normal"),
    "attacks.bavaria, offline": call(PER_RECORD, PER_MODEL, mode="offline"),
    "attacks.bmia": call(PER_RECORD, *DRAWN),
    "attacks.bmia, drawn": call(PER_RECORD, *DRAWN, n_samples=4),
    "attacks.bmia_from_moments": call(PER_RECORD, PER_RECORD[::-1], LOSSES + 1),
    "attacks.bmia_from_moments, several": call(
        PER_RECORD, PER_MODEL, np.abs(PER_MODEL) + 1, several="variance"
    ),
    "attacks.bmia_mixture": call(PER_RECORD, *BOTH),
    "attacks.bmia_p_value": call(PER_RECORD, PER_MODEL),
    "attacks.bmia_p_value, log": call(PER_RECORD, PER_MODEL, log=True),
    "attacks.bmia_sampled": call(PER_RECORD, PER_MODEL),
    "attacks.difference": call(PER_RECORD, PER_MODEL),
    "attacks.glir": call(*GRADIENTS, batch_size=4),
    "attacks.glir, authors": call(*GRADIENTS, batch_size=4, convention="authors"),
    "attacks.glir_from_distance": call(LOSSES, LOSSES[::-1], batch_size=4, rank=3),
    "attacks.glir_steps": call(*STEPS, batch_size=4),
    "attacks.iha_from_forms": call(*list(FORMS.values())[1:], LOSSES, TRUTH, of=of_forms),
    "attacks.learned": call(PER_RECORD),
    "attacks.lira": call(PER_RECORD, PER_MODEL, MEMBER),
    "attacks.lira, global": call(PER_RECORD, PER_MODEL, MEMBER, variance="global", centre="median"),
    "attacks.lira, offline": call(PER_RECORD, PER_MODEL, mode="offline"),
    "attacks.lira, two-sided": call(PER_RECORD, PER_MODEL, mode="offline", sided="two"),
    "attacks.lira_sequence": call(TWO, SEVERAL, MEMBER),
    "attacks.loss": call(PER_RECORD),
    "attacks.malt": call(PER_RECORD),
    "attacks.mast": call(PER_RECORD, PER_MODEL),
    "attacks.mast, mean": call(PER_RECORD, PER_MODEL, tau="mean"),
    "attacks.mast, best": call(PER_RECORD, PER_MODEL, MEMBER, of=best_separating),
    "attacks.matt": call(numbers(3), numbers(3), numbers(8, 3), np.eye(3), LOSSES),
    "attacks.matt_from_log_odds": call(PER_RECORD, PER_RECORD[::-1], LOSSES),
    "attacks.qmia": call(*PUBLIC, PER_RECORD, hidden=(4,), epochs=2),
    "attacks.residual_from_forms": call(LOSSES, LOSSES[::-1], TRUTH, of=residual),
    "attacks.rmia": call(*SHARES_AND_BACK),
    "attacks.rmia_ratio": call(SHARES, SHARES_OF_MODELS),
    "attacks.rmia_tune": call(SHARES_OF_MODELS, MEMBER, SHARES_OF_MODELS[::-1], grid=[0.25]),
    "attacks.runner_up": call(LOGITS, LABEL),
    "attacks.sampled_hinge": call(*DRAWN, n_samples=3),
    "attacks.shadow": call(LOGITS, LABEL, numbers(2, 8, 3), OF_TWO),
    "attacks.sif_from_forms": call(FORMS["own1"], of=forms(attacks.sif_from_forms)),
    "attacks.zero_one": call(TRUTH),
    "metrics.accuracy": call(PER_RECORD, TRUTH, threshold=0.0),
    "metrics.auc": call(PER_RECORD, TRUTH),
    "metrics.auc_interval": call(PER_RECORD, TRUTH),
    "metrics.average_precision": call(PER_RECORD, TRUTH),
    "metrics.balanced_accuracy": call(PER_RECORD, TRUTH),
    "metrics.best_threshold": call(PER_RECORD, TRUTH),
    "metrics.contrast_interval": call(TWO, OTHER_TWO, OF_TWO, of=contrast),
    "metrics.crossed_interval": call(TWO, OF_TWO, of=on_auc(metrics.crossed_interval)),
    "metrics.curve_band": call(SHARES_OF_MODELS, SHARES),
    "metrics.interval": call(PER_RECORD, TRUTH, of=clopper_pearson),
    "metrics.paired_interval": call(TWO, OTHER_TWO, OF_TWO, of=on_auc(metrics.paired_interval)),
    "metrics.resampled": call(TWO, OF_TWO, of=on_auc(metrics.resampled)),
    "metrics.resampled_rates": call(TWO, OTHER_TWO, OF_TWO, of=rates_of_two),
    "metrics.roc_band": call(PER_RECORD, TRUTH, RATES, of=band),
    "metrics.roc_curve": call(PER_RECORD, TRUTH),
    "metrics.summary": call(PER_RECORD),
    "metrics.tpr_at_fpr": call(PER_RECORD, TRUTH, fpr=0.5),
    "metrics.tpr_interval": call(PER_RECORD, TRUTH, fpr=0.5),
    "metrics.tpr_on": call(PER_RECORD, TRUTH, RATES),
    "privacy.composed_mixture_tradeoff": call(
        RATES, np.array([0.5]), batch_size=4, n_records=100, steps=3
    ),
    "privacy.constant_rate_tradeoff": call(RATES, np.array([0.5, 1.0])),
    "privacy.epsilon_lower_bound": call(PER_RECORD, TRUTH),
    "privacy.gaussian_mixture_tradeoff": call(RATES, np.array([0.5, 1.0])),
    "privacy.gaussian_tpr": call(RATES, mu=1.0),
    "privacy.gaussian_tradeoff": call(RATES, mu=1.0),
    "privacy.mip_mu_spectrum": call(LOSSES + 1, n=4, tau=0.5),
    "privacy.mip_tpr": call(RATES, d=3, n=4, k=3),
    "privacy.mip_tradeoff": call(RATES, d=3, n=4, k=3),
    "privacy.mu_lower_bound": call(PER_RECORD, TRUTH),
    "privacy.one_run_epsilon": call(PER_RECORD, TRUTH),
    "privacy.one_run_mu": call(PER_RECORD, TRUTH),
    "privacy.numerical_tradeoff": call(
        RATES, mu_step=0.5, batch_size=4, n_records=100, steps=3, grid=12
    ),
    "signals.loss_of_log_odds": call(PER_RECORD),
    **{
        f"signals.{name}": call(4 * LOGITS, LABEL, of=signal(name))
        for name in ("loss", "probability", "hinge", "scaled_logit", "correct")
    },
}
# Functions of single numbers, each with an honest call.
RUN = {"n": 100.0, "n_records": 100.0, "epochs": 2.0}
STEP = {"n": 4.0, "tau": 0.5, "clip": 1.0}
NUMBERS: dict[str, dict[str, Any]] = {
    "metrics.exactly": {"value": 0.5},
    "metrics.peak_accuracy_null": {"n_member": 4, "n_non_member": 5},
    "metrics.rate_error": {"rate": 0.25, "asked": 8},
    "privacy.assess": {**RUN, "d": 3.0, "k": 5.0, "sigma": 1.0},
    "privacy.composed_mu": {"mu_step": 0.5, "steps": 4.0},
    "privacy.effective_batch_size": STEP,
    "privacy.established": {**RUN, "sigma": 1.0},
    "privacy.gaussian_auc": {"mu": 1.0},
    "privacy.gaussian_delta": {"mu": 1.0, "epsilon": 1.0},
    "privacy.gaussian_epsilon": {"mu": 1.0, "delta": 1e-5},
    "privacy.gdp_mu_of_mip": {"mu_mip": 0.5, "d": 3.0, "n": 4.0},
    "privacy.gdp_mu_step": STEP,
    "privacy.mip_mu_of_gdp": {"mu_gdp": 0.5, "d": 3.0, "n": 4.0},
    "privacy.mip_mu_step": {**STEP, "d": 3.0, "k": 5.0},
    "privacy.noise_multiplier": STEP,
    "privacy.required_noise": {
        **{"mu": 0.5, "notion": "mip", "d": 3.0, "n": 4.0, "k": 5.0, "clip": 1.0},
        **{"n_records": 100.0, "steps": 10.0},
    },
    "privacy.required_sigma": {"target": "epsilon", "value": 1.0, **RUN},
    "privacy.subsampled_mu": {"mu_step": 0.5, "batch_size": 4.0, "n_records": 100.0, "steps": 10.0},
}
ROOMS = {"attacks": attacks, "metrics": metrics, "privacy": privacy, "signals": signals}


def called(name):
    """The function of a call, its arrays and its other arguments."""
    function, arrays, options = CALLS[name]
    room, _, own = name.partition(",")[0].partition(".")
    return function or getattr(ROOMS[room], own), arrays, options


# Functions of networks, of evidence, and of what is gathered of a network.
OTHERS = (
    {
        f"attacks.{name}"
        for name in ("declare", "iha", "observe", "quadratic_forms", "registry", "requirements")
    }
    | {f"attacks.{name}" for name in ("residual", "score_table", "scores", "sif")}
    | {"signals.answers", "privacy.susceptibility"}
)


def public(room):
    """The functions that a room exports; of a file without such a list, those without _."""
    exported = getattr(room, "__all__", [name for name in vars(room) if name[0] != "_"])
    found = {name: getattr(room, name) for name in exported}
    own = {k: f for k, f in found.items() if inspect.isfunction(f)}
    return {k for k, f in own.items() if f.__module__.startswith(room.__name__)}


def test_every_public_function_is_tried():
    tried = {name.split(",")[0] for name in CALLS} | set(NUMBERS)
    found = {f"{key}.{name}" for key, room in ROOMS.items() for name in public(room)}
    assert found - tried == OTHERS


# A whole schedule is composed a call; a billion steps of every record are past its grid.
SCHEDULED = ("privacy.assess", "privacy.established", "privacy.required_sigma")
# They train a network a call.
TRAINED = ("attacks.qmia", "attacks.shadow")
FORMS_OF_NUMBERS = {
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "long double": lambda a: a.astype(np.longdouble),
    "bytes swapped": lambda a: a.astype(a.dtype.newbyteorder("S")),
    "not to be written": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "by columns": np.asfortranarray,
    "reversed": lambda a: a[..., ::-1].copy()[..., ::-1],
    "objects": lambda a: a.astype(object),
    "no entry masked": lambda a: np.ma.array(a, mask=np.zeros(a.shape, bool)),
    "lists": np.ndarray.tolist,
    "tensor": lambda a: torch.tensor(a.copy()),
}
REFUSED = {
    "masked": lambda a: np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) == a.size - 1),
    "complex": lambda a: a + 1j,
    "words": lambda a: a.astype(str),
}


def parts(found: Any) -> Iterator[np.ndarray]:
    """The numbers of an answer, whatever holds them."""
    if isinstance(found, dict):
        found = list(found.values())
    elif hasattr(found, "__dataclass_fields__"):
        fields = dataclasses.fields(found)
        found = [getattr(found, field.name) for field in fields if field.repr]
    if isinstance(found, list | tuple):
        for each in found:
            yield from parts(each)
    elif found is not None and not isinstance(found, str):
        yield np.asarray(found)


def with_one(arrays, at, array):
    return (*arrays[:at], array, *arrays[at + 1 :])


@pytest.mark.parametrize("name", CALLS)
def test_a_number_is_the_same_in_any_form(name):
    function, arrays, options = called(name)
    expected = list(parts(function(*arrays, **options)))
    for kind, form in islice(FORMS_OF_NUMBERS.items(), 1 if name in TRAINED else None):
        found = parts(function(*map(form, arrays), **options))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=kind)
    for at, array in enumerate(arrays):
        for kind, form in REFUSED.items():
            with pytest.raises(InputError) as refused:
                function(*with_one(arrays, at, form(array)), **options)
            assert "\n" not in str(refused.value), kind


EXTREMES = (0.0, -0.0, 5e-324, 1e-300, -1e-300, 1e-75, 1.0, 1e9, 1e75, -1e75, 1e300, -1.7e308)
# A threshold that accepts nobody, degrees of freedom of what does not vary, p-values of 0, and a
# probability beside references that give none.
INFINITE = ("metrics.best_threshold", "metrics.crossed_interval", "metrics.paired_interval")
INFINITE += ("metrics.contrast_interval", "attacks.glir_from_distance", "attacks.rmia_ratio")
INFINITE += ("attacks.glir", "attacks.glir_steps")
# Degrees of freedom of what is exact, and no privacy at all.
INFINITE += ("metrics.exactly", "privacy.assess", "privacy.gaussian_epsilon", "privacy.gdp_mu_step")
INFINITE += ("privacy.gdp_mu_of_mip", "privacy.subsampled_mu")


def extreme(arrays: tuple) -> Iterator[tuple]:
    """The arrays with one of them, an entry of it, or all of them at the ends of what there is."""
    rng = np.random.default_rng(0)
    for at, array in enumerate(arrays):
        for number in EXTREMES:
            entry = array.astype(np.float64)
            entry.flat[0] = number
            yield with_one(arrays, at, entry)
            yield with_one(arrays, at, np.full(array.shape, number))
    for most in 5 * [10, len(EXTREMES)]:
        yield tuple(
            array if array.dtype == bool else rng.choice(EXTREMES[:most], array.shape)
            for array in arrays
        )


def require_finite(name, function, tried, options):
    """The numbers of a call are finite, or none is; else it is refused in one line."""
    try:
        found = [one.ravel() for one in parts(function(*tried, **options)) if one.dtype.kind != "U"]
    except InputError as error:
        found = [np.full(str(error).count("\n"), np.nan)]
    except Exception as error:
        pytest.fail(f"{type(error).__name__}: {error} for {tried or options}")
    numbers = np.concatenate([*found, []])
    wrong = np.isnan(numbers) if name.split(",")[0] in INFINITE else ~np.isfinite(numbers)
    assert not wrong.any(), tried or options


@pytest.mark.parametrize("name", CALLS)
def test_finite_numbers_end_in_finite_numbers_or_in_one_line(name):
    function, arrays, options = called(name)
    for tried in islice(extreme(arrays), 0, None, 6 if name in TRAINED else 1):
        require_finite(name, function, tried, options)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one in SCHEDULED)) for one in NUMBERS],
)
def test_so_do_single_numbers(name):
    room, _, own = name.partition(".")
    given, tried = NUMBERS[name], (*EXTREMES, 7, 2**62)
    if name in SCHEDULED:
        tried = tuple(number for number in tried if number != 1e9)
    for key in [key for key, value in given.items() if not isinstance(value, str)]:
        for number in tried:
            require_finite(name, getattr(ROOMS[room], own), (), {**given, key: number})
