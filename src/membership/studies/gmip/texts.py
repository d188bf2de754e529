"""Tables 1 to 4: what the paper states in words, and the sizes of its experiments beside ours."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import xarray as xr

from membership import published
from membership.exhibits.tidy import tidy
from membership.studies.gmip.origin import computed, observed, recipe_of

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
    table.attrs = computed(note="Words are abridged.")
    return table


def table_2(settings: Any) -> pd.DataFrame:
    """What each attack needs (Table 2): column requirement, then one an attack.

    The ticks are filled in from the definitions of the attacks; the text this companion was made
    from has the rows and columns only.
    """
    return tidy(
        [
            dict(zip(("requirement", *ATTACKS), (row, *ticks), strict=True))
            for row, ticks in TABLE_2
        ],
        computed(
            deviations=["the entries follow from the attacks' definitions"],
        ),
    )


def table_3(audits: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The sizes of the audit (Table 3): columns dataset, source, N, d, n_batch, epochs, C, tau."""
    printed = published.table("gmip_table3").assign(source="paper")
    ours = [
        _sizes(one)
        | {
            "N": one.attrs["batch_size"],
            "n_batch": one.attrs["batch_size"],
            "epochs": one.sizes["step"],
            "C": float("inf"),
            "tau": 0.0,
        }
        for one in audits
    ]
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "tau", "architecture"]
    table = pd.concat([printed, pd.DataFrame(ours)])[columns].reset_index(drop=True)
    table.attrs = observed(audits, "no clipping (the paper: C = 10)")
    return table


def table_4(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The sizes of the utility study (Table 4): columns dataset, source, N, d, n_batch, ..., C."""
    printed = published.table("gmip_table4").assign(source="paper").rename(columns={"d_eq_K": "d"})
    ours = [
        _sizes(one)
        | {
            "N": recipe_of(one).n_records,
            "n_batch": recipe_of(one).batch_size,
            "epochs": recipe_of(one).epochs,
            "C": recipe_of(one).clip,
        }
        for one in trained
    ]
    columns = ["dataset", "source", "N", "d", "n_batch", "epochs", "C", "architecture"]
    table = pd.concat([printed, pd.DataFrame(ours)])[columns].reset_index(drop=True)
    table.attrs = observed(trained)
    return table


def _sizes(one: xr.Dataset) -> dict[str, Any]:
    recipe = recipe_of(one)
    return {
        "dataset": one.attrs["set"],
        "source": "this run",
        "d": recipe.dimension,
        "architecture": f"{recipe.width} fixed features",
    }
