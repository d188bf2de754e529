"""The registry: the one in the project, and what a broken one says."""

import re

import pytest

from membership import paths
from membership.data import names, prepare, registry, upstream
from membership.errors import InputError


def test_every_data_set_of_the_book_is_there():
    assert set(names()) >= {
        "mnist", "fashion_mnist", "cifar10", "cifar100", "cifar100_20k", "location30", "adult",
        "purchase100", "texas100", "digits", "purchase_like",
    }  # fmt: skip


@pytest.mark.parametrize("name", list(registry.entries()))
def test_entry_is_complete(name):
    entry = registry.entry(name)
    assert entry.title
    assert entry.licence
    assert entry.homepage.startswith("http")
    assert entry.stand_in in names()
    assert re.fullmatch(r"[0-9a-f]{64}|", entry.digest)
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}|", known) for known in entry.files.values())
    assert all(mirror.endswith("/") for mirror in entry.mirrors)
    if entry.parser:
        assert entry.parser in upstream.PARSERS
        assert entry.files
        assert entry.mirrors


@pytest.mark.parametrize("name", ["cifar100", "purchase100", "texas100"])
def test_no_digest_is_claimed_for_sets_that_nobody_here_had(name):
    assert registry.entry(name).digest == ""


def test_the_table_that_people_read_lists_the_registry_and_says_what_is_verified():
    lines = (paths.data_dir() / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")] for line in lines if line[:3] == "| `"]
    verified = {row[1].strip("`"): row[-2] for row in cells}
    entries = registry.entries()
    assert verified.keys() - entries.keys() <= {registry.PURCHASE_LIKE}
    assert entries.keys() <= verified.keys()
    for name, entry in entries.items():
        assert (verified[name] == "yes") == bool(entry.digest), name


def test_the_list_of_dropped_images_agrees_with_the_registry():
    entry = registry.entry("cifar10")
    dropped = prepare._drop_list(paths.data_dir() / entry.drop)
    assert entry.records + len(dropped) == 60_000
    assert sum(train for train, _, _ in dropped) == 155
    assert sum(label == 8 for _, label, _ in dropped) == 180
    assert all(rank < (5000 if train else 1000) for train, _, rank in dropped)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("MNIST", "mnist"),
        ("fashion-mnist", "fashion_mnist"),
        ("FashionMNIST", "fashion_mnist"),
        ("CIFAR-10", "cifar10"),
        ("cifar_100", "cifar100"),
        ("purchase", "purchase100"),
        ("location-30", "location30"),
        ("digit", "digits"),
    ],
)
def test_a_near_miss_is_answered_with_the_name(wrong, right):
    with pytest.raises(InputError, match=f"did you mean '{right}'"):
        registry.entry(wrong)


def test_a_far_miss_lists_what_there_is():
    with pytest.raises(InputError, match=r"'xyzzy' is not known; give one of digits, mnist"):
        registry.entry("xyzzy")


@pytest.mark.parametrize("content", ["[mnist", "[mnist]\ncolour = 3", None])
def test_a_broken_registry_is_one_line(data_folder, content):
    if content is not None:
        (data_folder / "registry.toml").write_text(content)
    with pytest.raises(InputError, match="cannot read the registry") as caught:
        registry.entries()
    assert "\n" not in str(caught.value)
