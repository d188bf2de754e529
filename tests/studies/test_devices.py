"""Every gathering step of every chapter, as if on a GPU: no tensor meets one of another device."""

import sys
from dataclasses import replace
from functools import partial
from importlib import import_module

import pytest
import torch

from membership import running, training
from membership.running import pieces
from membership.studies.bmia import convolutional, toy
from membership.studies.gmip import audit
from membership.studies.gmip import settings as gmip_settings
from membership.studies.iha import costs, inversion
from membership.studies.lood import settings as lood_settings
from membership.training import ensemble, quantile_regression
from tests.fake_device import DEVICE, FakeDevice, Generator, WrongDevice

pytestmark = pytest.mark.slow

# Smaller than the profile "tiny" where a value can be: which device a tensor is on does not
# depend on how many there are.
SMALLER = {
    "bayes_optimal": {"n_records": "60", "cnn_records": "60", "n_reference": "4"},
    "bmia": {"n_targets": "2", "n_reference": "4", "n_samples": "10"},
    "comparison": {"n_targets": "2", "n_reference": "4", "n_pool": "200", "resamples": "20"},
    "gmip": {"n_background": "1000"},
    "iha": {"n_models": "6", "n_queries": "100", "also_datasets": "digits"}
    | {"most_parameters": "300", "loo_records": "2", "loo_models": "4"},
}
# Of what is trained or searched by steps.
STEPS = 3


def steps(chapter):
    """What gathers each evidence of a chapter, by name."""
    strings = {"profile": "tiny", "n_jobs": "1", **SMALLER.get(chapter, {})}
    found = pieces.source(running.check(chapter, running.settings_class(chapter).typed(strings)))
    return {name: partial(found.gather, name) for name in found.gatherers()}


@pytest.fixture
def on_device(tmp_path, monkeypatch):
    """Whatever asks for a device gets the fake one, and trains for one epoch or a few steps."""
    import_module("torch.distributed.tensor")  # asks what a generator is, once
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    monkeypatch.setattr(torch, "Generator", Generator)
    for config in (training.TrainingConfig, training.PrivateConfig, quantile_regression.Schedule):
        checked = config.__post_init__

        def short(self, checked=checked):
            checked(self)
            object.__setattr__(self, "epochs", 1)

        monkeypatch.setattr(config, "__post_init__", short)
    shrink(monkeypatch)
    with FakeDevice() as device:
        yield device


def shrink(monkeypatch):
    """Make small what no parameter sizes: how often it is done reaches no further code."""
    monkeypatch.setattr(costs, "REPEATS", 1)
    monkeypatch.setattr(costs, "QUERIES_CG", 2)
    monkeypatch.setattr(costs, "SIDE_BY_SIDE", 4)
    monkeypatch.setitem(inversion.SOLVED, "tiny", 4)
    panels = [*audit._panels()][-1 - len(audit.OTHER_LAWS) :][:1]  # the last small one
    monkeypatch.setattr(audit, "_panels", lambda: panels)
    monkeypatch.setattr(gmip_settings.Recipe, "steps", STEPS)
    monkeypatch.setitem(toy.STEPS_BY_PROFILE, "tiny", STEPS)
    monkeypatch.setattr(convolutional, "VIEWS", convolutional.VIEWS[:2])
    fewer = replace(lood_settings.SIZES["tiny"], steps=STEPS)
    monkeypatch.setitem(lood_settings.SIZES, "tiny", fewer)


@pytest.mark.parametrize("chapter", running.chapters())
def test_no_tensor_of_a_chapter_is_on_the_wrong_device(chapter, on_device, monkeypatch):
    found = steps(chapter)
    chosen = ensemble.device_of
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("device_of") is chosen:
            monkeypatch.setattr(module, "device_of", lambda name="auto": DEVICE)
    failed = {}
    for name, gather in found.items():
        try:
            gather()
        except (WrongDevice, RuntimeError) as error:
            failed[name] = str(error)
    assert not failed
    assert on_device.operations > 0 or not found
