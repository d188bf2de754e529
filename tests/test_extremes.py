"""Finite in, finite out: what the functions that take arrays do with odd but finite numbers."""

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


def forms(function, *given):
    """A function of quadratic forms as one of their arrays."""

    def run(*arrays):
        return function(dict(zip(FORMS, arrays, strict=False)), *arrays[len(FORMS) :], *given)

    return run


# The function, its arrays, and its other arguments.
CALLS: dict[str, tuple[Any, tuple, dict]] = {
    "attacks.attack_p": (attacks.attack_p, (PER_RECORD, PER_MODEL[0]), {}),
    "attacks.attack_r": (attacks.attack_r, (LOSSES, LOSSES_OF_MODELS), {}),
    "attacks.attack_r, wide": (
        attacks.attack_r,
        (PER_RECORD, PER_MODEL),
        {"bounds": (-1e308, 1e308)},
    ),
    "attacks.bavaria": (attacks.bavaria, (PER_RECORD, PER_MODEL, MEMBER), {}),
    "attacks.bavaria, normal": (
        attacks.bavaria,
        (PER_RECORD, PER_MODEL, MEMBER),
        {"predictive": "normal"},
    ),
    "attacks.bavaria, offline": (attacks.bavaria, (PER_RECORD, PER_MODEL), {"mode": "offline"}),
    "attacks.bmia": (attacks.bmia, (PER_RECORD, LOGITS, EYES, LABEL), {}),
    "attacks.bmia, drawn": (attacks.bmia, (PER_RECORD, LOGITS, EYES, LABEL), {"n_samples": 4}),
    "attacks.bmia_from_moments": (
        attacks.bmia_from_moments,
        (PER_RECORD, PER_RECORD[::-1], LOSSES + 1),
        {},
    ),
    "attacks.bmia_mixture": (
        attacks.bmia_mixture,
        (PER_RECORD, np.stack([LOGITS, -LOGITS]), np.stack([EYES, EYES]), LABEL),
        {},
    ),
    "attacks.bmia_p_value": (attacks.bmia_p_value, (PER_RECORD, PER_MODEL), {}),
    "attacks.bmia_p_value, log": (attacks.bmia_p_value, (PER_RECORD, PER_MODEL), {"log": True}),
    "attacks.bmia_sampled": (attacks.bmia_sampled, (PER_RECORD, PER_MODEL), {}),
    "attacks.difference": (attacks.difference, (PER_RECORD, PER_MODEL), {}),
    "attacks.glir": (
        attacks.glir,
        (numbers(3), numbers(8, 3), numbers(3), np.eye(3)),
        {"batch_size": 4},
    ),
    "attacks.glir, authors": (
        attacks.glir,
        (numbers(3), numbers(8, 3), numbers(3), np.eye(3)),
        {"batch_size": 4, "convention": "authors"},
    ),
    "attacks.glir_from_distance": (
        attacks.glir_from_distance,
        (LOSSES, LOSSES[::-1]),
        {"batch_size": 4, "rank": 3},
    ),
    "attacks.glir_steps": (
        attacks.glir_steps,
        (numbers(2, 3), numbers(2, 8, 3), numbers(2, 3), np.tile(np.eye(3), (2, 1, 1))),
        {"batch_size": 4},
    ),
    "attacks.iha_from_forms": (
        lambda *arrays: forms(attacks.iha_from_forms, 10, 0.1, 0.9, 5e-4)(FORMS["own1"], *arrays),
        (*list(FORMS.values())[1:], LOSSES, TRUTH),
        {},
    ),
    "attacks.learned": (attacks.learned, (PER_RECORD,), {}),
    "attacks.lira": (attacks.lira, (PER_RECORD, PER_MODEL, MEMBER), {}),
    "attacks.lira, global": (
        attacks.lira,
        (PER_RECORD, PER_MODEL, MEMBER),
        {"variance": "global", "centre": "median"},
    ),
    "attacks.lira, offline": (attacks.lira, (PER_RECORD, PER_MODEL), {"mode": "offline"}),
    "attacks.lira, two-sided": (
        attacks.lira,
        (PER_RECORD, PER_MODEL),
        {"mode": "offline", "sided": "two"},
    ),
    "attacks.loss": (attacks.loss, (PER_RECORD,), {}),
    "attacks.malt": (attacks.malt, (PER_RECORD,), {}),
    "attacks.mast": (attacks.mast, (PER_RECORD, PER_MODEL), {}),
    "attacks.mast, mean": (attacks.mast, (PER_RECORD, PER_MODEL), {"tau": "mean"}),
    "attacks.mast, best": (
        lambda target, reference, member: attacks.mast(
            target, reference, "best-separating", member
        ),
        (PER_RECORD, PER_MODEL, MEMBER),
        {},
    ),
    "attacks.matt": (
        attacks.matt,
        (numbers(3), numbers(3), numbers(8, 3), np.eye(3), LOSSES),
        {},
    ),
    "attacks.matt_from_log_odds": (
        attacks.matt_from_log_odds,
        (PER_RECORD, PER_RECORD[::-1], LOSSES),
        {},
    ),
    "attacks.qmia": (
        attacks.qmia,
        (numbers(40, 2), numbers(40), numbers(8, 2), PER_RECORD),
        {"hidden": (4,), "epochs": 2},
    ),
    "attacks.residual_from_forms": (
        lambda own, rest, member: attacks.residual_from_forms(
            {"own2": own, "rest2": rest}, member, 10
        ),
        (LOSSES, LOSSES[::-1], TRUTH),
        {},
    ),
    "attacks.rmia": (
        attacks.rmia,
        (SHARES, SHARES_OF_MODELS, SHARES[::-1], SHARES_OF_MODELS[::-1]),
        {},
    ),
    "attacks.rmia_ratio": (attacks.rmia_ratio, (SHARES, SHARES_OF_MODELS), {}),
    "attacks.rmia_tune": (
        attacks.rmia_tune,
        (SHARES_OF_MODELS, MEMBER, SHARES_OF_MODELS[::-1]),
        {"grid": [0.25]},
    ),
    "attacks.runner_up": (attacks.runner_up, (LOGITS, LABEL), {}),
    "attacks.sampled_hinge": (attacks.sampled_hinge, (LOGITS, EYES, LABEL), {"n_samples": 3}),
    "attacks.shadow": (
        attacks.shadow,
        (LOGITS, LABEL, numbers(2, 8, 3), MEMBER[:2]),
        {},
    ),
    "attacks.sif_from_forms": (forms(attacks.sif_from_forms), (FORMS["own1"],), {}),
    "attacks.zero_one": (attacks.zero_one, (TRUTH,), {}),
    "metrics.accuracy": (metrics.accuracy, (PER_RECORD, TRUTH), {"threshold": 0.0}),
    "metrics.auc": (metrics.auc, (PER_RECORD, TRUTH), {}),
    "metrics.auc_interval": (metrics.auc_interval, (PER_RECORD, TRUTH), {}),
    "metrics.average_precision": (metrics.average_precision, (PER_RECORD, TRUTH), {}),
    "metrics.balanced_accuracy": (metrics.balanced_accuracy, (PER_RECORD, TRUTH), {}),
    "metrics.best_threshold": (metrics.best_threshold, (PER_RECORD, TRUTH), {}),
    "metrics.contrast_interval": (
        lambda a, b, member: metrics.contrast_interval(
            "auc", [a, b], [1.0, -1.0], member, resamples=20
        ),
        (PER_MODEL[:2], PER_MODEL[2:4], MEMBER[:2]),
        {},
    ),
    "metrics.crossed_interval": (
        lambda score, member: metrics.crossed_interval("auc", score, member, resamples=20),
        (PER_MODEL[:2], MEMBER[:2]),
        {},
    ),
    "metrics.curve_band": (metrics.curve_band, (SHARES_OF_MODELS, SHARES), {}),
    "metrics.interval": (
        lambda score, member: metrics.interval(
            "tpr_at_fpr", score, member, method="clopper-pearson", fpr=0.5
        ),
        (PER_RECORD, TRUTH),
        {},
    ),
    "metrics.paired_interval": (
        lambda a, b, member: metrics.paired_interval("auc", a, b, member, resamples=20),
        (PER_MODEL[:2], PER_MODEL[2:4], MEMBER[:2]),
        {},
    ),
    "metrics.resampled": (
        lambda score, member: metrics.resampled("auc", score, member, resamples=20),
        (PER_MODEL[:2], MEMBER[:2]),
        {},
    ),
    "metrics.resampled_rates": (
        lambda a, b, member: {
            name: {key: (rate.value, rate.under) for key, rate in rates.items()}
            for name, rates in metrics.resampled_rates(
                {"a": a, "b": b}, member, fprs=[0.5], resamples=20
            ).items()
        },
        (PER_MODEL[:2], PER_MODEL[2:4], MEMBER[:2]),
        {},
    ),
    "metrics.roc_band": (
        lambda score, member, rates: metrics.roc_band([(score, member)] * 2, rates),
        (PER_RECORD, TRUTH, RATES),
        {},
    ),
    "metrics.roc_curve": (metrics.roc_curve, (PER_RECORD, TRUTH), {}),
    "metrics.summary": (metrics.summary, (PER_RECORD,), {}),
    "metrics.tpr_at_fpr": (metrics.tpr_at_fpr, (PER_RECORD, TRUTH), {"fpr": 0.5}),
    "metrics.tpr_interval": (metrics.tpr_interval, (PER_RECORD, TRUTH), {"fpr": 0.5}),
    "metrics.tpr_on": (metrics.tpr_on, (PER_RECORD, TRUTH, RATES), {}),
    "privacy.composed_mixture_tradeoff": (
        lambda alpha, mu: privacy.composed_mixture_tradeoff(alpha, mu, 4, 100, 3),
        (RATES, np.array([0.5])),
        {},
    ),
    "privacy.constant_rate_tradeoff": (
        privacy.constant_rate_tradeoff,
        (RATES, np.array([0.5, 1.0])),
        {},
    ),
    "privacy.epsilon_lower_bound": (privacy.epsilon_lower_bound, (PER_RECORD, TRUTH), {}),
    "privacy.gaussian_mixture_tradeoff": (
        privacy.gaussian_mixture_tradeoff,
        (RATES, np.array([0.5, 1.0])),
        {},
    ),
    "privacy.gaussian_tpr": (privacy.gaussian_tpr, (RATES,), {"mu": 1.0}),
    "privacy.gaussian_tradeoff": (privacy.gaussian_tradeoff, (RATES,), {"mu": 1.0}),
    "privacy.mip_mu_spectrum": (privacy.mip_mu_spectrum, (LOSSES + 1,), {"n": 4, "tau": 0.5}),
    "privacy.mip_tpr": (privacy.mip_tpr, (RATES,), {"d": 3, "n": 4, "k": 3}),
    "privacy.mip_tradeoff": (privacy.mip_tradeoff, (RATES,), {"d": 3, "n": 4, "k": 3}),
    "privacy.mu_lower_bound": (privacy.mu_lower_bound, (PER_RECORD, TRUTH), {}),
    "privacy.one_run_epsilon": (privacy.one_run_epsilon, (PER_RECORD, TRUTH), {}),
    "privacy.one_run_mu": (privacy.one_run_mu, (PER_RECORD, TRUTH), {}),
    "privacy.numerical_tradeoff": (
        lambda alpha: privacy.numerical_tradeoff(alpha, 0.5, 4, 100, 3, grid=12),
        (RATES,),
        {},
    ),
    **{
        f"signals.{name}": (
            lambda logits, label, name=name: getattr(signals, name)(logits, None, label),
            (4 * LOGITS, LABEL),
            {},
        )
        for name in ("loss", "probability", "hinge", "scaled_logit", "correct")
    },
    "signals.loss_of_log_odds": (signals.loss_of_log_odds, (PER_RECORD,), {}),
}


