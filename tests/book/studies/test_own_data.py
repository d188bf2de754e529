"""Own data before any work: a chapter takes them, cut to size, or says what would do."""

import functools

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_wine

from membership import data
from membership.book import running
from membership.errors import InputError

RNG = np.random.default_rng(0)
CHAPTERS = ("bayes_optimal", "bmia", "gmip", "iha", "lood")


@functools.cache
def own(root):
    """A large table, two of scikit-learn's as they come, 300 images, and too few records."""
    y = np.arange(5000) % 4
    data.save(data.from_arrays(RNG.normal(size=(5000, 40)), y), root / "table.npz")
    data.save(data.from_arrays(load_breast_cancer()), root / "cancer.npz")
    data.save(data.from_arrays(load_wine()), root / "wine.npz")
    data.save(data.from_arrays(RNG.normal(size=(10, 3)), y[:10] % 2), root / "few.npz")
    for i, pixels in enumerate(RNG.integers(0, 256, (300, 16, 16, 3), dtype=np.uint8)):
        (root / "photos" / f"kind{i % 3}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(root / "photos" / f"kind{i % 3}" / f"{i}.png")
    return root


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    return own(tmp_path_factory.mktemp("own"))


def settings(chapter, profile, **values):
    return running.settings_class(chapter).for_run({"profile": profile, **values})


@pytest.mark.parametrize("name", ["table.npz", "cancer.npz", "wine.npz", "photos"])
@pytest.mark.parametrize("profile", ["tiny", "quick"])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_takes_them_or_names_what_would_do(there, chapter, profile, name):
    given = {"dataset": str(there / name), "results_dir": str(there / "results")}
    if name in ("cancer.npz", "wine.npz") and chapter in ("bmia", "iha"):
        with pytest.raises(InputError, match="`-p standardise true`") as refused:
            settings(chapter, profile, **given)
        assert "\n" not in str(refused.value)
        given["standardise"] = True
    made = settings(chapter, profile, **given)
    again = made.resolve()
    assert again.parameters() == made.parameters()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_too_few_records_are_refused_by_their_number(there, chapter):
    with pytest.raises(InputError, match=r"\b10\b.*give") as refused:
        settings(chapter, "tiny", dataset=str(there / "few.npz"), standardise=True)
    assert "\n" not in str(refused.value)


def test_what_the_profile_chose_is_cut_and_what_was_asked_for_is_refused(there):
    wine = str(there / "wine.npz")
    made = settings("bayes_optimal", "quick", dataset=wine)
    assert max(made.n_records) == 72
    assert made.cnn_records == 89
    assert any(note.startswith("n_records = [60, 72], not") for note in made.notes)
    assert any("`-p standardise true`" in note for note in made.notes)
    with pytest.raises(InputError, match=r"n_records: 400 needs .*: `-p n_records 72`"):
        settings("bayes_optimal", "quick", dataset=wine, n_records=400)
    settings("bayes_optimal", "quick", dataset=wine, n_records=72)
    with pytest.raises(InputError, match="`-p cnn_records 89`"):
        settings("bayes_optimal", "quick", dataset=wine, cnn_records=90)
    with pytest.raises(InputError, match=r"n_records = 200: .*`-p n_records 130`"):
        settings("lood", "quick", dataset=wine, n_records=200)
    assert settings("lood", "quick", dataset=wine).n_records == 130


def test_the_comparison_leaves_out_what_takes_images(there):
    made = settings("comparison", "tiny", dataset=str(there / "table.npz"), models=["small"])
    assert made.models == ["small"]
    assert "cnn" not in settings("comparison", "quick", dataset=str(there / "table.npz")).models
    with pytest.raises(InputError, match="178 records; give at least 300"):
        settings("comparison", "tiny", dataset=str(there / "wine.npz"))
    cancer = str(there / "cancer.npz")
    with pytest.raises(InputError, match="`-p standardise true`"):
        settings("comparison", "tiny", dataset=cancer)
    settings("comparison", "tiny", dataset=cancer, standardise=True)


@pytest.mark.parametrize("chapter", ["bmia", "comparison", "iha"])
def test_what_runs_beside_own_data_is_said_with_the_way_to_leave_it_out(there, chapter):
    own = str(there / "table.npz")
    made = settings(chapter, "quick", dataset=own)
    beside = [note for note in made.notes if "run beside table; `also_datasets`" in note]
    assert len(beside) == 1
    assert beside[0].startswith(made.also_datasets[0].partition(":")[0])
    assert str(there) not in beside[0]
    alone = settings(chapter, "quick", dataset=own, also_datasets=[own])
    assert alone.datasets == [own]
    assert not any("beside" in note for note in alone.notes)
    assert not any("beside" in note for note in settings(chapter, "quick", dataset="digits").notes)


def test_what_no_profile_parameter_names_is_left_alone():
    for chapter in CHAPTERS:
        assert settings(chapter, "tiny").notes == ()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_the_page_says_a_chapter_takes_is_what_it_takes(tmp_path, chapter):
    least = running.settings_class(chapter).takes().records
    for n, enough in ((least, True), (least - 2, False)):
        x = np.random.default_rng(0).normal(size=(n, 2))
        file = data.save(data.from_arrays(x, np.arange(n) % 2), tmp_path / f"{n}.npz")
        if enough:
            settings(chapter, "tiny", dataset=str(file))
            continue
        with pytest.raises(InputError):
            settings(chapter, "tiny", dataset=str(file))
