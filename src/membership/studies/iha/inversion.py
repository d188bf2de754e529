"""How the Hessian is inverted, and what that takes.

Its damping: Table 8, and over three orders of magnitude (iha-ctl-2). Solvers that approximate
(Table 3). Seconds and memory of all attacks (Table 6).
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from scipy.stats import t

from membership import attacks, memory, metrics, published, training
from membership.attacks.forms import TERMS, forms_of
from membership.attacks.iha import iha_from_forms
from membership.curvature.gradients import views
from membership.curvature.hessians import hessian_matrix
from membership.curvature.inverse import Factor, Factors, factorised
from membership.curvature.objective import objective
from membership.errors import InputError
from membership.exhibits.tidy import origin, tidy
from membership.studies.experiment import timed
from membership.studies.iha import scores, subjects
from membership.studies.iha.evaluation import Evaluation, design, table_of
from membership.studies.iha.experiment import Trained, halves, of_models, scaled_logits
from membership.studies.iha.forms import DAMPINGS, records, training_records
from membership.studies.iha.score_taken_apart import auc
from membership.studies.iha.scores import LEARNT_BY, columns, over_models
from membership.studies.iha.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CONDITIONINGS = {
    "IHA (low-rank eps=1e-2)": "IHA, low rank 0.01",
    "IHA (low-rank eps=1e-1)": "IHA, low rank 0.1",
    "IHA (low-rank eps=2e-1)": "IHA, low rank 0.2",
    "IHA (damping eps=1e-2)": "IHA, damping 0.01",
    "IHA (damping eps=1e-1)": "IHA, damping 0.1",
    "IHA (damping eps=2e-1)": "IHA, damping 0.2",
}


# The paper's choice; the table has it less each of the others, paired.
BEST = "IHA (damping eps=2e-1)"


def most_asked(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> list[Evaluation]:
    """The data sets of the sweep, each by its numbers over every record where there are any."""
    by_label = {evaluation.label: evaluation for evaluation in whole}
    return [by_label.get(evaluation.label, evaluation) for evaluation in swept]


def table_8(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> pd.DataFrame:
    """Damping against low rank (Table 8); columns as `table_2`, AUC only.

    Where few records are asked, the same of every target, the errors are over records too.
    """
    rows, evaluations = [], most_asked(swept, whole)
    for evaluation in evaluations:
        for attack, name in CONDITIONINGS.items():
            if evaluation.has(name):
                key = {"dataset": evaluation.label, "attack": attack, "metric": "AUC"}
                rows.append({**key, **_over_records_too(evaluation, name)})
        known = [attack for attack, name in CONDITIONINGS.items() if evaluation.has(name)]
        if BEST in known:
            rows += [
                evaluation.less(BEST, other, CONDITIONINGS) for other in known if other != BEST
            ]
    return table_of(rows, evaluations)


def _over_records_too(evaluation: Evaluation, name: str) -> dict[str, float]:
    """The AUC of one attack with the error of its targets and records, as degrees of the fewer.

    Where every record was asked, over the targets alone.
    """
    if evaluation.is_whole:
        return over_models(evaluation.aucs(name), 1.0, units=evaluation.units)
    estimate = columns(auc(evaluation.scores(name), evaluation.member, evaluation.units).interval())
    degrees = min(estimate["degrees_of_freedom"], estimate["n_repeats"] - 1)
    half = float(t.ppf(0.975, degrees)) * estimate["standard_error"]
    ends = {"low": estimate["value"] - half, "high": estimate["value"] + half}
    return {**estimate, **ends, "degrees_of_freedom": degrees}


def control_2(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> pd.DataFrame:
    """The damping, over three orders of magnitude (iha-ctl-2)."""
    rows, evaluations = [], most_asked(swept, whole)
    for evaluation in evaluations:
        for damping in DAMPINGS:
            for series in LEARNT_BY:
                name = f"{series}, damping {damping:g}"
                if evaluation.has(name):
                    key = {"panel": f"{evaluation.label}: AUC", "damping": damping}
                    key |= {"series": series, "metric": "AUC"}
                    auc = over_models(evaluation.aucs(name), 1.0, units=evaluation.units)
                    rows.append(key | auc)
    return table_of(rows, evaluations)


def published_dampings(table: pd.DataFrame) -> pd.DataFrame:
    """The dampings of Table 8 as points of `control_2`, for the paper's data sets."""
    printed = published.table("iha_table8")
    printed = printed[printed["attack"].str.contains("damping")]
    panels = [f"{name}: AUC" for name in printed["dataset"]]
    points = pd.DataFrame(
        {
            "panel": panels,
            "damping": [float(name.split("=")[1].rstrip(")")) for name in printed["attack"]],
            "series": "IHA",
            "value": printed["value"].astype(float).to_numpy(),
        }
    )
    return points[points["panel"].isin(table["panel"])].reset_index(drop=True)


