"""What an attack refuses: a call that is fine, what is changed in it, and words of the one line."""

import numpy as np
import pytest
import torch

from membership import attacks, curvature, models
from membership.errors import InputError
from tests.attacks.networks import RECIPE, cross_entropy

RNG = np.random.default_rng(0)
HALVES = np.array([[True] * 3, [True] * 3, [False] * 3, [False] * 3])
SIGNALS = RNG.standard_normal((4, 3))
LOGITS, COVARIANCE = RNG.standard_normal((6, 4)), np.tile(np.eye(4), (6, 1, 1))
# Three models' probabilities, each model with members of its own.
P, P_HELD, MEMBER = RNG.random((3, 150)), RNG.random((3, 100)), RNG.random((3, 150)) < 0.3
FEATURES = np.random.default_rng(11).standard_normal((20, 30))
OUTPUTS, MASK = RNG.standard_normal((4, 40, 2)), RNG.random((3, 40)) < 0.5

torch.manual_seed(0)
NETWORK = models.mlp(6, (5,), 3)
X, Y = torch.randn(40, 6), torch.randint(0, 3, (40,))
TRAIN, QUERY, QUERIED = (X[:30], Y[:30]), (X[20:], Y[20:]), np.arange(20, 40) < 30
WHITE_BOX = {"model": NETWORK, "loss": cross_entropy, "train": TRAIN, "query": QUERY}
OTHER = curvature.Spectrum(np.ones(33), torch.eye(33, dtype=torch.float64))


