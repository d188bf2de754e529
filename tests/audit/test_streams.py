"""Records in a Dataset: the evidence is that of the same records in arrays."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from membership import audit
from membership.audit import streams
from membership.errors import InputError
from tests.audit.test_observe import MEMBER, SMALL, X, Y
from tests.audit.test_tasks import HELD, least_squares
from tests.audit.test_tasks import X as NUMBERS
from tests.audit.test_tasks import Y as WANTED


class Placed(Dataset):
    """Records by their place."""

    def __init__(self, x, y) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, at: int):
        return self.x[at], self.y[at]


def arrays_of(given):
    """The records of a Subset, as a training would read them."""
    assert isinstance(given, Subset)
    x, _ = next(iter(DataLoader(given, batch_size=len(given))))
    return x.numpy()


def logistic(x, y, seed):
    return LogisticRegression().fit(x if isinstance(x, np.ndarray) else arrays_of(x), y)


@pytest.mark.parametrize(
    "form",
    [
        lambda x, y: TensorDataset(torch.tensor(x), torch.tensor(y)),
        Placed,
        lambda x, y: DataLoader(Placed(x, y), batch_size=7, shuffle=True),
    ],
)
@pytest.mark.parametrize("part", [32, 256])
def test_a_dataset_gives_the_evidence_of_its_arrays(form, part, monkeypatch) -> None:
    monkeypatch.setattr(streams, "PART", part)
    held = (X[:50] + 0.5, Y[:50])
    own = logistic(X[MEMBER], Y[MEMBER], 0)
    given = {"model": own, "member": MEMBER, **SMALL}
    wanted = audit.gather(X, Y, logistic, held=held, **given)
    found = audit.gather(form(X, Y), None, logistic, held=form(*held), **given)
    assert found.attrs == wanted.attrs
    # A regression of the hinge needs the records in one array.
    assert set(wanted) - set(found) <= {"regressed_mean", "regressed_sd"}
    for name in found:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6, err_msg=name)


def test_a_module_is_asked_part_by_part_and_copies_are_found(monkeypatch) -> None:
    monkeypatch.setattr(streams, "PART", 32)
    largest = []

    class Watched(nn.Linear):
        def forward(self, x):
            largest.append(len(x))
            return super().forward(x)

    def train(x, y, seed):
        torch.manual_seed(seed)
        return Watched(6, 3).double()

    copied, y = X.copy(), Y.copy()
    copied[5], y[5] = copied[6], y[6]
    found = audit.gather(Placed(copied, y), None, train, **SMALL)
    assert max(largest) == 32
    assert any("1 of 120 records are copies" in text for text in found.attrs["warnings"])


def test_a_regression_reads_a_dataset_too() -> None:
    def train(x, y, seed):
        return least_squares(x if isinstance(x, np.ndarray) else arrays_of(x), y, seed)

    given = {**SMALL, "task": "regression"}
    wanted = audit.gather(NUMBERS, WANTED, train, held=HELD, **given)
    found = audit.gather(Placed(NUMBERS, WANTED), None, train, held=Placed(*HELD), **given)
    np.testing.assert_allclose(found["log_odds"], wanted["log_odds"], rtol=1e-5, atol=1e-6)


class Endless(IterableDataset):
    def __iter__(self):
        yield from zip(X, Y, strict=True)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (Endless(), None, "without a length; give one with __len__"),
        (Placed(X, Y), Y, "y is given beside a Dataset, which has labels; give None"),
        (TensorDataset(torch.tensor(X)), None, "does not give pairs"),
        (Placed(np.where(X > 2, np.nan, X), Y), None, "give finite numbers"),
        (Placed(X[:0], Y[:0]), None, "holds no records"),
        (Placed(X[:10], Y[:10]), None, "at least 20 records"),
        (Placed(X, Y + 0.5), None, "give whole ones"),
    ],
)
def test_what_is_no_set_of_records_is_refused(x, y, said: str) -> None:
    with pytest.raises(InputError, match=said):
        audit.gather(x, y, logistic, **SMALL)