def drawn(table: pd.DataFrame) -> "Figure":
    from membership import plots

    printed = published_dampings(table)
    return plots.lines_with_intervals(
        table, x="damping", by="series", panel="panel", published=printed, log_x=True
    )


REPEATS = 3
QUERIES, QUERIES_CG = 100, 8
# Epochs that are timed of a reference model, and models where many are trained side by side.
TIMED_EPOCHS, SIDE_BY_SIDE = 2, 32
CASES = ("IHA", "IHA (Approx)", "LiRA", "LiRA, side by side", "LOSS")

Variables = dict[str, tuple[tuple[str, ...], Any]]


@dataclass(frozen=True)
class Cost:
    """Seconds before the first record and for each, and the bytes held before it and after."""

    before: float
    each: float
    held: float
    held_after: float


def measured(trained: Trained, settings: Settings) -> Variables:
    """The attacks on the first model of an ensemble, each in turn, three times over.

    LiRA's reference models are those of the settings: one after the other, or many side by side;
    their time is that of a few epochs, scaled to all.
    """
    of = {
        "IHA": lambda: _exact(trained, settings.damping),
        "IHA (Approx)": lambda: _by_cg(trained, settings.damping),
        "LiRA": lambda: _lira(trained, settings, 1),
        "LiRA, side by side": lambda: _lira(trained, settings, SIDE_BY_SIDE),
        "LOSS": lambda: _loss(trained),
    }
    costs = np.array([[astuple(of[name]()) for _ in range(REPEATS)] for name in CASES])
    names = [field.name for field in fields(Cost)]
    return {
        "attack": (("case",), np.array(CASES)),
        "reference_models": ((), np.int32(settings.n_models)),
        **{name: (("case", "repeat"), costs[:, :, i]) for i, name in enumerate(names)},
    }


def _exact(trained: Trained, damping: float) -> Cost:
    """One Cholesky factor of the Hessian, and what IHA makes of it for each record."""
    queries = trained.queries[:QUERIES]
    train, query = training_records(trained, 0), records(trained, queries)
    goal = objective(trained.ensemble.module(0), trained.task.config.loss_of, *train)
    x, y = goal.records(*train)

    def factor(amount: float) -> Factor | None:
        matrix = hessian_matrix(goal, x, y)
        matrix.diagonal().add_(amount)
        return Factor(matrix) if factorised(matrix) else None

    cholesky, before, held = _first_that_does(factor, damping)

    def score() -> None:
        forms_of(views(goal, train, query), [Factors(cholesky, cholesky)], 0.0)

    _, after, held_after = _timed(score)
    return Cost(before, after / len(queries), held, held_after)


def _first_that_does(work: Callable[[float], Any], damping: float) -> tuple[Any, float, float]:
    """As `_timed`, of what work gives at a damping, or at the first larger one that gives some."""
    while True:
        result, seconds, held = _timed(functools.partial(work, damping))
        if result:
            return result, seconds, held
        damping *= 2