FINE = {
    "attack_p": {"target_loss": [1.0], "population_loss": [1.0]},
    "attack_r": {"target_loss": [1.0], "reference_loss": [[1.0]]},
    "bavaria": {"target": SIGNALS[0], "reference": SIGNALS, "reference_member": HALVES},
    "bmia": {
        "target_hinge": np.zeros(6),
        "mean_logits": LOGITS,
        "covariance_logits": COVARIANCE,
        "label": np.arange(6) % 4,
    },
    "bmia_from_moments": {"target_hinge": [1.0, 2.0], "mean": [0.0, 1.0], "sd": [2.0, 2.0]},
    "bmia_mixture": {
        "target_hinge": np.zeros(6),
        "mean_logits": np.stack([LOGITS] * 2),
        "covariance_logits": np.stack([COVARIANCE] * 2),
        "label": np.arange(6) % 4,
    },
    "bmia_p_value": {"target_hinge": np.zeros(3), "sampled_hinge": SIGNALS},
    "bmia_sampled": {"target_hinge": np.zeros(3), "sampled_hinge": SIGNALS},
    "difference": {"target_signal": np.zeros(3), "reference_signal": SIGNALS},
    "glir": {
        "step_mean": np.zeros(3),
        "query_gradient": np.ones((5, 3)),
        "mean": np.zeros(3),
        "covariance": np.eye(3),
        "batch_size": 10,
    },
    "glir_steps": {
        "step_mean": np.zeros((2, 3)),
        "query_gradient": np.ones((2, 5, 3)),
        "mean": np.zeros((2, 3)),
        "covariance": np.stack([np.eye(3)] * 2),
        "batch_size": 10,
    },
    "gradient_moments": {"background": FEATURES[:, :5]},
    "iha": {**WHITE_BOX, "query_member": QUERIED, **RECIPE, "damping": 1.0},
    "lira": {"target": SIGNALS[0], "reference": SIGNALS, "reference_member": HALVES},
    "mast": {"target_loss": [1.0, 2.0], "reference_loss": [[1.0, 2.0], [3.0, 4.0]]},
    "matt": {"theta": [1.0, 2.0], "theta0": [0.0, 0.0], "gradient": np.ones((3, 2))},
    "qmia": {
        "public_x": np.zeros((30, 2)),
        "public_score": np.arange(30),
        "query_x": np.zeros((3, 2)),
        "query_score": np.zeros(3),
        "hidden": (4,),
        "epochs": 1,
    },
    "residual": {**WHITE_BOX, "query_member": QUERIED, "weight_decay": 0.03},
    "rmia": {
        "target_probability": [0.5],
        "reference_probability": [[0.5]],
        "population_target": [0.5, 0.6],
        "population_reference": [[0.5, 0.6]],
    },
    "rmia_ratio": {
        "target_probability": P[0, :3],
        "reference_probability": P[:, :3],
        "reference_member": HALVES[1:],
        "online": True,
    },
    "rmia_tune": {
        "reference_probability": P,
        "reference_member": MEMBER,
        "population_reference": P_HELD,
    },
    "shadow": {
        "target_output": OUTPUTS[0],
        "label": np.arange(40) % 2,
        "reference_output": OUTPUTS[1:],
        "reference_member": MASK,
    },
    "sif": {**WHITE_BOX, "damping": 1.0},
    "zero_one": {"target_correct": [1.0, 0.0]},
}
REFUSED = [
    ("attack_p", {"target_loss": [[1.0]]}, "target_loss"),
    ("attack_p", {"population_loss": []}, "population_loss"),
    ("attack_p", {"population_loss": [np.nan]}, "population_loss"),
    ("attack_r", {"reference_loss": [[1.0, 2.0]]}, "reference_loss"),
    ("attack_r", {"target_loss": [-1.0]}, "target_loss runs from -1 to -1"),
    ("attack_r", {"reference_loss": [[1001.0]]}, "reference_loss runs from 1001"),
    ("attack_r", {"bounds": (0, np.inf)}, "bounds"),
    ("attack_r", {"bounds": (3, 2)}, "bounds"),
    ("bavaria", {"mode": "both"}, "mode = 'both'"),
    ("bavaria", {"predictive": "cauchy"}, "predictive = 'cauchy'"),
    ("bavaria", {"reference_member": None}, 'reference_member is None; give it, or mode="offline"'),
    ("bavaria", {"reference": np.zeros((4, 3))}, "0 records on which two OUT models differ"),
    ("bavaria", {"reference_member": np.zeros((4, 3), dtype=bool)}, "IN"),
    ("bavaria", {"target": [np.nan, 0.0, 0.0]}, "target"),
    ("bmia", {"label": np.full(6, 4)}, "label: classes 4 to 4 do not fit mean_logits of 4 classes"),
    ("bmia", {"label": np.zeros(5)}, "give one class for each of 6 records"),
    ("bmia", {"label": np.full(6, 0.5)}, "give one class for each of 6 records"),
    ("bmia", {"target_hinge": np.zeros(5)}, "mean_logits is of 6 records, target_hinge of 5"),
    ("bmia", {"mean_logits": np.full((6, 4), np.nan)}, "mean_logits holds 24 NaN"),
    ("bmia", {"covariance_logits": np.zeros((6, 3, 3))}, r"give \(6, 4, 4\)"),
    ("bmia", {"covariance_logits": np.zeros((6, 4, 4))}, "record 0 has variance 0"),
    ("bmia", {"covariance_logits": np.ones(5)}, "one variance for each of 6 records"),
    ("bmia", {"n_samples": 1}, "n_samples = 1: expected a whole number from 2 up"),
    ("bmia", {"n_samples": 2.0}, "n_samples = 2.0: expected a whole number from 2 up"),
    ("bmia", {"n_samples": 5, "covariance_logits": -COVARIANCE}, "give positive semidefinite"),
    ("bmia", {"n_samples": 5, "covariance_logits": 0 * COVARIANCE}, "are equal"),
    ("bmia_from_moments", {"sd": [1.0, 0.0]}, "sd is as low as 0"),
    ("bmia_from_moments", {"mean": [0.0]}, "mean of shape"),
    ("bmia_from_moments", {"several": "both"}, 'several is .both.; give "mixture" or "variance"'),
    ("bmia_mixture", {"covariance_logits": COVARIANCE[None]}, "covariance_logits is of 1 ref"),
    ("bmia_p_value", {"sampled_hinge": np.zeros((1, 3))}, r"give \(n_samples, 3 records\), two"),
    ("bmia_sampled", {"sampled_hinge": np.zeros((5, 4))}, r"give \(n_samples, 3 records\)"),
    ("difference", {"reference_signal": np.zeros(2)}, r"reference_signal has shape \(2,\)"),
    ("glir", {"batch_size": 1}, "batch_size = 1"),
    ("glir", {"batch_size": "10"}, "batch_size = '10'"),
    ("glir", {"covariance": np.diag([1.0, 1.0, -1e-6])}, "negative eigenvalue -1e-06"),
    ("glir", {"covariance": -np.eye(3)}, "negative eigenvalue -1"),
    ("glir", {"convention": "mine"}, "convention = 'mine'"),
    ("glir", {"covariance": np.zeros((3, 3))}, "rank zero"),
    ("glir", {"covariance": np.eye(3)[:2]}, "covariance has shape"),
    ("glir", {"covariance": np.eye(3) + np.eye(3, k=1)}, "not symmetric"),
    ("glir", {"covariance": np.eye(4)}, "covariance has shape"),
    ("glir", {"mean": np.zeros(2)}, "mean has 2"),
    ("glir", {"query_gradient": np.ones((5, 2))}, "query_gradient has 2"),
    ("glir", {"query_gradient": np.full((5, 3), np.nan)}, "query_gradient holds 15"),
    ("glir", {"convention": "authors", "covariance": np.diag([1.0, 0, 1])}, "zero on its diagonal"),
    ("glir_steps", {"combine": "add"}, "combine = 'add'"),
    ("glir_steps", {"query_gradient": np.ones((1, 5, 3))}, "query_gradient has 1"),
    ("glir_steps", {"covariance": np.eye(3)[None]}, "covariance has 1"),
    ("gradient_moments", {"background": FEATURES}, r"background has 20 records.*ledoit-wolf"),
    ("gradient_moments", {"background": FEATURES[:1]}, "background has 1 record"),
    ("gradient_moments", {"shrinkage": "some"}, "shrinkage = 'some'"),
    ("iha", {"learning_rate": 0.0}, "learning_rate = 0.0: expected a number above 0"),
    ("iha", {"momentum": 1.0}, "momentum = 1.0"),
    ("iha", {"weight_decay": -1e-3}, "weight_decay = -0.001"),
    ("iha", {"damping": -0.2}, "damping = -0.2"),
    ("iha", {"conditioning": "ridge"}, "conditioning = 'ridge'"),
    ("iha", {"solver": "lu"}, "solver = 'lu': expected one of exact, cg"),
    ("iha", {"convention": "ours"}, "convention = 'ours'"),
    ("iha", {"stationarity": "none"}, "stationarity = 'none'"),
    ("iha", {"knowledge": "all"}, "knowledge = 'all'"),
    ("iha", {"solver": "cg", "conditioning": "low-rank"}, "use solver='exact'"),
    ("iha", {"solver": "cg", "tolerance": 2.0}, "tolerance = 2.0"),
    ("iha", {"damping": 0.0}, "not positive definite; a damping of"),
    ("iha", {"damping": 0.0, "solver": "cg"}, "not positive definite; a damping of"),
    ("iha", {"query_member": QUERIED[1:]}, r"query_member has shape \(19,\); give \(20,\)"),
    ("iha", {"query": (X[20:], Y[21:])}, "the same number of records"),
    ("lira", {"reference_member": None}, "reference_member is None"),
    ("lira", {"mode": "both"}, "mode = 'both': expected one of online, offline"),
    ("lira", {"variance": "fixed"}, "variance = 'fixed'"),
    ("lira", {"centre": "mode"}, "centre = 'mode'"),
    ("lira", {"mode": "offline", "sided": "three"}, "sided = 'three'"),
    ("lira", {"sided": "two"}, "no meaning online"),
    ("lira", {"target": [1.0]}, "reference has shape"),
    ("lira", {"target": np.full(3, np.nan)}, "target holds 3 NaN"),
    ("lira", {"reference_member": np.zeros((3, 3))}, "reference_member has shape"),
    ("lira", {"reference_member": 0 * HALVES}, "3 of 3 records have fewer than 2 IN models, one"),
    (
        "lira",
        {"reference_member": np.ones((4, 3)), "mode": "offline"},
        "3 of 3 records have fewer than 2 OUT models",
    ),
    (
        "lira",
        {"reference": np.ones((4, 3)), "variance": "global"},
        "no record on which two IN models",
    ),
    ("mast", {"reference_loss": np.ones((3, 3))}, r"reference_loss has shape \(3, 3\); give .*, 2"),
    ("mast", {"target_loss": [np.nan, 1.0]}, "target_loss holds 1 NaN or infinite"),
    ("mast", {"reference_loss": [[1.0, np.inf]]}, "reference_loss holds 1 NaN or infinite"),
    ("mast", {"tau": "median"}, "tau is 'median'"),
    ("mast", {"temperature": 0.0}, "temperature is 0.0"),
    ("mast", {"reference_member": [[1, 0], [1, 0]]}, "1 of 2 records have fewer than 1 OUT"),
    ("mast", {"tau": "best-separating"}, "2 of 2 records have fewer than 1 IN"),
    ("mast", {"reference_member": [[1, 0]]}, r"reference_member has shape \(1, 2\)"),
    ("matt", {"theta0": [0.0]}, r"theta0 has shape \(1,\); give \(2,\)"),
    ("matt", {"gradient": np.ones((3, 4))}, r"gradient has shape \(3, 4\); give \(3, 2\)"),
    ("matt", {"hessian": np.eye(3)}, r"hessian has shape \(3, 3\)"),
    ("matt", {"hessian": -np.eye(2)}, "hessian is not positive definite"),
    ("matt", {"leverage": np.ones(3)}, "leverage is given without hessian"),
    ("matt", {"hessian": np.eye(2), "leverage": [-0.1, 0, 0]}, "leverage is as low as -0.1"),
    ("matt", {"hessian": np.eye(2), "leverage": [0.1]}, r"leverage has shape \(1,\)"),
    ("qmia", {"public_x": np.zeros((29, 2))}, "public_x has 29 records"),
    ("qmia", {"public_x": np.full((30, 2), np.nan)}, "public_x holds 60"),
    ("qmia", {"public_score": np.ones(30)}, "public_score has 30 records from 1 to 1"),
    ("qmia", {"query_x": np.zeros((3, 3))}, r"query_x has shape \(3, 3\); give \(3, 2\)"),
    ("qmia", {"query_score": np.zeros(4)}, r"query_x has shape \(3, 2\); give \(4, 2\)"),
    ("qmia", {"head": "forest"}, "head = 'forest': expected one of gaussian"),
    ("qmia", {"hidden": (8, 0)}, "hidden = 0: expected a whole"),
    ("qmia", {"hidden": 2.5}, "hidden = 2.5: expected a whole"),
    ("qmia", {"epochs": 0}, "epochs = 0: expected a whole"),
    ("qmia", {"batch_size": 1.5}, "batch_size = 1.5: expected a whole"),
    ("qmia", {"trees": True}, "trees = True: expected a whole"),
    ("qmia", {"seed": -1}, "seed = -1: expected a whole"),
    ("qmia", {"learning_rate": 0.0}, "learning_rate is 0.0"),
    ("qmia", {"weight_decay": -0.1}, "weight_decay is -0.1"),
    ("qmia", {"held_out": 0.6}, "held_out is 0.6"),
    ("residual", {"statistic": "angle"}, "statistic = 'angle': expected one of norm, product, cos"),
    ("residual", {"weight_decay": -1}, "weight_decay = -1"),
    ("residual", {"query_member": QUERIED[1:]}, "query_member has shape"),
    ("rmia", {"target_probability": [1.5]}, "target_probability runs from 1.5"),
    ("rmia", {"target_probability": [1.00001]}, r"runs from 1\.00001 to 1\.00001; give prob"),
    ("rmia", {"reference_probability": [[-0.1]]}, "reference_probability runs from -0.1"),
    ("rmia", {"reference_probability": [[0.1, 0.2]]}, r"reference_probability has shape \(1, 2\)"),
    ("rmia", {"population_target": []}, "population_target"),
    ("rmia", {"population_reference": [[0.1, 0.2]] * 2}, "population_reference has 2 models"),
    ("rmia", {"a": 1.1}, "a is 1.1"),
    ("rmia", {"a": True}, "a is True"),
    ("rmia", {"gamma": 0}, "gamma is 0"),
    ("rmia", {"gamma": np.inf}, "gamma is inf"),
    ("rmia", {"reference_member": [[True]]}, "1 of 1 records have fewer than 1 OUT models"),
    ("rmia_ratio", {"reference_member": np.zeros((3, 3), bool)}, "IN"),
    (
        "rmia_tune",
        {
            "reference_probability": P[:1],
            "reference_member": MEMBER[:1],
            "population_reference": P_HELD[:1],
        },
        "has 1 models",
    ),
    ("rmia_tune", {"population_reference": P_HELD[:2]}, "population_reference 2"),
    ("rmia_tune", {"attacked": 3}, "attacked is 3"),
    ("rmia_tune", {"attacked": 0.0}, "attacked is 0.0"),
    ("rmia_tune", {"reference_member": MEMBER | True}, "leaves 0 members and 0 non-members"),
    ("rmia_tune", {"reference_member": MEMBER & False}, "leaves 0 members and 150 non-members"),
    ("rmia_tune", {"grid": [2.0]}, "a is 2.0"),
    ("shadow", {"target_output": np.zeros((40, 3))}, "reference_output has shape"),
    ("shadow", {"label": np.zeros(5)}, "label has 5 entries for 40 records"),
    ("shadow", {"reference_member": MASK[:2]}, "reference_member has shape"),
    ("shadow", {"target_output": np.full((40, 2), np.nan)}, "target_output holds 80"),
    ("sif", {"spectrum": OTHER}, "33 eigenvalues, and the model 53 parameters"),
    ("zero_one", {"target_correct": [0.0, 0.5]}, "target_correct holds values other than"),
]


def function(name):
    return curvature.gradient_moments if name == "gradient_moments" else getattr(attacks, name)


@pytest.mark.parametrize("name", FINE)
def test_the_call_without_the_change_is_fine(name):
    assert function(name)(**FINE[name]) is not None


@pytest.mark.parametrize(("name", "change", "words"), REFUSED)
def test_a_bad_argument_is_one_line_that_names_it(name, change, words):
    with pytest.raises(InputError, match=words) as refused:
        function(name)(**{**FINE[name], **change})
    assert "\n" not in str(refused.value)
