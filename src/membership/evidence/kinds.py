"""The seven kinds of evidence: which arrays a file of each kind holds, over which dimensions.

A variable that a kind does not name is refused, so that a name means the same in every file; to
observe something new, name it here. `process` and `measured` hold what single chapters look at
and take any name.
"""

from dataclasses import dataclass, field

ATTRIBUTES = ("set", "data", "recipe")
"""What every file says: display name of the data set, digests of its records, training recipe."""

TYPES = {
    "set": "words",
    "data": "an object",
    "recipe": "an object",
    "deviations": "a list of words",
    "warnings": "a list of words",
    "targets": "a list of whole numbers",
    "references": "a list of whole numbers",
    "complements": "a list of whole numbers or null",
    "inverses": "a list of objects",
    "batch_size": "a number",
    "rank": "a number",
}
"""What attributes that are read must be; of kinds that take any variable, the first four."""


@dataclass(frozen=True)
class Variable:
    """One array of a kind.

    Attributes
    ----------
    dims : tuple of str
        Its dimensions, in order.
    dtype : str
        As stored: float32, float64, int32, uint8 or bool.
    holds : str
        What a number in it means.
    required : bool
        Whether a file of the kind is of no use without it.
    """

    dims: tuple[str, ...]
    dtype: str
    holds: str
    required: bool = False


@dataclass(frozen=True)
class Kind:
    """One kind of evidence.

    Attributes
    ----------
    name : str
        As ``attrs["kind"]`` of the data set says.
    holds : str
        One line.
    variables : dict of str to Variable
        By name.
    attributes : tuple of str
        Attributes that it needs beside `ATTRIBUTES`.
    others : tuple of str
        Stored dtypes of variables that it does not name; empty where it takes no others.
    """

    name: str
    holds: str
    variables: dict[str, Variable] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def _outputs() -> Kind:
    each, held = ("model", "record"), ("model", "held")
    return Kind(
        "outputs",
        "what trained models answer for records",
        {
            "log_odds": Variable(each, "float32", "log-odds of the true label", required=True),
            "member": Variable(each, "bool", "the model was trained on the record", required=True),
            "halved_log_odds": Variable(each, "float32", "the same of halved logits"),
            "hinge": Variable(each, "float32", "true label's logit less the largest other"),
            "correct": Variable(each, "bool", "the model's decision is the true label"),
            "regressed_mean": Variable(each, "float32", "of a target's hinge, from held records"),
            "regressed_sd": Variable(each, "float32", "of a target's hinge, from held records"),
            "posterior_mean": Variable(each, "float32", "of the hinge a reference predicts"),
            "posterior_sd": Variable(each, "float32", "of the hinge a reference predicts"),
            "shokri": Variable(each, "float32", "score of the attack models of Shokri et al."),
            "asked": Variable(each, "bool", "the model was attacked on the record"),
            "stranger": Variable(("record",), "bool", "of another law than the training records"),
            "canary": Variable(("record",), "bool", "given a wrong label on purpose"),
            "label": Variable(("record",), "int32", "label that models were given"),
            "held_log_odds": Variable(held, "float32", "of records that no model has seen"),
            "held_halved_log_odds": Variable(held, "float32", "the same of halved logits"),
            "held_hinge": Variable(held, "float32", "of records that no model has seen"),
            "held_correct": Variable(held, "bool", "of records that no model has seen"),
            "held_label": Variable(("held",), "int32", "true label"),
            "test_accuracy": Variable(("model",), "float64", "on unseen records, in percent"),
            "test_loss": Variable(("model",), "float64", "mean over unseen records"),
            "train_accuracy": Variable(("model",), "float64", "on members, in percent"),
        },
        ("targets",),
    )


