"""One data set attacked: every score of every target, from evidence."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.iha import scores, subjects
from membership.book.studies.iha.forms import FRACTIONS, OF_SWEEP
from membership.book.studies.iha.scores import METRICS, PAIRED, columns, measured, over_models
from membership.errors import InputError

RESAMPLES = 200


@dataclass(frozen=True)
class Evaluation:
    """The scores of one data set's targets.

    Attributes
    ----------
    outputs : xarray.Dataset
        What the models answer; its attributes say what was trained on what.
    by_target : list of dict
        For each target, scores by name, and ``damping``, ``eigenvalues`` and ``norms``.
    member : list of ndarray of bool
        For each target, the truth about its queries.
    """

    outputs: xr.Dataset
    by_target: list[dict[str, FloatArray]]
    member: list[BoolArray]

    @property
    def attrs(self) -> dict[str, Any]:
        """What the evidence says of its origin."""
        return self.outputs.attrs

    @property
    def label(self) -> str:
        """What tables call the data set."""
        return self.attrs["set"]

    @property
    def setup(self) -> dict[str, Any]:
        """What verdicts compare with the paper's set-up."""
        queries = {
            "queried_members": min(int(truth.sum()) for truth in self.member),
            "queried_non_members": min(int((~truth).sum()) for truth in self.member),
        }
        return {**self.attrs["setup"], **queries, "paired_targets": True}

    @property
    def units(self) -> np.ndarray:
        """Which targets are one unit: those trained on complementary records."""
        return np.array(self.attrs["targets"]) // 2

    @property
    def recipe(self) -> dict[str, Any]:
        """How the models were trained, with ``members`` and ``parameters``."""
        return self.attrs["recipe"]

    @property
    def size(self) -> str:
        """The sizes behind its numbers, in words."""
        return (
            f"{self.attrs['n_models']} models, {len(self.member)} of them attacked, "
            f"{self.recipe['members']:,} members a model, {self.recipe['parameters']:,} "
            f"parameters, {len(self.member[0]):,} of {self.attrs['pool']:,} records asked"
        )

    def scores(self, name: str) -> list[FloatArray]:
        """One attack's scores, an array a target."""
        return [of_target[name] for of_target in self.by_target]

    @property
    def is_whole(self) -> bool:
        """Whether every record was asked, and numbers stand for scores."""
        return "value" in self.outputs

    def numbers(self, name: str, metric: str = "AUC") -> FloatArray:
        """One attack's number over every record, one a target."""
        return self.outputs["value"].sel(attack=name, metric=metric).values

    def aucs(self, name: str) -> FloatArray:
        """One attack's AUC, one a target."""
        if self.is_whole:
            return self.numbers(name)
        pairs = zip(self.scores(name), self.member, strict=True)
        return np.array([metrics.auc(score, member) for score, member in pairs])

    def has(self, name: str) -> bool:
        """Whether every target has these scores; a damping may be too small for some."""
        if self.is_whole:
            known = name in self.outputs["attack"].values
            return known and bool(np.isfinite(self.numbers(name)).all())
        return all(name in of_target for of_target in self.by_target)

    def rows(self, attack: str, name: str = "", measures: Sequence[str] = METRICS) -> list:
        """Tidy rows of one attack, called `attack` in the table."""
        key = {"dataset": self.label, "attack": attack}
        return measured(key, self.scores(name or attack), self.member, measures, self.units)

    def rates(self, attack: str, name: str) -> list[dict[str, Any]]:
        """Tidy rows of one attack's rates over every record, where all were asked."""
        key = {"dataset": self.label, "attack": attack}
        asked = sum(int(truth.sum()) for truth in self.member)
        over = {"highest": 100.0, "units": self.units, "asked": asked, "scale": 100.0}
        return [
            {**key, "metric": rate, **over_models(self.numbers(name, rate), **over)}
            for rate in METRICS[1:]
        ]

    def less(self, attack: str, other: str, names: Mapping[str, str]) -> dict[str, Any]:
        """A tidy row: the AUC of one attack less another's, on the same targets and records.

        `names` are those of their scores. Where every record was asked the units are the targets.
        """
        key = {"dataset": self.label, "attack": f"{attack} less {other}", "metric": PAIRED}
        first, second = names[attack], names[other]
        if self.is_whole:
            apart = self.numbers(first) - self.numbers(second)
            return {**key, **metrics.summary(apart, self.units)}
        interval = metrics.paired_interval(
            "auc",
            np.stack(self.scores(first)),
            np.stack(self.scores(second)),
            np.stack(self.member),
            units=self.units,
            asked_share=len(self.member[0]) / self.attrs["pool"],
            resamples=RESAMPLES,
        )
        return {**key, **columns(interval)}


def evaluate(outputs: xr.Dataset, forms: xr.Dataset) -> Evaluation:
    """The chapter's attacks on the targets of one data set."""
    by_target = []
    for place, target in enumerate(outputs.attrs["targets"]):
        of_target = scores.by_inverse(forms, place)
        norm, member = forms["norm"].values[place], forms["member"].values[place]
        loss = scores.loss_of(outputs, target)
        white = scores.white_box(of_target, norm, loss, member, outputs.attrs["recipe"])
        more = {
            "damping": forms["damping"].values[place],
            "norms": norm,
        }
        if "eigenvalue" in forms:
            more["eigenvalues"] = forms["eigenvalue"].values[place]
        by_target.append({**white, **scores.black_box(outputs, target), **more})
    return Evaluation(outputs, by_target, list(forms["member"].values))


