"""What evidence lacks for the attacks that it does not allow, and what it would take."""

from membership import attacks

_TAKES = {
    "form.": "a torch module's weights and its training records",
    "reference_log_odds": "weights of target and reference",
    "leave_one_out.": "models trained without a single record, two for each record",
    "steps.": "the gradient of each training step",
    "posterior.kron.": "draws from a reference's posterior, which BMIA, closed form, does without; "
    "that is gathered of modules with a linear layer at their end",
    "posterior.closed form.": "arrays of records, and references that are torch modules with a "
    "plain linear layer at their end, which answers what its weight and bias say",
    "posterior.qmia.": "arrays of records, and held ones that no model has seen",
    "held.": "held records that no model has seen",
    "shokri": "all logits of the references",
    "references.sequence.": "reference models, several of each training",
    "sequence.": "several models of one training, such as checkpoints",
    "references.": "reference models, that is, a function that trains one",
}
"""What it would take to have what evidence lacks, by the beginning of its name."""
_BY_HAND = {
    "form.": "`attacks.sif`, `attacks.iha` and `attacks.residual` give scores",
    "reference_log_odds": "`attacks.matt` gives scores",
    "steps.": "`attacks.glir` gives scores",
    "shokri": "`attacks.shadow` gives scores",
}
"""Which functions of the package make scores of it, that `audit` takes."""
_NO_CLASS = {"regression": "a regression answers no classes",
             "multi-label": "a record of several labels has no single class",
             "labels": "models were asked for classes alone, which show no logits"}  # fmt: skip


def left_out(name: str, lacks: str, tasks: set[str | None]) -> dict[str, str]:
    """An attack with what the evidence lacks, and with what it would take in a reader's words."""
    names = [name for need in lacks.split(", ") for name in need.split("|")]
    display = attacks.registry()[name].display
    if {"hinge", "correct", "halved_log_odds", "shokri"} & set(names):
        for task in tasks & _NO_CLASS.keys():
            takes = _NO_CLASS[task]
            return {"name": name, "display": display, "lacks": f"{lacks}: {takes}", "takes": takes}
    start = next((start for start in _TAKES if any(name.startswith(start) for name in names)), "")
    takes = _TAKES.get(start, lacks)
    sentence = f"{lacks}: {takes}" if start else lacks
    if start in _BY_HAND:
        sentence += f". {_BY_HAND[start]} from these, and `audit` judges scores"
    return {"name": name, "display": display, "lacks": sentence, "takes": takes}