def _by_cg(trained: Trained, damping: float) -> Cost:
    """Conjugate gradients, which need nothing beforehand."""
    queries = trained.queries[:QUERIES_CG]
    arguments = (
        trained.ensemble.module(0),
        trained.task.config.loss_of,
        training_records(trained, 0),
        records(trained, queries),
        trained.task.membership[0, queries],
    )

    def score(amount: float) -> bool:
        try:
            attacks.iha(*arguments, **trained.recipe, damping=amount, solver="cg")
        except InputError:
            return False
        return True

    _, after, held_after = _first_that_does(score, damping)
    return Cost(0.0, after / len(queries), 0.0, held_after)


def _lira(trained: Trained, settings: Settings, at_once: int) -> Cost:
    """The reference models, so many at once, and the scores that they give."""
    task, count = trained.task, settings.n_models
    config = replace(task.config, epochs=min(TIMED_EPOCHS, task.config.epochs))
    members = halves(2 * SIDE_BY_SIDE, len(task.pool), settings.seed)[:at_once]
    with TemporaryDirectory() as folder:
        _, seconds, held = _timed(
            lambda: training.train(
                task.factory,
                task.pool,
                members,
                config,
                range(at_once),
                device=trained.device,
                cache_folder=Path(folder),
                progress=False,
            )
        )
    before = seconds * task.config.epochs / config.epochs * count / at_once
    queries = trained.queries[:QUERIES]
    n_trained, pool = len(trained.ensemble), task.pool
    scaled, answered, held_after = _timed(
        lambda: scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries])
    )
    # As many answers as there are reference models, no two alike: a fit takes as long with any.
    models = np.arange(count)
    answers = scaled[models % n_trained] + 1e-3 * models[:, None]
    among = models[:, None] % 2 == np.arange(len(queries)) % 2
    _, fitted, _ = _timed(lambda: attacks.lira(scaled[0], answers, among))
    after = answered * count / n_trained + fitted
    return Cost(before, after / len(queries), held, held_after)


def _loss(trained: Trained) -> Cost:
    """One pass forward."""
    queries = trained.queries[:QUERIES]
    model, query = trained.ensemble.module(0), records(trained, queries)

    def score() -> None:
        with torch.no_grad():
            attacks.malt(trained.task.config.loss_of(model(query[0]), query[1]).numpy())

    _, after, held_after = _timed(score)
    return Cost(0.0, after / len(queries), 0.0, held_after)


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What work gives, its seconds, and the bytes that it held more than before (NaN: unknown)."""
    before = memory.reset_peak()
    result, seconds = timed(work)
    return result, seconds, memory.peak() - before


# Records that conjugate gradients are asked about, by profile.
SOLVED = {"tiny": 60, "quick": 100, "paper": 10_000}
BITS = 2


def by_cg(trained: Trained, observed: list[dict[str, np.ndarray]], settings: Settings) -> Variables:
    """How far IHA's scores by conjugate gradients are from the exact ones, for every target.

    Both are computed at gathering from the same model; of the small difference a few bits do.
    """
    queries = trained.sample_queries(SOLVED[settings.profile])
    rows, apart = np.searchsorted(trained.queries, queries), []
    for target, observation in zip(trained.targets, observed, strict=True):
        member = trained.task.membership[target, queries]
        cg = attacks.iha(
            trained.ensemble.module(target),
            trained.task.config.loss_of,
            training_records(trained, target),
            records(trained, queries),
            member,
            **trained.recipe,
            damping=float(observation["amount"][0]),
            solver="cg",
        )
        forms = dict(zip(TERMS, observation["main"][0][:, rows], strict=True))
        how = (cg.loss, member, trained.task.n_members, *trained.recipe.values())
        apart.append(_few_bits(cg.score - iha_from_forms(forms, *how).score))
    return {
        "difference": (("target", "query"), np.array(apart)),
        "query": (("query",), queries.astype(np.int32)),
    }


def _few_bits(values: np.ndarray) -> np.ndarray:
    """Numbers right to a fifth, whose few bits of mantissa compress."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**BITS) / 2**BITS, exponent).astype(np.float32)


MEGABYTE = 1e6


