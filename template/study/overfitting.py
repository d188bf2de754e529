"""How well a threshold on the loss tells members, and what the gap has to do with it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics
from membership.arrays import BoolArray, FloatArray
from membership.book import published
from membership.book.exhibits.tidy import origin, tidy

PRINTED_FOR = {"mnist": "MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}
"""What the paper calls the data sets that it prints numbers of."""


def table_1(found: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Precision, recall and advantage of the guess "member" where the loss is at most L_S."""
    rows = []
    for outputs in found:
        guess, member = _guesses(outputs), outputs["member"].values
        key = {"dataset": outputs.attrs["set"], "width": outputs.attrs["width"]}
        for metric, each in (
            ("precision", (guess & member).sum(axis=1) / np.maximum(guess.sum(axis=1), 1)),
            ("recall", _share(guess, member)),
            ("advantage", _share(guess, member) - _share(guess, ~member)),
        ):
            rows.append({**key, "metric": metric} | metrics.summary(each, lowest=-1.0, highest=1.0))
    return tidy(rows, origin(found))


def gap_and_advantage(found: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The advantage of "member where the network is right", and its distance from the gap."""
    rows = []
    for outputs in found:
        right, member = outputs["correct"].values, outputs["member"].values
        advantage = _share(right, member) - _share(right, ~member)
        key = {"dataset": outputs.attrs["set"], "width": outputs.attrs["width"]}
        rows.append({**key, "metric": "advantage"} | metrics.summary(advantage))
        pairs = zip(right, member, strict=True)
        gap = np.array([each[seen].mean() - each[~seen].mean() for each, seen in pairs])
        rows.append({**key, "metric": "advantage - gap"} | metrics.summary(advantage - gap))
    return tidy(rows, origin(found))


def beside_the_paper(ours: pd.DataFrame) -> pd.DataFrame:
    """Each width's numbers beside the one printed for the data set; digits stand beside MNIST."""
    names = {PRINTED_FOR.get(name, "MNIST"): name for name in ours["dataset"]}
    printed = published.reference("my_paper_table1").replace({"dataset": names})
    theirs = printed.merge(ours[["width"]].drop_duplicates(), how="cross")
    return published.compare(ours, theirs, ["dataset", "width", "metric"])


def _guesses(outputs: xr.Dataset) -> BoolArray:
    """Whether each loss is at most the network's mean loss on its own members (Adversary 1)."""
    loss = np.logaddexp(0.0, -outputs["log_odds"].values.astype(np.float64))
    mean = np.array([row[m].mean() for row, m in zip(loss, outputs["member"].values, strict=True)])
    return loss <= mean[:, None]


def _share(hit: BoolArray, of: BoolArray) -> FloatArray:
    """Of each model's records, the share that is hit."""
    return (hit & of).sum(axis=1) / of.sum(axis=1)
