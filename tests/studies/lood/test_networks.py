import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm

from membership import metrics
from membership.errors import InputError
from membership.studies.lood import leakage, networks
from membership.studies.lood.evidence import influence


@pytest.fixture(scope="module")
def retrained(records, settings, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield networks.retrain(records, settings)


def test_only_the_left_out_record_is_missing(retrained, settings):
    n, n_networks = settings.network_records, settings.n_networks
    assert retrained.inside.membership.shape == (n_networks, n)
    assert retrained.inside.membership.all()
    missing = ~retrained.outside.membership
    expected = np.repeat(retrained.left_out, n_networks)
    np.testing.assert_array_equal(missing.sum(axis=1), 1)
    np.testing.assert_array_equal(missing.argmax(axis=1), expected)
    seeds = [*retrained.inside.seeds, *retrained.outside.seeds]
    assert len(set(seeds)) == len(seeds)


def test_logits_belong_to_the_record_that_was_left_out(retrained, settings):
    queries = np.concatenate([retrained.own_queries, retrained.own_queries / 2], axis=1)
    inside, outside = retrained.logits(queries)
    shape = (settings.n_retrained, settings.n_networks, 2, 2)
    assert inside.shape == outside.shape == shape
    record, network = 2, 3
    module = retrained.outside.module(record * settings.n_networks + network)
    own = torch.tensor(retrained.space.coordinates(queries[record]))
    with torch.no_grad():
        expected = module(own)
    np.testing.assert_allclose(outside[record, network], expected, atol=1e-5)
    with torch.no_grad():
        expected = retrained.inside.module(network)(own)
    np.testing.assert_allclose(inside[record, network], expected, atol=1e-5)


def test_fitted_auc_finds_that_of_two_normal_laws():
    rng = np.random.default_rng(0)
    n = 4000
    inside, outside = rng.normal(1.0, 1, (n, 2)), rng.normal(0, 1, (n, 2))
    value, spread = networks.fitted_auc(inside, outside, 0)
    assert value == pytest.approx(norm.cdf(1.0), abs=0.02)
    assert 0 < spread < 0.02
    value, _ = networks.fitted_auc(outside[: n // 2], outside[n // 2 :], 0)
    assert value == pytest.approx(0.5, abs=0.03)


def one_split_at_a_time(inside, outside, seed):
    rng, half, found = np.random.default_rng(seed), len(inside) // 2, []
    for _ in range(networks.SPLITS):
        sides = [side[rng.permutation(len(side))] for side in (inside, outside)]
        laws = []
        for side in sides:
            covariance = np.cov(side[:half], rowvar=False)
            width = networks.RIDGE * np.trace(covariance) / len(covariance) + 1e-12
            noise = width * np.eye(len(covariance))
            laws.append(multivariate_normal(side[:half].mean(axis=0), covariance + noise))
        score = [laws[0].logpdf(side[half:]) - laws[1].logpdf(side[half:]) for side in sides]
        member = np.repeat([True, False], [len(score[0]), len(score[1])])
        found.append(metrics.auc(np.concatenate(score), member))
    return np.mean(found), np.std(found, ddof=1)


@pytest.mark.parametrize(("n", "m", "logits"), [(8, 8, 2), (21, 16, 5)])
def test_fitted_auc_is_that_of_the_splits_one_by_one(n, m, logits):
    rng = np.random.default_rng(n)
    inside, outside = rng.normal(0.3, 1, (n, logits)), rng.normal(0, 1.2, (m, logits))
    expected = one_split_at_a_time(inside, outside, 7)
    assert networks.fitted_auc(inside, outside, 7) == pytest.approx(expected, rel=1e-12)


def test_too_few_networks_fit_no_law():
    with pytest.raises(InputError, match="half of 3 networks: it takes 4"):
        networks.fitted_auc(np.zeros((3, 2)), np.zeros((3, 2)), 0)


def test_influence_equals_its_definition(retrained):
    """The Hessian and its inverse written out, with all parameters of a small network."""
    module = retrained.inside.module(0)
    seen = retrained.space.seen(retrained.records)
    x, y = seen.x, seen.y
    names, parameters = zip(*module.named_parameters(), strict=True)

    def outputs(*state):
        return torch.func.functional_call(
            module, dict(zip(names, state, strict=True)), (torch.tensor(x),)
        )

    jacobians = torch.autograd.functional.jacobian(outputs, parameters)
    jacobian = torch.cat([j.flatten(2) for j in jacobians], dim=2).double().numpy()
    kernel = influence.tangent_kernel(module, x)
    odds = jacobian[:, 1] - jacobian[:, 0]
    np.testing.assert_allclose(kernel, odds @ odds.T, atol=1e-3)
    with torch.no_grad():
        p = module(torch.tensor(x)).double().softmax(-1).numpy()
    curvature = p[:, :, None] * np.eye(2) - p[:, :, None] * p[:, None]
    hessian = np.einsum("ncp,ncd,ndq->pq", jacobian, curvature, jacobian, optimize=True) / len(x)
    gradient = np.einsum("ncp,nc->np", jacobian, p - np.eye(2)[y])[retrained.left_out]
    solved = np.linalg.solve(hessian + influence.DAMPING * np.eye(len(hessian)), gradient.T)
    exact, stopped = influence._of_model(retrained, module)
    np.testing.assert_allclose(exact, np.einsum("rp,pr->r", gradient, solved), rtol=1e-3)
    v = gradient.T
    for _ in range(influence.RELEASED_STEPS):
        v = gradient.T + (1 - influence.DAMPING) * v - hessian @ v / influence.RELEASED_SCALE
    expected = np.einsum("rp,pr->r", gradient, v) / influence.RELEASED_SCALE
    np.testing.assert_allclose(stopped, expected, rtol=1e-3)


def test_tracin_adds_learning_rate_times_squared_gradients(retrained, settings):
    found = influence.estimates(retrained, settings)
    assert set(found) == {"influence function", "LiSSA as released", "TracIn"}
    for values in found.values():
        assert values.shape == (settings.n_retrained,)
        assert (values > 0).all()


def test_evidence_answers_as_the_networks_do(retrained, gathered):
    pairs = gathered("pairs-relu")
    np.testing.assert_array_equal(pairs["record"].values, retrained.left_out)
    inside, outside = retrained.logits(retrained.own_queries)
    own = pairs["answer"].values[:, :, :, 0]
    np.testing.assert_allclose(own[:, 0], inside[:, :, 0], rtol=1e-5)
    np.testing.assert_allclose(own[:, 1], outside[:, :, 0], rtol=1e-5)
    assert sorted(pairs.attrs["offsets"]) == list(range(-50, 51, 5))


def test_figure_1_and_its_correlations(gathered, settings):
    found = [gathered(name) for name in ("process-records", "pairs-relu", "process-influence")]
    table = leakage.figure_1(*found)
    panels = table.groupby("panel").size()
    assert panels[leakage.GP] == settings.n_records
    assert panels[leakage.NETWORKS] == settings.n_retrained
    assert panels[leakage.MEMORISATION] == 4 * settings.n_retrained
    assert table["y"].notna().all()
    found = leakage.correlations(*found, gathered("process-noise"))
    found = found.set_index(["estimate", "of", "metric"])
    assert found.loc[("KL", "AUC of the process", "rank correlation"), "value"] > 0.99
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
