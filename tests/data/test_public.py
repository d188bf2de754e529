"""Public data sets: their registry, where files are looked for, order, verification, scale."""

import re

import numpy as np
import pytest

from membership import paths
from membership.data import names, public, record_digest
from membership.data.npz import Prepared
from membership.data.public import Entry, locate, looked_in, places
from membership.errors import InputError


def test_every_data_set_of_the_book_is_there():
    assert set(names()) >= {
        "mnist", "fashion_mnist", "cifar10", "cifar100", "cifar100_20k", "location30", "adult",
        "purchase100", "texas100", "digits", "purchase_like",
    }  # fmt: skip


@pytest.mark.parametrize("name", list(public.entries()))
def test_entry_is_complete(name):
    entry = public.entry(name)
    assert entry.title
    assert entry.licence
    assert entry.homepage.startswith("http")
    assert entry.stand_in in names()
    assert re.fullmatch(r"[0-9a-f]{64}|", entry.digest)
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}|", known) for known in entry.files.values())
    assert all(mirror.endswith("/") for mirror in entry.mirrors)
    if entry.parser:
        assert entry.parser in public.PARSERS
        assert entry.files
        assert entry.mirrors


@pytest.mark.parametrize("name", ["cifar100", "purchase100", "texas100"])
def test_no_digest_is_claimed_for_sets_that_nobody_here_had(name):
    assert public.entry(name).digest == ""


