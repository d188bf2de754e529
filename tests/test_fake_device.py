import numpy as np
import pytest
import torch

from tests.fake_device import DEVICE, FakeDevice, Generator, WrongDevice


@pytest.fixture
def x():
    with FakeDevice():
        yield torch.arange(6.0).view(2, 3).to(DEVICE)


def test_what_is_computed_there_stays_there_and_is_what_the_cpu_computes(x):
    found = (x @ x.T + torch.ones(2, 2, device=x.device)).softmax(-1)
    here = torch.arange(6.0).view(2, 3)
    assert found.device == DEVICE
    assert torch.equal(found.cpu(), (here @ here.T + 1).softmax(-1))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: x + torch.ones(3),
        lambda x: torch.cat([x, torch.ones(1, 3)]),
        lambda x: x.gather(0, torch.zeros(1, 3, dtype=torch.long)),
        lambda x: torch.zeros(2, 3).index_select(0, x[:, 0].long()),
        lambda x: torch.zeros(2, 3)[x[:, 0].long()],
    ],
)
def test_tensors_of_two_devices_do_not_meet(x, wrong):
    with pytest.raises(WrongDevice):
        wrong(x)


@pytest.mark.parametrize("read", [lambda x: x.numpy(), np.asarray])
def test_no_array_is_made_of_its_memory(x, read):
    with pytest.raises(RuntimeError, match="numpy"):
        read(x)
    assert read(x.cpu()).shape == (2, 3)


def test_what_a_gpu_takes_is_taken(x):
    assert float(x.sum()) == 15.0
    assert (x * torch.tensor(2.0)).device == DEVICE
    assert x[torch.tensor([1])].device == DEVICE
    x[torch.tensor([0])] = 7.0
    x[:, 1].add_(1)
    assert x.cpu()[:, 1].tolist() == [8.0, 5.0]
    drawn = torch.randn(2, device=DEVICE, generator=Generator(DEVICE).manual_seed(0))
    assert drawn.device == DEVICE


@pytest.mark.parametrize("optimiser", [torch.optim.SGD, torch.optim.Adam])
def test_a_module_is_moved_cast_and_trained(x, optimiser):
    module = torch.nn.Linear(3, 2).to(x.device)
    before = module.weight.detach().cpu()
    torch.nn.functional.cross_entropy(module(x), torch.tensor([0, 1]).to(x.device)).backward()
    optimiser(module.parameters(), lr=0.1).step()
    assert not torch.equal(module.weight.detach().cpu(), before)
    assert module.double().weight.dtype == torch.float64
    assert module.weight.device == DEVICE


def test_memory_beyond_a_limit_is_refused(x):
    with FakeDevice(limit=100), pytest.raises(torch.OutOfMemoryError, match="100 bytes"):
        torch.zeros(26, device=DEVICE)
