"""Tables 1 to 4: what the paper states in words, and the sizes of its experiments beside ours."""

from typing import Any

import pandas as pd

from membership import published
from membership.studies.gmip.tasks import Task, attrs
from membership.studies.gmip.theory import formula_attrs

TABLE_1 = (
    (
        "goal",
        "tell D from D' for any two that differ in one record",
        "tell whether a record was in the training set",
    ),
    (
        "access to the data",
        "full: the adversary may choose or poison every record",
        "none: the model's owner draws the training set from the distribution",
    ),
    (
        "records protected",
        "any record, outliers and fabricated ones included",
        "records drawn from the distribution",
    ),
    (
        "best used",
        "when the attack is unknown; protection against everything",
        "when planted records can be ruled out",
    ),
    (
        "knowledge of the model",
        "architecture, parameters, hyperparameters and outputs",
        "architecture, parameters, hyperparameters and outputs",
    ),
)
# Loss: Yeom et al.; CFD: counterfactual distance, Pawelczyk et al.; LRT: likelihood-ratio test.
ATTACKS = ("Loss", "CFD", "Loss LRT", "CFD LRT", "Gradient LRT")
TABLE_2 = (
    ("query access to losses", ("yes", "no", "yes", "no", "no")),
    ("query access to recourse", ("no", "yes", "no", "yes", "no")),
    ("access to mean gradients", ("no", "no", "no", "no", "yes")),
    ("known loss function", ("yes", "no", "yes", "no", "yes")),
    ("access to the data distribution", ("no", "no", "yes", "yes", "yes")),
    ("access to true labels", ("yes", "no", "yes", "no", "yes")),
    ("analytical", ("no", "no", "no", "no", "yes")),
    ("shadow models", ("no", "no", "yes", "yes", "no")),
)


def table_1(settings: Any) -> pd.DataFrame:
    """The two threat models (Table 1): columns aspect, f-DP, f-MIP."""
    table = pd.DataFrame(TABLE_1, columns=["aspect", "f-DP", "f-MIP"])
    table.attrs = formula_attrs(note="Words are abridged.")
    return table


def table_2(settings: Any) -> pd.DataFrame:
    """What each attack needs (Table 2): column requirement, then one an attack.

    The ticks are filled in from the definitions of the attacks; the text this companion was made
    from has the rows and columns only.
    """
    table = pd.DataFrame(
        [dict(zip(("requirement", *ATTACKS), (row, *ticks), strict=True)) for row, ticks in TABLE_2]
    )
    table.attrs = formula_attrs(note="Ticks follow from the attacks' definitions.")
    return table


def table_3(some: list[Task], settings: Any) -> pd.DataFrame:
    """The sizes of the audit (Table 3): columns dataset, source, N, d, n_batch, epochs, C, tau."""
    printed = published.table("gmip_table3").assign(source="paper")
    ours = [_audit_sizes(task, settings) for task in some]
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "tau", "architecture"]
    table = pd.concat([printed, pd.DataFrame(ours)])[columns].reset_index(drop=True)
    table.attrs = attrs(some)
    return table


def table_4(some: list[Task], settings: Any) -> pd.DataFrame:
    """The sizes of the utility study (Table 4): columns dataset, source, N, d, n_batch, ..., C."""
    printed = published.table("gmip_table4").assign(source="paper").rename(columns={"d_eq_K": "d"})
    ours = [
        {
            "dataset": task.name,
            "source": "this run",
            "N": task.recipe.n_records,
            "d": task.dimension,
            "n_batch": task.recipe.batch_size,
            "epochs": task.recipe.epochs,
            "C": task.recipe.clip,
            "architecture": _architecture(task),
        }
        for task in some
    ]
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "architecture"]
    table = pd.concat([printed, pd.DataFrame(ours)])[columns].reset_index(drop=True)
    table.attrs = attrs(some)
    return table


def _audit_sizes(task: Task, settings: Any) -> dict[str, Any]:
    n = min(task.recipe.audit_batch, task.n_test)
    return {
        "dataset": task.name,
        "source": "this run",
        "N": n,
        "d": task.dimension,
        "n_batch": n,
        "epochs": settings.audit_steps,
        "C": float("inf"),
        "tau": 0.0,
        "architecture": _architecture(task),
    }


def _architecture(task: Task) -> str:
    return f"softmax layer on {task.recipe.width} fixed features"
