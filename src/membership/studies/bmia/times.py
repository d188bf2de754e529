"""What the attacks cost in time: Table 1's last columns and Figure 3c, measured (Control 10)."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from membership import published, training
from membership.attacks.bmia import bmia_sampled
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import Evidence, attrs
from membership.studies.bmia.predictive import SAMPLES, STRUCTURES
from membership.studies.bmia.tables import ON, PAPERS_NAMES
from membership.studies.bmia.worlds import World, factory

EPOCHS = 2
TIME = "time_min"


def control_10(some: list[Evidence], settings: Any) -> pd.DataFrame:
    """Wall times of training and of inference (Control 10).

    A reference's training is timed over two epochs of a fresh model, whatever the cache holds,
    and multiplied up. Inference is timed from the trained network: its pass over training
    records and queries, the fit of the posterior and the draws.

    Parameters
    ----------
    some : list of Evidence
    settings : Settings
        Uses ``n_samples``, the largest number of draws.

    Returns
    -------
    DataFrame
        Columns dataset, attack, n_reference, metric ("time_min" as in Table 1, or
        "inference(s)"), value, low, high. ``attrs["timing"]`` marks it: no two runs agree.
    """
    listed = []
    for evidence in some:
        one = _training_seconds(evidence.world)
        listed.append(_row(evidence, "QMIA", 0, TIME, _seconds(_fit_qmia(evidence)) / 60))
        for attack, n in (("LiRA", 2), ("LiRA", 4), ("LiRA", 8), ("BMIA", 1)):
            listed.append(_row(evidence, attack, n, TIME, n * one / 60))
        for structure in ("kron", "diag"):
            for n in [n for n in SAMPLES if n < settings.n_samples] + [settings.n_samples]:
                name = f"BMIA, {STRUCTURES[structure]}, {n} samples"
                took = _seconds(_inference(evidence, structure, n))
                listed.append(_row(evidence, name, 1, "inference(s)", took))
    table = pd.DataFrame(listed)
    table.attrs = attrs([each.world for each in some], timing=True)
    return table


def control_10_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each time beside the published one, on other hardware."""
    printed = published.table("bmia_table1").dropna(subset="value")
    printed["dataset"] = printed["dataset"].replace(PAPERS_NAMES)
    more = {"comparable": False, "deviations": [*table.attrs["deviations"], "another machine"]}
    judged = table.copy()
    judged.attrs = {**table.attrs, **more}
    return published.compare(judged, printed, ON)


def _training_seconds(world: World) -> float:
    """Of all epochs of one reference."""
    recipe = world.recipe

    def train(epochs: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            training.train(
                factory(recipe.architecture, world.dataset),
                world.dataset,
                world.references[:1],
                replace(recipe.config, epochs=epochs, milestones=()),
                [0],
                device=world.settings.device,
                n_jobs=world.settings.n_jobs,
                cache_folder=Path(folder),
                progress=False,
            )

    # The first training of a process also starts its libraries.
    train(1)
    return _seconds(lambda: train(EPOCHS)) / EPOCHS * recipe.epochs


def _fit_qmia(evidence: Evidence) -> Callable[[], Any]:
    fresh = replace(evidence, kept={})
    # What the regression is fitted to is not part of its time.
    fresh.validation  # noqa: B018
    return lambda: scores.qmia_model(fresh, 0)


def _inference(evidence: Evidence, structure: str, n_samples: int) -> Callable[[], Any]:
    """From a trained reference to scores of all queries, nothing kept from before."""
    fresh = replace(evidence, kept={})
    reference = int(evidence.references(0, 1)[0])
    hinge = evidence.signals.hinge[0]
    return lambda: bmia_sampled(hinge, fresh.draws(reference, n_samples, structure))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _row(evidence: Evidence, attack: str, n: int, metric: str, value: float) -> dict[str, Any]:
    key = {"dataset": evidence.world.label, "attack": attack, "n_reference": n, "metric": metric}
    return {**key, "value": value, "low": value, "high": value}
