"""What the attacks of Table 2 cost in time, on one core."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr

from membership import attacks, data, evidence, metrics, training
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import gather
from membership.studies.bayes_optimal.names import SCORES, SHADOW, WHOLE
from membership.studies.bayes_optimal.reference_game import ReferenceGame

EPOCHS, TIMINGS = 2, 3
ATTACKS = ("MALT", "MAST", SHADOW)
NETWORK = "one network"
TRAINING, ANSWERS = "training(min)", "answers(s)"


def seconds(settings: Any) -> xr.Dataset:
    """Seconds of training a network, of its answers and of each attack's scores, three times.

    Two epochs of a fresh network are timed, whatever the cache holds, and multiplied up. Scores
    are timed on answers that are made up, since their values do not change the time.
    """
    whole = data.load(settings.dataset, root=settings.data_root or None)
    dataset = gather.subset(whole, 2 * settings.cnn_records, settings.seed)
    member = data.random_halves(settings.n_reference + 1, len(dataset.y), settings.seed)
    work = _Work(settings, dataset, member)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # The first of a process also starts its libraries.
        work.once(1)
        found = [work.once(EPOCHS) for _ in range(TIMINGS)]
    finally:
        torch.set_num_threads(before)
    dims = {"training": (), "answers": (), "scores": ("attack",)}
    origin = gather.network_origin(settings, whole)
    return evidence.dataset(
        "measured",
        {k: (("timing", *dims[k]), np.array([one[k] for one in found])) for k in dims},
        {"attack": list(ATTACKS)},
        device=settings.device,
        references=settings.n_reference,
        **origin | {"sizes": origin["sizes"] | {"Timings": str(TIMINGS), "Cores": "1"}},
    )


class _Work:
    """The records of Table 2, and answers of its shape to them."""

    def __init__(self, settings: Any, dataset: data.Dataset, member: np.ndarray) -> None:
        self.settings, self.dataset, self.member = settings, dataset, member
        rng = np.random.default_rng([settings.seed, len(member)])
        logits = rng.normal(size=(*member.shape, dataset.n_classes)).astype(np.float32)
        self.output = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        self.loss = -np.take_along_axis(self.output, dataset.y[None, :, None], -1)[..., 0]

    def once(self, epochs: int) -> dict[str, Any]:
        """One timing of everything, one thing after the other."""
        start = time.perf_counter()
        ensemble = self._trained(epochs)
        took = time.perf_counter() - start
        return {
            "training": took / epochs * self.settings.cnn_epochs,
            "answers": _seconds(lambda: ensemble.logits(self.dataset.x)),
            "scores": [_seconds(one) for one in (self._malt, self._mast, self._shadow)],
        }

    def _trained(self, epochs: int) -> training.Ensemble:
        with tempfile.TemporaryDirectory() as folder:
            return training.train(
                gather.network(self.dataset),
                self.dataset,
                self.member[:1],
                replace(gather.network_config(self.settings), epochs=epochs),
                [0],
                device=self.settings.device,
                n_jobs=1,
                cache_folder=Path(folder),
                progress=False,
            )

    def _malt(self) -> np.ndarray:
        score = attacks.malt(self.loss[1:].ravel())
        cut = metrics.best_threshold(score, self.member[1:].ravel())
        return attacks.malt(self.loss[0]) >= cut

    def _mast(self) -> np.ndarray:
        game = ReferenceGame(self.loss, np.ones_like(self.loss), self.member, {}, (0,))
        return next(game.targets()).mast("best-separating") >= 0

    def _shadow(self) -> np.ndarray:
        return attacks.shadow(
            self.output[0], self.dataset.y, self.output[1:], self.member[1:], self.settings.seed
        )


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(measured: xr.Dataset) -> pd.DataFrame:
    """Time of one network, and of each attack with all references and MALT with one.

    The whole is the training of the references, their answers and the target's, and the scores.
    Intervals are over timings.
    """
    most = measured.attrs["references"]
    training, answers = measured["training"].values, measured["answers"].values
    rows = [_row(NETWORK, 1, TRAINING, training / 60), _row(NETWORK, 1, ANSWERS, answers)]
    rows.append(_row("0-1", 0, WHOLE, answers / 60))
    for attack in ATTACKS:
        scores = measured["scores"].sel(attack=attack).values
        rows.append(_row(attack, most, SCORES, scores))
        # The threshold of MALT can be learnt from one network, in no more time.
        for n in (1, most) if attack == "MALT" else (most,):
            whole = n * training + (n + 1) * answers + scores
            rows.append(_row(attack, n, WHOLE, whole / 60))
    said = measured.attrs
    attrs = {key: said[key] for key in ("data", "deviations", "sizes", "device")}
    return tidy(rows, attrs | {"setup": {"networks": said["setup"]}, "timing": True})


def _row(attack: str, references: int, metric: str, timings: np.ndarray) -> dict[str, Any]:
    key = {"attack": attack, "references": references, "metric": metric}
    return {**key, **metrics.summary(timings, lowest=0.0)}