def swept(outputs: xr.Dataset, sweep: xr.Dataset) -> Evaluation:
    """IHA and IHA* at every damping and rank that does for a target, on fewer records."""
    at, recipe = _places(outputs, sweep), outputs.attrs["recipe"]
    by_target = []
    for place, target in enumerate(outputs.attrs["targets"]):
        forms, of_target = scores.by_inverse(sweep, place), {}
        loss, member = scores.loss_of(outputs, target, at), sweep["member"].values[place]
        for name, (inverse, attack) in OF_SWEEP.items():
            if inverse in forms:
                of_target[name] = scores.iha(forms[inverse], loss, member, recipe, attack).score
        by_target.append(of_target)
    return Evaluation(outputs, by_target, list(sweep["member"].values))


def every_record(numbers: xr.Dataset) -> Evaluation:
    """Numbers of the attacks over all records of the pool: they stand for scores."""
    half = np.arange(numbers.attrs["pool"]) < numbers.attrs["recipe"]["members"]
    nothing: list[dict] = [{} for _ in numbers.attrs["targets"]]
    return Evaluation(numbers, nothing, [half for _ in nothing])


def with_known(outputs: xr.Dataset, forms: xr.Dataset, known: xr.Dataset) -> Evaluation:
    """IHA where the gradient over the others comes from some of the training records only.

    "fraction": the adversary removes z from the records that it knows where z is one of them.
    "fraction, released": g/n is taken away for every member, known or not, as in the released
    code (which also estimates the Hessian from the fraction; here it is that of all records).
    """
    at, recipe = _places(outputs, known), outputs.attrs["recipe"]
    by_target = []
    for place, target in enumerate(outputs.attrs["targets"]):
        own = scores.by_inverse(forms, place, at)["published"]
        loss, member = scores.loss_of(outputs, target, at), known["member"].values[place]
        of_target = {
            f"IHA{knowledge}": scores.iha(own, loss, member, recipe, "IHA", knowledge).score
            for knowledge in ("", ", everyone")
        }
        for i, fraction in enumerate(FRACTIONS):
            means = {f"mean{k}": known[f"known_mean{k}"].values[place, i] for k in (2, 3)}
            inside = known["known"].values[place, i]
            less = {
                "fraction": np.where(inside, -1 / int(known["n_known"].values[place, i]), 0.0),
                "fraction, released": np.where(member, -1 / recipe["members"], 0.0),
            }
            for name, part in less.items():
                # Everyone's mean with the record's own part added: the forms are linear in it.
                mixed = {f"mean{k}": means[f"mean{k}"] + part * own[f"own{k}"] for k in (2, 3)}
                score = scores.iha({**own, **mixed}, loss, member, recipe, "IHA", ", everyone")
                of_target[f"{name} {fraction:g}"] = score.score
        by_target.append(of_target)
    return Evaluation(outputs, by_target, list(known["member"].values))


def _places(outputs: xr.Dataset, queried: xr.Dataset) -> np.ndarray:
    """Where the queries of one file are among the records of another."""
    places = np.searchsorted(outputs["record"].values, queried["query"].values)
    if not np.array_equal(outputs["record"].values[places], queried["query"].values):
        raise InputError("evidence: these files were not asked about the same records")
    return places


_MADE_OF: dict[tuple[str, ...], Callable[..., Evaluation]] = {
    subjects.MAIN: evaluate,
    subjects.SWEPT: swept,
    subjects.WHOLE: every_record,
    subjects.KNOWN: with_known,
}


def read(source: Source, kinds: tuple[str, ...], select: subjects.Select) -> tuple[Evaluation, ...]:
    """The data sets of a run that are selected, each attacked from evidence of these kinds."""
    return tuple(_of_one(source, kinds, subject) for subject in select(source.settings))


@functools.lru_cache(maxsize=32)
def _of_one(source: Source, kinds: tuple[str, ...], subject: subjects.Subject) -> Evaluation:
    return _MADE_OF[kinds](*(source.evidence(f"{kind}-{subject.slug}") for kind in kinds))


def table_of(
    rows: list[dict], datasets: Sequence[Evaluation], more: Sequence[str] = ()
) -> pd.DataFrame:
    """Rows as a table that states its origin."""
    setup, sizes = (
        {dataset.label: getattr(dataset, name) for dataset in datasets}
        for name in ("setup", "size")
    )
    table = tidy(
        rows, origin(datasets, *more, *design(datasets), named=True, setup=setup, sizes=sizes)
    )
    raised = [
        float(f["damping"][0]) for dataset in datasets for f in dataset.by_target if "damping" in f
    ]
    if raised and np.ptp(raised) > 0:
        table.attrs["note"] = (
            f"Where a Hessian had large negative eigenvalues its damping was raised, to at most "
            f"{max(raised):.2g}."
        )
    return table


def design(datasets: Sequence[Evaluation]) -> list[str]:
    """What all tables share: who is a member, and who is asked."""
    statements = [
        "memberships are random halves and their complements (the released code: 64 of 128 a "
        "record), and a target's complement is none of its references"
    ]
    for dataset in datasets:
        queries = len(dataset.member[0])
        if queries < dataset.attrs["pool"]:
            statements.append(
                f"{dataset.label}: {queries:,} of {dataset.attrs['pool']:,} records asked"
            )
    return statements