def test_the_table_that_people_read_lists_the_registry_and_says_what_is_verified():
    lines = (paths.data_dir() / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")] for line in lines if line[:3] == "| `"]
    verified = {row[1].strip("`"): row[-2] for row in cells}
    entries = public.entries()
    assert verified.keys() - entries.keys() <= {public.PURCHASE_LIKE}
    assert entries.keys() <= verified.keys()
    for name, entry in entries.items():
        assert (verified[name] == "yes") == bool(entry.digest), name


def test_the_list_of_dropped_images_agrees_with_the_registry():
    entry = public.entry("cifar10")
    dropped = public._drop_list(paths.data_dir() / entry.drop)
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
        public.entry(wrong)


def test_a_far_miss_lists_what_there_is():
    with pytest.raises(InputError, match=r"'xyzzy' is not known; give one of digits, mnist"):
        public.entry("xyzzy")


@pytest.mark.parametrize("content", ["[mnist", "[mnist]\ncolour = 3", None])
def test_a_broken_registry_is_one_line(data_folder, content):
    if content is not None:
        (data_folder / "registry.toml").write_text(content)
    with pytest.raises(InputError, match="cannot read the registry") as caught:
        public.entries()
    assert "\n" not in str(caught.value)


@pytest.fixture
def folders(tmp_path, data_folder, monkeypatch):
    root, named = tmp_path / "root", tmp_path / "named"
    root.mkdir()
    named.mkdir()
    monkeypatch.setenv("MEMBERSHIP_DATA", str(named))
    return [root, named, data_folder]


def test_root_then_environment_then_project(folders):
    root = folders[0]
    assert places(root) == folders
    assert places("") == places(None) == folders[1:]
    assert locate("toy", root) is None
    for folder in reversed(folders):
        (folder / "toy.npz").touch()
        assert locate("toy", root) == folder / "toy.npz"


def test_message_names_the_file_and_every_folder(folders):
    message = looked_in("toy", folders[0])
    assert message.startswith("toy.npz is not in ")
    assert all(str(folder) in message for folder in folders)


def test_a_folder_that_is_none_is_refused(tmp_path, data_folder, monkeypatch):
    with pytest.raises(InputError, match="data_root='/nowhere' is no folder"):
        places("/nowhere")
    monkeypatch.setenv("MEMBERSHIP_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"\$MEMBERSHIP_DATA='.*gone' is no folder"):
        places()


def entry(**fields):
    usual = {"records": 30, "n_classes": 3, "shape": (4,), "homepage": "https://toy.example"}
    return Entry(name="toy", title="Toy", licence="none", **{**usual, **fields})


def test_every_order_gives_the_same_records_and_digest(tiny_table):
    x, y = tiny_table
    train = np.arange(30) < 20
    order = np.random.default_rng(0).permutation(30)
    expected = record_digest(x, y, train)
    first = public.identify(entry(digest=expected), Prepared(x, y, train), "here")
    shuffled = Prepared(x[order], y[order], train[order])
    second = public.identify(entry(digest=expected), shuffled, "there")
    assert first.digest == second.digest == expected
    np.testing.assert_array_equal(first.arrays.x, second.arrays.x)
    np.testing.assert_array_equal(first.arrays.y, second.arrays.y)
    assert first.arrays.train.tolist() == [True] * 20 + [False] * 10
    table = np.column_stack([x, y])
    found = np.column_stack([first.arrays.x, first.arrays.y])
    assert sorted(map(tuple, found)) == sorted(map(tuple, table))


def test_other_records_are_refused(tiny_table):
    x, y = tiny_table
    good = entry(digest=record_digest(x, y))
    changed = x.copy()
    changed[7, 2] ^= 1
    with pytest.raises(InputError, match=r"here does not hold the public records of toy: .*fetch"):
        public.identify(good, Prepared(changed, y, None), "here")
    with pytest.raises(InputError, match="does not hold the public records"):
        public.identify(good, Prepared(x, y, np.arange(30) < 20), "here")
    with pytest.raises(InputError, match=r"29 records of shape \(4,\) where toy has 30"):
        public.identify(good, Prepared(x[1:], y[1:], None), "here")
    with pytest.raises(InputError, match=r"of shape \(3,\) where toy has 30 of \(4,\)"):
        public.identify(good, Prepared(x[:, 1:], y, None), "here")


@pytest.fixture
def with_drop_list(data_folder):
    (data_folder / "drop.csv").write_text("split,label,rank\ntrain,0,1\ntrain,2,0\ntest,1,1\n")
    return entry(records=27, drop="drop.csv")


def test_listed_records_are_dropped_from_official_and_shuffled_copies(with_drop_list, tiny_table):
    x, y = tiny_table
    train = np.arange(30) < 18
    # By hand: labels run 0, 1, 2, 0, ...; the second 0 and the first 2 of the training
    # split are records 3 and 2, the second 1 of the test split is record 22.
    kept = np.setdiff1d(np.arange(30), [2, 3, 22])
    expected = record_digest(x[kept], y[kept], train[kept])
    official = public.identify(with_drop_list, Prepared(x, y, train), "upstream")
    assert official.digest == expected

    rank = np.where(train, np.arange(30) // 3, (np.arange(30) - 18) // 3)
    order = np.random.default_rng(1).permutation(30)
    shuffled = Prepared(x, y, train, extra={"rank": rank}).keep(order)
    assert public.identify(with_drop_list, shuffled, "prepared").digest == expected

    reduced = Prepared(x[kept], y[kept], train[kept])
    assert public.identify(with_drop_list, reduced, "converted").digest == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 7), (5, 7)),
        ((5, 8, 9), (5, 1, 8, 9)),
        ((5, 8, 9, 3), (5, 3, 8, 9)),
        ((5, 8, 9, 1), (5, 1, 8, 9)),
        ((5, 3, 8, 9), (5, 3, 8, 9)),
    ],
)
def test_channels_come_first(shape, expected):
    x = np.arange(np.prod(shape)).reshape(shape)
    found = public.channels_first(x, "here")
    assert found.shape == expected
    if shape == (5, 8, 9, 3):
        assert found[2, 1, 4, 5] == x[2, 4, 5, 1]


@pytest.mark.parametrize("shape", [(5, 8, 9, 4), (5, 2, 2, 2, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InputError, match="1 or 3 channels"):
        public.channels_first(np.zeros(shape), "here")


def test_pixels_are_scaled_and_contiguous():
    pixels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    x = public.as_float(pixels, 255.0, "here")
    expected = np.array([np.float32(v) / np.float32(255) for v in range(256)])
    np.testing.assert_array_equal(x.ravel(), expected)
    assert x.flags.c_contiguous
    assert x.dtype == np.float32
    assert pixels[0, 0, 1] == 1


def test_source_says_what_was_left_out(tiny_table):
    noted = entry(note="Three were dropped.")
    identified = public.identify(noted, Prepared(*tiny_table, None), "here")
    dataset = public.as_dataset(noted, identified, "here")
    assert dataset.source == "Toy (https://toy.example). Three were dropped."
    assert not dataset.verified
