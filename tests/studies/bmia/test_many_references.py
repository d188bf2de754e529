import numpy as np

from membership.studies.bmia import many_references, names


def test_more_references_begin_with_those_of_the_run(source, seen):
    [name, _] = names.of_last(names.MANY, source.settings)
    outputs, n = source.evidence(name), seen.hinge.shape[0]
    assert outputs.sizes["model"] == 2 + many_references.REFERENCES["tiny"]
    np.testing.assert_allclose(outputs["hinge"].values[:n], seen.hinge, atol=1e-4)
    assert not outputs["member"].values[2:].any()


def test_first_references_predict_as_in_the_run(source, seen):
    [_, name] = names.of_last(names.MANY, source.settings)
    row = source.evidence(name).sel(reference=seen.first(1), variant="kron")
    mean, sd = seen.moments(seen.first(1))
    np.testing.assert_allclose(row["mean"], mean, atol=1e-3)
    np.testing.assert_allclose(row["sd"], sd, rtol=1e-3)


def test_a_regressed_threshold_is_passed_by_about_a_twentieth(source, seen):
    [name] = names.of_last((names.QUANTILES,), source.settings)
    threshold = source.evidence(name)["threshold"].values
    others = ~seen.member[:2]
    passed = (seen.hinge[:2] >= threshold)[others].mean()
    assert 0.005 < passed < 0.2
