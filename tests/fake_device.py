"""A device that is this machine's own memory, and refuses what a GPU would refuse.

A tensor on it holds one of the CPU and answers for another device. Where both meet in an operation
that no GPU would do, `WrongDevice` is raised; torch itself refuses `.numpy()` of such a tensor.
Results are those of the CPU. Registering a device cannot be undone, so a process has it for good.
"""

import math

import pytest
import torch
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

NAME = "fake"


class WrongDevice(AssertionError):
    """Tensors of two devices met."""


if not hasattr(backend_registration, "_DummyBackendModule"):
    pytest.skip("this torch takes no device made in Python", allow_module_level=True)


class _Backend(backend_registration._DummyBackendModule):
    def get_amp_supported_dtype(self):
        return [torch.bfloat16]


backend_registration._setup_privateuseone_for_python_backend(NAME, _Backend())
DEVICE = torch.device(NAME, 0)
CPU = torch.device("cpu")

aten = torch.ops.aten
COPIES = {aten._to_copy, aten.copy_, aten.copy}
# Rows of a tensor on a GPU may be named by indices on the CPU.
INDEXED = {aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_}


class Held(torch.Tensor):
    """A tensor of the CPU that says it is on the device."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self):  # type: ignore[override]
        return f"Held({self.held!r})"

    # Modules that are moved or cast exchange tensors that can be taken apart.
    def __tensor_flatten__(self):
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(inner, _context, _size, _stride):
        return Held(inner["held"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


class Generator(torch.Generator):
    """Random numbers of the CPU, for whichever device they are asked."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, CPU)


class FakeDevice(TorchDispatchMode):
    """Within it tensors can be made on `DEVICE` and sent there.

    Parameters
    ----------
    limit : float
        Bytes that one operation may make there; more is `torch.OutOfMemoryError`.

    Attributes
    ----------
    operations : int
        How many there were on the device.
    """

    def __init__(self, limit: float = math.inf):
        super().__init__()
        self.limit, self.operations = limit, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        asked = kwargs.get("device")
        if Held not in types and (asked is None or torch.device(asked).type != NAME):
            return func(*args, **kwargs)
        self.operations += 1
        found = _run(func, args, kwargs)
        for one in found if isinstance(found, list | tuple) else [found]:
            if isinstance(one, Held) and one.numel() * one.element_size() > self.limit:
                raise torch.OutOfMemoryError(f"more than {self.limit} bytes")
        return found


def _run(func, args, kwargs):
    held, plain = [], []
    inner = [_taken(value, held, plain) for value in args]
    named = {name: _taken(value, held, plain) for name, value in kwargs.items()}
    _check(func, args, held, plain)
    asked = kwargs.get("device")
    if asked is not None:
        there = torch.device(asked).type == NAME
        named["device"] = CPU
    elif func.overloadpacket in COPIES:
        there = isinstance(args[0], Held)
    else:
        there = bool(held)
    found = func(*inner, **named)
    if there:
        found = _given(found)
    return return_and_correct_aliasing(func, args, kwargs, found) if held else found


def _check(func, args, held, plain) -> None:
    packet = func.overloadpacket
    if not held or packet in COPIES:
        return
    if packet in INDEXED and isinstance(args[0], Held):
        plain = [v for v in args[2:3] if isinstance(v, torch.Tensor) and not isinstance(v, Held)]
    # A number goes with tensors of any device.
    here = [tuple(value.shape) for value in plain if value.ndim]
    if here:
        there = [tuple(value.shape) for value in held]
        raise WrongDevice(f"{func}: {here} on the CPU, {there} on the device")


def _taken(value, held, plain):
    """A value with what tensors of the device hold in their place; all are noted."""
    if isinstance(value, Held):
        held.append(value)
        return value.held
    if isinstance(value, torch.Tensor):
        plain.append(value)
    elif isinstance(value, list | tuple):
        return type(value)(_taken(one, held, plain) for one in value)
    return value


def _given(found):
    if isinstance(found, torch.Tensor):
        return found if isinstance(found, Held) else Held(found)
    if isinstance(found, list | tuple):
        return type(found)(map(_given, found))
    return found
