"""What a run is of: its cells, sizes and data."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from membership import addresses, data
from membership.book import running
from membership.book.exhibits import Source, declared
from membership.book.studies.comparison import agreement, experiment, leaderboard, names
from membership.book.studies.comparison.settings import LATER, Settings
from tests.book.studies.comparison.conftest import read_of


@pytest.mark.parametrize("profile", Settings.profiles)
def test_cells_have_names_of_their_own(profile):
    cells = names.cells(Settings.from_values({"profile": profile}))
    assert len({one.word for one in cells}) == len(cells)
    assert {one.dataset for one in cells} == {
        one.dataset for one in names.typical(Settings.from_values({"profile": profile}))
    }


def test_a_kind_can_be_asked_for_on_one_of_the_further_data_sets():
    given = {
        "also_datasets": ["adult", "mnist-odd"],
        "also_models": ["logistic", "cnn@mnist-odd", "logistic@mnist-odd"],
    }
    settings = Settings.from_values({"profile": "tiny", "models": ["small"], **given})
    words = [one.word for one in names.cells(settings)]
    assert words == ["digits-small", "adult-logistic", "mnist-odd-logistic", "mnist-odd-cnn"]


def test_a_further_data_set_has_sizes_of_its_own():
    given = {
        "also_datasets": ["purchase_like:1000"],
        "also_models": ["small"],
        "also_sizes": ["n_targets=5@purchase_like:1000", "n_counted=100@purchase_like:1000"],
    }
    settings = Settings.from_values({"profile": "tiny", **given})
    own, first = settings.of("purchase_like:1000"), settings.of("digits")
    assert (own.n_targets, own.n_counted) == (5, 100)
    assert first == settings
    (cell,) = (one for one in names.cells(settings) if one.dataset != "digits")
    game = experiment.world(cell, settings)
    assert (len(game.targets), len(game.membership)) == (5, 5 + settings.n_reference)


def test_data_sets_that_came_later_have_more_targets_than_the_first():
    settings = Settings.from_values({"profile": "paper"})
    assert set(LATER) <= set(settings.also_datasets)
    for name in LATER:
        assert settings.of(name).n_targets > settings.n_targets
        assert settings.of(name).n_counted < settings.n_counted


def test_what_a_profile_says_of_its_further_data_sets_is_left_out_where_they_are():
    given = {"profile": "paper", "dataset": "digits", "also_datasets": ["purchase_like:1000"]}
    settings = running.check("comparison", given)
    assert settings.kinds("purchase_like:1000") == ["logistic"]
    assert settings.of("purchase_like:1000").n_targets == settings.n_targets


@pytest.mark.parametrize("scaled", [{}, {"standardise": True}])
def test_a_kind_can_be_asked_for_on_a_file_beside_the_user(tmp_path, monkeypatch, scaled):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.savez("own.npz", x=rng.normal(size=(600, 20)), y=np.arange(600) % 3)
    given = {"also_datasets": ["own.npz"], "also_models": ["logistic@own.npz"], **scaled}
    settings = running.check("comparison", {"profile": "tiny", "models": ["small"], **given})
    assert settings.also_models == [f"logistic@{settings.also_datasets[0]}"]
    assert addresses.read(settings.also_datasets[0]).place == str(tmp_path / "own.npz")
    assert [one.word for one in names.cells(settings)] == ["digits-small", "own-logistic"]


def test_pictures_are_of_the_first_data_set_that_has_them(own):
    given = {"dataset": "adult", "also_datasets": ["purchase_like:4000", "digits", "mnist-odd"]}
    settings = Settings.from_values({"profile": "tiny", **given, "also_models": ["logistic"]})
    assert [one.word for one in names.pictured(settings)] == ["digits-logistic"]
    assert names.pictured(own(20, models=["logistic"], also_datasets=[])) == ()


@pytest.fixture
def own(tmp_path):
    """A function that makes the settings of a run on random records of the reader's own."""

    def make(width, **given):
        rng = np.random.default_rng(0)
        np.savez(tmp_path / "own.npz", x=rng.normal(size=(600, width)), y=np.arange(600) % 3)
        path = str(tmp_path / "own.npz")
        return Settings.from_values({"profile": "tiny", "dataset": path, **given})

    return make


