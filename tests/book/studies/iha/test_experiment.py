"""Data sets, recipes, memberships: what is the paper's, and what is said where it is not."""

import io
import tarfile
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from membership import data
from membership.book import published
from membership.book.studies.iha import experiment, left_out, subjects
from membership.book.studies.iha.settings import Settings
from membership.data import parsers
from membership.errors import InputError


@pytest.fixture
def settings():
    return Settings.from_strings({"profile": "tiny"})


@pytest.mark.parametrize("n_models", [2, 8])
@pytest.mark.parametrize("n_records", [10, 64])
def test_every_record_is_in_exactly_half_of_the_models(n_models, n_records):
    member = experiment.halves(n_models, n_records, seed=3)
    assert (member.sum(0) == n_models // 2).all()
    assert (member.sum(1) == n_records // 2).all()
    assert np.array_equal(member[1::2], ~member[::2])


def test_parity_is_learnt_by_logistic_regression_on_the_squared_error(settings):
    made = experiment.task(subjects.Subject("digits-odd"), settings)
    assert made.n_parameters == 65
    assert made.config.loss == "squared-error"
    assert experiment.task(subjects.Subject("digits-odd", deep=True), settings).n_parameters == 65


@pytest.mark.parametrize(("hidden", "limit", "expected"), [((16,), 700, (9,)), ((), 700, ())])
def test_hidden_layers_are_cut_to_the_limit_and_no_further(hidden, limit, expected):
    widths = subjects.fitting(64, hidden, 10, limit)
    assert widths == expected
    assert subjects.size_of(64, widths, 10) <= limit
    wider = tuple(width + 1 for width in widths)
    assert not hidden or subjects.size_of(64, wider, 10) > limit


@pytest.mark.slow
def test_the_size_counted_is_the_size_built(settings):
    for name in ("digits", "purchase_like:800"):
        made = experiment.task(subjects.Subject(name), settings)
        assert made.n_parameters <= settings.most_parameters
    deep = experiment.task(subjects.Subject("digits", deep=True), settings)
    assert sum(1 for part in deep.factory().modules() if hasattr(part, "weight")) == 5


def test_a_network_that_cannot_be_cut_enough_is_refused(settings):
    with pytest.raises(InputError, match=r"most_parameters = 10: the smallest network .* 85"):
        experiment.task(subjects.Subject("digits", most_parameters=10), settings)


@pytest.fixture
def papers_own():
    """MNIST-Odd at the paper's size, without its records."""
    recipe = subjects.RECIPES["mnist-odd"]
    config = experiment.training.TrainingConfig(
        epochs=recipe.epochs,
        batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        momentum=0.9,
        weight_decay=5e-4,
    )
    membership = np.zeros((Settings.from_values({"profile": "paper"}).n_models, recipe.pool), bool)
    membership[:, : recipe.pool // 2] = True
    factory = partial(experiment.one_logit, 784)
    return experiment.Task(
        *(recipe.label, recipe.published, range(recipe.pool), None, factory),
        *(config, membership, {}, ()),
        targets=tuple(range(10)),
        n_queries=recipe.pool,
    )


def test_the_papers_own_set_up_has_no_deviations_and_each_change_is_said(papers_own):
    recipe = subjects.RECIPES["mnist-odd"]
    assert experiment._deviations(papers_own, recipe, (), ()) == []
    smaller = replace(papers_own, pool=range(50), membership=np.zeros((8, 1)))
    said = experiment._deviations(smaller, recipe, (6,), (2,))
    assert [text.split(" ")[0] for text in said] == ["a", "8", "hidden"]


def test_the_papers_own_set_up_is_comparable(papers_own):
    """Network, data and recipe, stated by the task from its parts."""
    stated = published.setup("iha")["MNIST-Odd"]
    assert published.comparability(stated, papers_own.setup, attack="LiRA") == []


def test_simulated_records_are_never_comparable(settings):
    for large, name in ((False, "Purchase-100(S)"), (True, "Purchase-100")):
        made = experiment.task(subjects.Subject("purchase_like:800", large=large), settings)
        assert made.published == name
        reasons = published.comparability(published.setup("iha")[name], made.setup)
        assert reasons[0] == f"other data: {made.label} instead of {name}"
        assert any("simulated" in text for text in made.deviations)


def test_a_narrow_network_learns_the_largest_classes_only(settings):
    narrow = experiment.task(subjects.Subject("purchase_like:800"), settings)
    whole = data.load("purchase_like:800")
    sizes = np.sort(np.bincount(whole.y, minlength=100))[::-1]
    assert len(narrow.pool) == sizes[:10].sum() // 2 * 2
    assert any("10 of 100 classes" in text for text in narrow.deviations)
    wide = experiment.task(subjects.Subject("purchase_like:800", most_parameters=22_532), settings)
    assert wide.n_parameters == 22_532
    assert wide.pool.n_classes == 100
    assert not any("classes" in text or "hidden" in text for text in wide.deviations)


def test_an_odd_number_of_records_loses_one(settings):
    assert len(data.load("digits")) == 1797
    made = experiment.task(subjects.Subject("digits"), settings)
    assert len(made.pool) == 1796
    assert made.n_members == 898


@pytest.fixture
def purchase(tmp_path, monkeypatch):
    """A small file of the form of Purchase-100, read by its parser, in the real one's place."""
    x = np.random.default_rng(0).integers(0, 2, (300, 600))
    rows = "".join(f"{i % 100 + 1},{','.join(map(str, row))}\n" for i, row in enumerate(x.tolist()))
    with tarfile.open(tmp_path / "dataset_purchase.tgz", "w:gz") as archive:
        header = tarfile.TarInfo("dataset_purchase")
        header.size = len(rows)
        archive.addfile(header, io.BytesIO(rows.encode()))
    found = parsers.purchase100(tmp_path)
    x, y = found.x.astype(np.float32), found.y.astype(np.int64)
    small = data.Dataset(x, y, "purchase100", 100, "a test", "0" * 64)
    monkeypatch.setattr(data, "load", lambda name, root=None: small)
    return small


@pytest.mark.parametrize(("large", "size"), [(False, 120), (True, 200)])
def test_purchase_100_itself_is_trained_on_by_the_paper_s_recipe(
    purchase, settings, monkeypatch, large, size
):
    recipe = replace(subjects.recipe_of("purchase100", "purchase100", large), pool=size)
    monkeypatch.setattr(experiment, "recipe_of", lambda *_: recipe)
    full = {"large": large, "full": True, "n_models": 6, "most_parameters": 22_532}
    made = experiment.task(subjects.Subject("purchase100", **full), settings)
    assert made.label == made.published == ("Purchase-100" if large else "Purchase-100(S)")
    assert (len(made.pool), len(made.test)) == (size, 300 - size)
    assert made.n_parameters == 22_532
    assert made.setup["architecture"] == "600-32-100"
    assert made.targets == (0, 2)
    assert not any("simulated" in said or "classes" in said for said in made.deviations)
    stated = published.setup("iha")[made.published]["recipe"]
    for name in ("epochs", "batch_size", "learning_rate"):
        assert getattr(recipe, name) == stated[name]


def test_fewer_records_of_purchase_100_are_all_trained_on(purchase, settings):
    made = experiment.task(
        subjects.Subject("purchase100", full=True, most_parameters=22_532), settings
    )
    assert made.test is None
    assert "a pool of 300 records (the paper: 50,000)" in made.deviations


def test_in_the_paper_profile_purchase_is_as_large_as_the_paper_s():
    for name, larger in (("purchase_like:50000", []), ("purchase100", ["purchase100-large"])):
        settings = SimpleNamespace(profile="paper", datasets=["digits", name], n_models=128)
        plain, last, *more = subjects.compared(settings)
        assert (plain.name, last.name) == ("digits", name)
        assert last.full
        assert [one.slug for one in more] == larger
        assert subjects.decomposed(settings) == [plain]
        assert [one.slug for one in subjects.variants(settings)] == [*larger, f"{last.slug}-deep"]
    other = SimpleNamespace(profile="quick", datasets=["purchase_like:8000"], n_models=24)
    assert subjects.compared(other) == subjects.subjects(other) == subjects.decomposed(other)


def test_too_few_records_are_refused(settings, tmp_path):
    np.savez(tmp_path / "few.npz", x=np.eye(20, 5, dtype=np.float32), y=np.arange(20) % 2)
    with pytest.raises(InputError, match="20 records and this design needs 40"):
        experiment.task(subjects.Subject(str(tmp_path / "few.npz")), settings)


def test_more_records_left_out_than_there_are_is_refused():
    settings = Settings.from_strings({"profile": "tiny", "loo_records": "300"})
    with pytest.raises(InputError, match="loo_records = 300: there are 200"):
        left_out.small_task("digits", settings)


@pytest.mark.parametrize("apart", [False, True])
def test_utility_is_that_of_records_that_a_model_has_not_seen(settings, apart):
    trained = experiment.train(experiment.task(subjects.Subject("digits-odd"), settings), settings)
    pool = trained.task.pool
    test = SimpleNamespace(x=pool.x[:50], y=pool.y[:50]) if apart else None
    told = experiment.utility(replace(trained, task=replace(trained.task, test=test)))
    for model, member in enumerate(trained.task.membership):
        rows = np.arange(50) if apart else np.flatnonzero(~member)
        x, y = torch.tensor(pool.x[rows]), torch.tensor(pool.y[rows])
        with torch.no_grad():
            logits = trained.ensemble.module(model)(x)
            loss = trained.task.config.loss_of(logits, y).double().mean().item()
        right = (logits[:, 0] > 0) == (y == 1)
        assert told["test accuracy (%)"][model] == pytest.approx(100 * right.double().mean().item())
        assert told["test loss"][model] == pytest.approx(loss, rel=1e-4)