def _white_box() -> Kind:
    asked = ("target", "query")
    return Kind(
        "white_box",
        "what gradients and curvature of trained models say of records",
        {
            "member": Variable(asked, "bool", "the target was trained on it", required=True),
            "log_odds": Variable(asked, "float32", "log-odds of the true label"),
            "loss": Variable(asked, "float32", "of the record at the target"),
            "record": Variable(asked, "int32", "row in the data set, where targets differ"),
            "form": Variable(("target", "inverse", "term", "query"), "float32", "quadratic forms"),
            "damping": Variable(("target", "inverse"), "float64", "damping or rank used"),
            "known": Variable(("target", "fraction", "query"), "bool", "the adversary knows it"),
            "n_known": Variable(("target", "fraction"), "int32", "records that it knows"),
            "known_mean2": Variable(
                ("target", "fraction", "query"), "float32", "form of the known records' gradient"
            ),
            "known_mean3": Variable(
                ("target", "fraction", "query"), "float32", "the same with a third inverse"
            ),
            "eigenvalue": Variable(("target", "parameter"), "float32", "of the Hessian"),
            "norm": Variable(("target", "vector"), "float64", "length of gradient or weight decay"),
            "leverage": Variable(asked, "float32", "of the record in the target's training set"),
            "reference_log_odds": Variable(asked, "float32", "at the reference model's weights"),
            "step_product": Variable(asked, "float32", "step times gradient at the reference"),
        },
        ("inverses",),
    )


def _posterior() -> Kind:
    moment = ("reference", "variant", "record")
    return Kind(
        "posterior",
        "moments of what Bayesian references predict for records",
        {
            "mean": Variable(moment, "float32", "of the predicted hinge", required=True),
            "sd": Variable(moment, "float32", "of the predicted hinge", required=True),
            "margin_variance": Variable(moment, "float32", "of the label less the runner-up"),
            "prior_precision": Variable(("reference", "variant"), "float64", "chosen"),
        },
    )


def _pairs() -> Kind:
    each = ("record", "side", "replicate", "query", "output")
    form = ("record", "side", "replicate", "inverse", "term")
    one = ("record", "side", "replicate")
    return Kind(
        "pairs",
        "models trained with and without a record, asked at it or near it",
        {
            "answer": Variable(each, "float32", "log-odds or logits"),
            "form": Variable(form, "float32", "quadratic forms at the record itself"),
            "loss": Variable(one, "float32", "of the record itself"),
            "damping": Variable((*one, "inverse"), "float64", "damping used"),
            "influence": Variable(("record", "query", "output"), "float32", "estimated effect"),
            "accuracy": Variable(
                ("asked", "replicate"), "float64", "with every record, on sets of them, in percent"
            ),
        },
    )


def _steps() -> Kind:
    each, one = ("model", "step", "record"), ("model", "record")
    return Kind(
        "steps",
        "what single training steps say of records",
        {
            "distance": Variable(each, "float32", "of the released step from the record's"),
            "susceptibility": Variable(each, "float32", "of the record's gradient"),
            "member": Variable(one, "bool", "in the training set", required=True),
            "in_batch": Variable(each, "bool", "in the step's batch"),
            "eigenvalue": Variable(("model", "step", "parameter"), "float64", "of the covariance"),
            "released_distance": Variable(one, "float32", "distance by the released code, step 1"),
            "released_susceptibility": Variable(one, "float32", "the same of the gradient"),
            "row": Variable(one, "int32", "row in the data set, where models have their own"),
            "largest_norm": Variable(("model",), "float64", "of a background gradient, step 1"),
        },
        ("batch_size", "rank"),
    )


_KINDS = (
    _outputs(),
    _white_box(),
    _posterior(),
    _pairs(),
    _steps(),
    Kind(
        "process",
        "Gaussian processes: variances, divergences, searches and their pictures",
        others=("float32", "float64", "int32", "uint8", "bool", "str"),
    ),
    Kind(
        "measured",
        "outcomes that no arrays give again: seconds, accuracies, optimisers' results",
        others=("float32", "float64", "int32", "bool", "str"),
    ),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
"""The kinds by name."""