# Functions of networks, of evidence, and of what is gathered of a network.
OTHERS = {"iha", "observe", "quadratic_forms", "requirements", "residual", "score_table"}
OTHERS |= {"scores", "sif"}


def test_every_public_function_of_arrays_is_tried():
    tried = {name.split(",")[0] for name in CALLS}
    for room in (attacks, metrics, privacy):
        for name in set(room.__all__) - OTHERS:
            function = getattr(room, name)
            kinds = inspect.signature(function).parameters if inspect.isfunction(function) else {}
            if any("Any" in str(each.annotation) for each in kinds.values()):
                assert f"{room.__name__.split('.')[-1]}.{name}" in tried


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
        found = [getattr(found, name) for name in found.__dataclass_fields__]
    if isinstance(found, list | tuple):
        for each in found:
            yield from parts(each)
    elif found is not None and not isinstance(found, str):
        yield np.asarray(found)


def with_one(arrays, at, array):
    return (*arrays[:at], array, *arrays[at + 1 :])


@pytest.mark.parametrize("name", CALLS)
def test_a_number_is_the_same_in_any_form(name):
    function, arrays, options = CALLS[name]
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


@pytest.mark.parametrize("name", CALLS)
def test_finite_numbers_end_in_finite_numbers_or_in_one_line(name):
    function, arrays, options = CALLS[name]
    for tried in islice(extreme(arrays), 0, None, 6 if name in TRAINED else 1):
        try:
            found = np.concatenate([one.ravel() for one in parts(function(*tried, **options))])
        except InputError as error:
            found = np.full(str(error).count("\n"), np.nan)
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} for {tried}")
        wrong = np.isnan(found) if name.split(",")[0] in INFINITE else ~np.isfinite(found)
        assert not wrong.any(), tried
