"""The real sets, where ``$MEMBERSHIP_DATA`` holds them, and the road from upstream to them."""

import os
from pathlib import Path

import numpy as np
import pytest

from membership.data import check, deduplicate, load, npz, one_hot, parsers, public
from membership.data.public import identify, listed

ROOT = os.environ.get("MEMBERSHIP_DATA", "")
NAMES = ["mnist", "fashion_mnist", "cifar10", "cifar100_20k", "location30", "adult"]


def real(name):
    if not ROOT or not (Path(ROOT) / f"{name}.npz").is_file():
        pytest.skip(f"$MEMBERSHIP_DATA holds no {name}.npz")
    return npz.read(Path(ROOT) / f"{name}.npz")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_prepared_file_is_the_public_set(name):
    real(name)
    assert check(name).status == "ok"


def test_cifar10_leaves_out_what_went_through_jpeg():
    prepared = real("cifar10")
    with np.load(Path(ROOT) / "cifar10.npz") as archive:
        marked = np.concatenate([archive["from_jpeg_train"], archive["from_jpeg_test"]])
    np.testing.assert_array_equal(listed(public.entry("cifar10"), prepared), marked)


@pytest.mark.slow
def test_cifar10_says_so_where_it_is_loaded():
    real("cifar10")
    dataset = load("cifar10")
    assert dataset.x.shape == (59_811, 3, 32, 32)
    assert dataset.official_train.sum() == 49_845
    assert "189 of the 60,000 images" in dataset.source


def test_adult_repeats_as_many_rows_as_its_note_says():
    real("adult")
    dataset = load("adult")
    assert len(dataset) - len(deduplicate(dataset)) == 6374
    assert dataset.categories == parsers.ADULT_CATEGORIES
    assert dataset.columns == parsers.ADULT_COLUMNS
    assert one_hot(dataset).x.shape[1] == public.entry("adult").encoded


@pytest.mark.slow
def test_mnist_from_idx_files(tmp_path, write_idx):
    """Write the images back in the upstream format: the same set comes out of the parser."""
    prepared = real("mnist")
    for split, mask in (("train", prepared.train), ("t10k", ~prepared.train)):
        write_idx(tmp_path / f"{split}-images-idx3-ubyte.gz", prepared.x[mask])
        write_idx(tmp_path / f"{split}-labels-idx1-ubyte.gz", prepared.y[mask].astype(np.uint8))
    entry = public.entry("mnist")
    assert identify(entry, parsers.idx(tmp_path), "upstream").digest == entry.digest


@pytest.mark.slow
def test_cifar10_from_binary_records():
    """In any order that keeps each class's own, all 60,000 records reduce to the same set."""
    prepared = real("cifar10")
    order = np.lexsort((prepared.y, prepared.extra["rank"], ~prepared.train))
    official = prepared.keep(order)
    planes = official.x.transpose(0, 3, 1, 2).reshape(60_000, -1)
    records = np.column_stack([official.y.astype(np.uint8), planes])
    upstream = parsers._cifar(records[:50_000].tobytes(), records[50_000:].tobytes(), label_bytes=1)
    entry = public.entry("cifar10")
    assert "rank" not in upstream.extra
    assert identify(entry, upstream, "upstream").digest == entry.digest


@pytest.mark.slow
def test_location30_from_lines(tmp_path, write_tar):
    prepared = real("location30")
    text = "".join(
        f'"{label + 1}",{",".join(map(str, row))}\n'
        for row, label in zip(prepared.x.tolist(), prepared.y.tolist(), strict=True)
    )
    write_tar(tmp_path / "dataset_location.tgz", {"bangkok": text.encode()})
    entry = public.entry("location30")
    assert identify(entry, parsers.location30(tmp_path), "upstream").digest == entry.digest


def test_adult_from_words(tmp_path):
    prepared = real("adult")
    for name, mask, stop in (("data", prepared.train, ""), ("test", ~prepared.train, ".")):
        lines = ["|1x3 Cross validator"] if stop else []
        for row, label in zip(prepared.x[mask].tolist(), prepared.y[mask], strict=True):
            record = dict(zip(parsers.ADULT_COLUMNS, row, strict=True))
            words = {c: names[record[c]] for c, names in parsers.ADULT_CATEGORIES.items()}
            record |= {"fnlwgt": 1, "education": "any"} | words
            values = [str(record[field]) for field in parsers.ADULT_FIELDS]
            lines.append(", ".join([*values, (">50K" if label else "<=50K") + stop]))
        (tmp_path / f"adult.{name}").write_text("\n".join(lines) + "\n\n")
    entry = public.entry("adult")
    assert identify(entry, parsers.adult(tmp_path), "upstream").digest == entry.digest