def test_ones_own_models_are_opened_where_they_are_small(own):
    settings = own(20, models=["logistic", "small", "wide"], also_datasets=[])
    assert [one.kind for one in names.opened(settings)] == ["logistic", "small"]
    assert names.parameters(names.cells(settings)[0], settings) == 20 * 3 + 3
    settings = own(100, models=["logistic", "small"], also_datasets=[])
    assert names.parameters(names.cells(settings)[1], settings) == 101 * 16 + 17 * 3
    assert [one.kind for one in names.opened(settings)] == ["logistic", "small"]
    assert names.opened(own(700, models=["logistic", "small"], also_datasets=[])) == ()


def test_the_sizes_agree_with_the_models(own):
    settings = own(20, models=["logistic", "small"], also_datasets=[])
    for cell in names.cells(settings):
        module = experiment.factory(cell.kind, data.load(cell.dataset))()
        count = sum(one.numel() for one in module.parameters())
        assert names.parameters(cell, settings) == count


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """The settings of a run on a set of 13 features, newly entered in the registry and named."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(600, 13)).astype(np.float32), np.arange(600) % 3
    np.savez(tmp_path / "wine.npz", x=x, y=y)
    digest = data.record_digest(x, y)
    known = {
        name: data.public.Entry(name, "", "", "", 600, 3, shape, digest=digest)
        for name, shape in (("wine", (13,)), ("labels", (2, 5, 5)))
    }
    monkeypatch.setattr(data.public, "entries", lambda: known)
    monkeypatch.setitem(names.LABELS, "wine", "Wine")
    given = {"profile": "tiny", "data_root": str(tmp_path), "models": ["logistic", "wide"]}
    return Settings.from_values({**given, "dataset": "wine", "also_datasets": []})


def test_what_a_new_set_allows_follows_from_its_entry(registered):
    settings = registered.model_copy(
        update={"also_datasets": ["labels"], "also_models": ["small"], "data_root": ""}
    )
    assert [one.word for one in names.opened(settings)] == ["wine-logistic", "labels-small"]
    assert [one.word for one in names.outside(settings)] == ["wine-logistic", "labels-small"]
    assert [one.word for one in names.pictured(settings)] == ["labels-small"]
    assert [one.set for one in names.cells(settings)] == ["Wine", "Wine", "labels"]


@pytest.mark.slow
def test_a_new_set_gets_the_attacks_that_digits_get(registered, seen, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    settings = registered.model_copy(update={"results_dir": str(tmp_path / "results")})
    allowed = {
        evidence.cell.kind: set(evidence.table.score)
        for evidence in read_of(Source(settings, declared("comparison")))
    }
    (digits,) = (set(evidence.table.score) for evidence in seen if evidence.cell.kind == "logistic")
    assert allowed["logistic"] == digits
    assert allowed["logistic"] > allowed["wide"]


def test_a_path_is_named_by_its_file(own):
    settings = own(20, models=["logistic"], also_datasets=[])
    standardised = settings.model_copy(update={"dataset": f"standardised:{settings.dataset}"})
    assert [one.set for one in names.cells(standardised)] == ["own"]


@pytest.mark.slow
def test_a_panel_without_attacks_says_why(own, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    settings = own(
        700, models=["logistic"], also_datasets=[], results_dir=str(tmp_path / "results")
    )
    source = Source(settings, declared("comparison"))
    table = source.table("comparison-tab-2")
    assert table["attack"].tolist() == ["none"]
    assert "2,103 parameters" in leaderboard.all_others_said(table)
    # Without pictures the shares of the groups are drawn.
    shares = source.table("comparison-fig-5")
    assert set(shares["pixels"]) == {""}
    plt.close(agreement.found_by_drawn(shares))