def table_3(evaluations: Sequence[Evaluation], solved: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Exact scores against conjugate gradients on the same records (Table 3)."""
    rows, sizes, queried, count = [], [], {}, {}
    for evaluation, solution in zip(evaluations, solved, strict=True):
        places = np.searchsorted(evaluation.outputs["record"].values, solution["query"].values)
        exact = np.stack(evaluation.scores("IHA"))[:, places]
        member = [truth[places] for truth in evaluation.member]
        difference = solution["difference"].values.astype(float)
        cg = exact + difference
        for attack, parts in {"IHA (Exact)": exact, "IHA (CG)": cg}.items():
            key = {"dataset": evaluation.label, "attack": attack}
            rows += scores.measured(key, parts, member, units=evaluation.units)
        apart = (np.abs(cg - exact).max(1) / np.abs(exact).max(1)).tolist()
        key = {"dataset": evaluation.label, "attack": "IHA (CG)"}
        key |= {"metric": "largest difference from exact, relative"}
        rows.append(key | scores.over_models(apart, units=evaluation.units))
        sizes.append(
            f"{evaluation.label}: {len(places):,} records asked of each of {len(exact)} models "
            "(the paper: 10,000 records)"
        )
        queried[evaluation.label] = {
            "queried_members": min(int(truth.sum()) for truth in member),
            "queried_non_members": min(int((~truth).sum()) for truth in member),
        }
        count[evaluation.label] = len(places)
    table = table_of(rows, evaluations, sizes)
    for label, facts in queried.items():
        table.attrs["setup"][label] |= facts
    table.attrs["asked"] = count
    return table


def beside(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Table 3, or Table 6 of another machine, beside the published one."""
    reference = published.reference(name)
    # For Purchase-100(S) the paper has neither table, so Purchase-100 stands beside it.
    if "Purchase-100" not in {setup["published"] for setup in table.attrs["setup"].values()}:
        reference["dataset"] = reference["dataset"].replace({"Purchase-100": "Purchase-100(S)"})
    return scores.judged(table, reference)


def table_6(timings: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Time and memory of the attacks on one model (Table 6), as measured when it was gathered."""
    (costs,) = timings
    models, p = int(costs["reference_models"]), costs.attrs["recipe"]["parameters"]
    times = {part: costs[part].values for part in ("before", "each", "held", "held_after")}
    whole = times["before"] + 1000 * times["each"]
    exact = whole[list(costs["attack"].values).index("IHA")]
    entries = []
    for case, attack in enumerate(map(str, costs["attack"].values)):
        peak = [float(np.max(times[part][case])) / MEGABYTE for part in ("held", "held_after")]
        numbers = {
            "precompute time (s)": times["before"][case],
            "time per sample (s)": times["each"][case],
            "time for 1000 samples (s)": whole[case],
            subjects.RATIO: whole[case] / exact,
            "memory precompute (MB)": peak[:1],
            "memory runtime (MB)": peak[1:],
            "memory max (MB)": [max(peak)],
        }
        key = {"dataset": costs.attrs["set"], "attack": attack}
        entries += [{**key, "metric": m, **_over_timings(v)} for m, v in numbers.items()]
    rows = [row for row in entries if not np.isnan(row["value"])]
    size = f"{p:,} parameters (the paper: 22,532), {models} reference models (the paper: 128)"
    # One model is attacked; the others are timed and not kept.
    few = of_models(costs.attrs["n_models"])
    kept = [text for text in costs.attrs["deviations"] if text != few]
    attributes = origin(
        [costs.assign_attrs(deviations=kept)], size, *design([]), named=True, timing=True
    )
    attributes["setup"][costs.attrs["set"]] |= {"reference_models": models}
    return tidy(rows, attributes)


def _over_timings(values: Any) -> dict[str, float]:
    """The mean of several timings with its interval; one number stands by itself."""
    if len(values) == 1 or np.ptp(values) == 0:
        return metrics.exactly(float(values[0]))
    return metrics.summary(values, lowest=0.0)
