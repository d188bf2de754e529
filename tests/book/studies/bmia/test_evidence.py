import numpy as np
from scipy import stats

from membership.attacks.bmia import bmia_sampled, sampled_hinge
from membership.book.studies.bmia import answers, evidence, measured
from membership.book.studies.bmia.settings import Settings
from membership.training import fit_qmia


def test_files_are_named_after_their_data_sets(tmp_path):
    path = str(tmp_path / "My Data.npz")
    values = {"dataset": "purchase_like:10000", "also_datasets": ["digits", path, "digits"]}
    words = evidence.words(Settings.from_values(values))
    assert list(words.values()) == ["purchase-like-10000", "digits", "my-data"]
    twice = Settings.from_values({"dataset": "a/x.npz", "also_datasets": ["b/x.npz"]})
    assert list(evidence.words(twice).values()) == ["x", "x-2"]


def test_targets_are_attacked_with_different_references_first(small, seen):
    first = [seen.first(t) for t in seen.targets]
    assert first == [small.first(t) for t in seen.targets] == [2, 3]
    assert sorted(seen.references(1, 8)) == list(range(2, 10))


def test_no_reference_has_seen_a_query(small, seen):
    assert not small.ensemble.membership[small.n_targets :][:, small.world.pool].any()
    assert not seen.member[2:].any()


def test_the_last_layer_answers_as_the_network(small):
    layer = small.layer(2, "queries")
    answers = small.ensemble.logits(small.x)[2].numpy()
    np.testing.assert_allclose(layer.logits, answers, atol=1e-4)
    assert len(small.layer(2, "fit").features) == small.ensemble.membership[2].sum()


def test_draws_have_the_law_of_the_posteriors_covariance(small):
    layer, posterior = small.layer(2, "queries"), small.posterior(2)
    covariance = posterior.covariance(layer.features)
    expected = sampled_hinge(layer.logits, covariance, small.y, 2000, seed=5)
    drawn = small.draws(2, 2000)
    error = (drawn.mean(axis=0) - expected.mean(axis=0)) / np.sqrt(
        (drawn.var(axis=0) + expected.var(axis=0)) / 2000
    )
    assert np.abs(error).max() < 5
    assert np.abs(np.log(drawn.std(axis=0) / expected.std(axis=0))).max() < 0.15


def test_regressed_quantiles_are_fitted_to_records_that_no_model_has_seen(small):
    dataset, rows = small.world.dataset, small.world.validation
    assert not small.ensemble.membership[:, rows].any()

    def with_label(x, y):
        return np.c_[x.reshape(len(x), -1).astype(float), np.eye(dataset.n_classes)[y]]

    model = fit_qmia(
        with_label(dataset.x[rows], dataset.y[rows]), small.held_out.hinge[1], "pinball", seed=0
    )
    expected = model.score(with_label(small.x, small.y), small.answers.hinge[1])
    np.testing.assert_allclose(small.quantile_score(1), expected)


def test_no_draw_has_a_higher_mean_than_the_network(small):
    """The largest of the other logits is at least that of the runner-up."""
    frozen, sd = small.closed_form(2)
    drawn = small.draws(2, 2000).mean(axis=0)
    assert (drawn <= frozen + 5 * sd / np.sqrt(2000)).all()


def test_draws_of_some_queries_are_draws_of_those_queries(small):
    chosen = np.array([5, 3, 40])
    whole, part = small.draws(2, 4000), small.draws(2, 4000, queries=chosen)
    sd = whole.std(axis=0)[chosen] / np.sqrt(4000)
    assert (np.abs(part.mean(axis=0) - whole.mean(axis=0)[chosen]) < 6 * sd).all()


def test_bmia_is_algorithm_1(small, seen, settings):
    drawn = small.draws(3, settings.n_samples)
    expected = bmia_sampled(small.answers.hinge[1], drawn)
    score, member = seen.attack("bmia")[1]
    # The table of scores is in the order of the records' rows.
    order = np.argsort(small.world.pool)
    np.testing.assert_allclose(score, expected[order], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(member, small.member[1][order])


def test_the_closed_form_and_qmia_are_those_of_the_models(small, seen):
    for variant, model, expected in (
        ("closed form", 2, small.closed_form(2)),
        ("qmia", 1, small.qmia(1)),
    ):
        for found, value in zip(seen.moments(model, variant), expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-5)


def test_the_same_draws_twice(small):
    first = small.draws(2, 10, "diag")
    np.testing.assert_array_equal(first, small.draws(2, 10, "diag"))


def test_more_references_begin_with_those_of_the_run(source, seen):
    [name, _] = evidence.of_last(evidence.MANY, source.settings)
    outputs, n = source.evidence(name), seen.hinge.shape[0]
    assert outputs.sizes["model"] == 2 + answers.REFERENCES
    np.testing.assert_allclose(outputs["hinge"].values[:n], seen.hinge, atol=1e-4)
    assert not outputs["member"].values[2:].any()


def test_first_references_predict_as_in_the_run(source, seen):
    [_, name] = evidence.of_last(evidence.MANY, source.settings)
    row = source.evidence(name).sel(reference=seen.first(1), variant="kron")
    mean, sd = seen.moments(seen.first(1))
    np.testing.assert_allclose(row["mean"], mean, atol=1e-3)
    np.testing.assert_allclose(row["sd"], sd, rtol=1e-3)


def test_a_regressed_threshold_is_passed_by_about_a_twentieth(source, seen):
    [name] = evidence.of_last((evidence.QUANTILES,), source.settings)
    threshold = source.evidence(name)["threshold"].values
    others = ~seen.member[:2]
    passed = (seen.hinge[:2] >= threshold)[others].mean()
    assert 0.005 < passed < 0.2


def test_references_are_asked_about_their_own_records(source):
    [name] = evidence.of_last((evidence.POPULATION,), source.settings)
    population = source.evidence(name)
    member = population["member"].values
    assert np.array_equal(member.sum(axis=1), np.full(len(member), member.shape[1] // 2))
    odds = population["log_odds"].values
    assert odds[member].mean() > odds[~member].mean()


def test_the_distance_is_scipys():
    rng = np.random.default_rng(0)
    # So many that either side of a step is the farther one of some.
    drawn = rng.standard_t(5, (400, 20))
    expected = [
        stats.kstest(one, stats.norm(one.mean(), one.std(ddof=1)).cdf).statistic for one in drawn.T
    ]
    np.testing.assert_allclose(measured.distance_from_normal(drawn), expected)
