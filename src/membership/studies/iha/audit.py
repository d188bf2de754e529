"""One data set attacked: its models, and every score of every target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from membership.metrics.arrays import BoolArray, FloatArray
from membership.studies.iha import loo, rows
from membership.studies.iha.black_box import black_box
from membership.studies.iha.ensembles import Trained, origin, train
from membership.studies.iha.tasks import Task, tasks
from membership.studies.iha.white_box import white_box


@dataclass(frozen=True)
class Audit:
    """The scores of one data set's targets.

    Attributes
    ----------
    trained : Trained
    found : list of dict
        For each target, scores by name: those of `white_box` and `black_box`.
    member : list of ndarray of bool
        For each target, the truth about its queries.
    """

    trained: Trained
    found: list[dict[str, FloatArray]]
    member: list[BoolArray]

    @property
    def label(self) -> str:
        """What tables call the data set."""
        return self.trained.task.label

    def scores(self, name: str) -> list[FloatArray]:
        """One attack's scores, an array a target."""
        return [found[name] for found in self.found]

    def has(self, name: str) -> bool:
        """Whether every target has these scores; a damping may be too small for some."""
        return all(name in found for found in self.found)

    def rows(self, attack: str, name: str = "", metrics: Sequence[str] = rows.METRICS) -> list:
        """Tidy rows of one attack, called `attack` in the table."""
        key = {"dataset": self.label, "attack": attack}
        return rows.measured(key, self.scores(name or attack), self.member, metrics)


def check_data(settings: Any) -> str:
    """Load every data set and see that it has the records that each exhibit needs.

    Returns
    -------
    str
        A line a data set: its size, its network, and where it comes from.

    Raises
    ------
    InputError
        A data set is unknown, missing or too small, or its network cannot be cut to size.
    """
    every = tasks(settings)
    for name in loo.names(settings):
        loo.small_task(name, settings)
    return "\n".join(
        f"{task.label}: {len(task.pool):,} records, {task.n_members:,} members a model, "
        f"{task.n_parameters:,} parameters. {task.pool.source}"
        for task in every
    )


def audit(task: Task, settings: Any) -> Audit:
    """Train a task's models, or find them in the cache, and attack its targets."""
    trained = train(task, settings)
    found = [
        white_box(trained, target, settings.damping) | black_box(trained, target)
        for target in trained.targets
    ]
    member = [task.membership[target, trained.queries(target)] for target in trained.targets]
    return Audit(trained, found, member)


def audit_all(settings: Any) -> list[Audit]:
    """Every data set of a run, attacked; all are loaded before the first is trained.

    Raises
    ------
    InputError
        A data set is unknown, missing or too small, or its network cannot be cut to size.
    """
    return [audit(task, settings) for task in tasks(settings)]


def table_of(found: list[dict], audits: Sequence[Audit], more: Sequence[str] = ()) -> pd.DataFrame:
    """Rows as a table that states its origin.

    Parameters
    ----------
    found : list of dict
        The rows.
    audits : sequence of Audit
        What they were computed from.
    more : sequence of str
        Deviations from the paper beside those of all tables.

    Returns
    -------
    DataFrame
        Its ``attrs`` hold data, deviations, comparable and device, and a note where a damping
        had to be raised.
    """
    table = pd.DataFrame(found)
    said = [*more, *design(audits)]
    table.attrs = origin([audit.trained for audit in audits], tuple(said))
    raised = [float(d) for audit in audits for (d,) in audit.scores("damping")]
    if np.ptp(raised) > 0:
        table.attrs["note"] = (
            f"Where a Hessian had large negative eigenvalues its damping was raised, to at most "
            f"{max(raised):.2g}."
        )
    return table


def design(audits: Sequence[Audit]) -> list[str]:
    """What all tables share: who is a member, and who is asked."""
    said = [
        "memberships are random halves and their complements (the released code: 64 of 128 a "
        "record), and a target's complement is none of its references"
    ]
    for one in (audit.trained for audit in audits):
        if one.n_queries < len(one.task.pool):
            said.append(
                f"{one.task.label}: {one.n_queries:,} of {len(one.task.pool):,} records asked"
            )
    return said
