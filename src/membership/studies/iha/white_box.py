"""Every white-box score of a target, from one look at its gradients and one decomposition."""

import ast
from pathlib import Path

import numpy as np
import torch

from membership import attacks, curvature
from membership.attacks.iha_terms import iha_from_view
from membership.attacks.influence import sif_from_view
from membership.attacks.residual import residual_from_view
from membership.attacks.white_box import OthersGradient, WhiteBoxView, others_gradient, views
from membership.curvature.eigen import Spectrum, spectrum_of
from membership.curvature.gradients import mean_gradient
from membership.curvature.objective import Objective, objective
from membership.metrics.arrays import BoolArray, FloatArray
from membership.studies.iha.ensembles import Trained
from membership.training import cache

DAMPINGS = (0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
RANKS = (0.01, 0.1, 0.2)
FRACTIONS = (0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
ATTACK_FILES = ("iha_terms", "influence", "residual", "white_box")
CURVATURE_FILES = ("eigen", "gradients", "hessians", "layered", "objective")
TERMS = ("loss", "i1", "i2", "i3", "i4")
LEARNT_BY = {"IHA": "published", "IHA*": "regularised"}
"""The corrected attack has a name of its own wherever it appears."""

Scores = dict[str, FloatArray]


def white_box(trained: Trained, target: int, damping: float) -> Scores:
    """Scores of the records that a target is asked about, by name; cached.

    Parameters
    ----------
    trained : Trained
    target : int
        The model attacked.
    damping : float
        Of every score whose name does not say another.

    Returns
    -------
    dict of str to ndarray of shape (queries,)
        IHA and IHA* with their controls, "IHA damping 0.5" and so on, the paper's terms under
        their names in `TERMS`; and ``eigenvalues``, of shape (p,), and the ``damping`` used,
        which is raised where the Hessian has a negative eigenvalue as large, and ``norms``: of the
        gradient, of it with the weight decay, and of the weight decay.
    """
    task, queries = trained.task, trained.queries(target)
    state = {name: values[target] for name, values in trained.ensemble.parameters.items()}
    seen = task.membership[target]
    key = cache.digest(
        [code_digest(), repr(task.config), damping, trained.seed],
        task.origin,
        *(part for name in sorted(state) for part in (name, state[name])),
        queries,
        seen,
    )
    store = cache.Cache()
    found = store.load(key)
    if found is None:
        scores = _scored(trained, target, damping)
        found = {name: torch.as_tensor(values) for name, values in scores.items()}
        store.save(key, found)
    return {name: values.numpy() for name, values in found.items()}


def recipe(trained: Trained) -> dict[str, float]:
    """What IHA needs to know of the training: the initial learning rate, as the released code."""
    config = trained.task.config
    return {
        "learning_rate": config.learning_rate,
        "momentum": config.momentum,
        "weight_decay": config.weight_decay,
    }


def training_records(trained: Trained, target: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the records that a target was trained on.

    Parameters
    ----------
    trained : Trained
        A data set with its models.
    target : int
        Row of the membership mask.

    Returns
    -------
    tuple of torch.Tensor
        x of shape (members, ...) and y of shape (members,), copies on the CPU.
    """
    return records(trained, np.flatnonzero(trained.task.membership[target]))


def records(trained: Trained, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return some records of the pool.

    Parameters
    ----------
    trained : Trained
        A data set with its models.
    rows : ndarray of int, shape (records,)
        Row numbers within the pool.

    Returns
    -------
    tuple of torch.Tensor
        x of shape (records, ...) and y of shape (records,), copies on the CPU.
    """
    pool = trained.task.pool
    return torch.tensor(pool.x[rows]), torch.tensor(pool.y[rows])


def allowed(values: FloatArray, dampings: tuple[float, ...] = DAMPINGS) -> list[float]:
    """The dampings that leave every eigenvalue positive."""
    return [damping for damping in dampings if values.min() + damping > 0]


def enough(values: FloatArray, damping: float) -> float:
    """The damping, or a larger one where it would leave an eigenvalue at or below half of it."""
    return max(damping, damping / 2 - 1.1 * float(values.min()))


def _scored(trained: Trained, target: int, damping: float) -> Scores:
    queries = trained.queries(target)
    member = trained.task.membership[target, queries]
    train, query = training_records(trained, target), records(trained, queries)
    goal = objective(trained.ensemble.module(target), trained.task.config.loss_of, *train)
    spectrum = spectrum_of(goal, *goal.records(*train))
    damping = enough(spectrum.values, damping)
    known = _known(trained, target, goal, spectrum)
    parts, first = [], 0
    for view in views(goal, train, query, spectrum):
        rows = slice(first, first + len(view.loss))
        parts.append(_of_view(view, member[rows], spectrum.values, recipe(trained), damping))
        parts[-1] |= _partial(view, queries[rows], member[rows], known, trained, spectrum, damping)
        first = rows.stop
    scores = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    decay = trained.task.config.weight_decay * view.weight
    sizes = [view.mean_gradient, view.mean_gradient + decay, decay]
    return {
        **scores,
        "eigenvalues": spectrum.values,
        "damping": np.array([damping]),
        "norms": np.array([np.linalg.norm(size) for size in sizes]),
    }


def _of_view(
    view: WhiteBoxView, member: BoolArray, values: FloatArray, how: dict[str, float], damping: float
) -> Scores:
    """Every score that needs no other gradients than the view's."""
    knowledge = ("leave-one-out", "everyone", "everyone-less-own")
    others = {name: others_gradient(view, member, name) for name in knowledge}
    true = others["leave-one-out"]
    found: Scores = {"LOSS": attacks.malt(view.loss), "SIF": sif_from_view(view, values, damping)}
    for name, stationarity in LEARNT_BY.items():
        each = {
            known: iha_from_view(
                view, gradient, values, **how, damping=damping, stationarity=stationarity
            )
            for known, gradient in others.items()
        }
        found[name] = each["leave-one-out"].score
        found[f"{name}, everyone"] = each["everyone"].score
        found[f"{name}, everyone less own"] = each["everyone-less-own"].score
        if name == "IHA":
            found |= {term: getattr(each["leave-one-out"], term) for term in TERMS}
        for other in allowed(values):
            score = iha_from_view(
                view, true, values, **how, damping=other, stationarity=stationarity
            ).score
            found[f"{name}, damping {other:g}"] = score
        identity = iha_from_view(view, true, None, **how, stationarity=stationarity)
        found[f"{name}, identity"] = identity.score
    for rank in RANKS:
        score = iha_from_view(view, true, values, **how, damping=rank, conditioning="low-rank")
        found[f"IHA, low rank {rank:g}"] = score.score
    for statistic in ("norm", "cosine"):
        for known in ("leave-one-out", "everyone"):
            suffix = "" if known == "leave-one-out" else ", everyone"
            found[f"residual {statistic}{suffix}"] = residual_from_view(
                view, others[known], how["weight_decay"], statistic
            )
    found["size of the others"] = _others_size(view, true)
    return found


def _others_size(view: WhiteBoxView, others: OthersGradient) -> FloatArray:
    r"""How far :math:`\|\nabla L_0\|` is from :math:`\|\nabla L_1\|`: it does not look at z."""
    mean2 = others.mean @ others.mean
    squared = (
        others.scale**2 * mean2
        + 2 * others.scale * others.own * (view.gradient @ others.mean)
        + others.own**2 * np.square(view.gradient).sum(axis=1)
    )
    return np.abs(np.sqrt(np.maximum(squared, 0)) - np.sqrt(mean2))


def _known(
    trained: Trained, target: int, goal: Objective, spectrum: Spectrum
) -> list[tuple[float, np.ndarray, FloatArray]]:
    """For each fraction: the members known, and their mean gradient in the eigenbasis."""
    rng = np.random.default_rng([trained.seed, 13, target])
    order = rng.permutation(np.flatnonzero(trained.task.membership[target]))
    found = []
    for fraction in FRACTIONS:
        chosen = order[: max(2, round(fraction * len(order)))]
        mean = mean_gradient(goal, *goal.records(*records(trained, chosen)))
        found.append((fraction, chosen, spectrum.rotate(mean).cpu().numpy()))
    return found


def _partial(
    view: WhiteBoxView,
    queries: np.ndarray,
    member: BoolArray,
    known: list[tuple[float, np.ndarray, FloatArray]],
    trained: Trained,
    spectrum: Spectrum,
    damping: float,
) -> Scores:
    """IHA where the gradient over the others comes from some of the training records only.

    "fraction": the adversary removes z from the records that it knows where z is one of them.
    "fraction, released": g/n is taken away for every member, known or not, as in the released
    code (which also estimates the Hessian from the fraction; here it is that of all records).
    """
    found, one = {}, np.ones(len(queries))
    for fraction, chosen, mean in known:
        own = {
            "fraction": np.where(np.isin(queries, chosen), -1 / len(chosen), 0.0),
            "fraction, released": np.where(member, -1 / view.n_train, 0.0),
        }
        for name, less in own.items():
            others = OthersGradient(mean, one, less)
            found[f"{name} {fraction:g}"] = iha_from_view(
                view, others, spectrum.values, **recipe(trained), damping=damping
            ).score
    return found


def code_digest() -> list[str]:
    """The code that the scores depend on, so that a change of it computes them anew."""
    places = ((attacks, ATTACK_FILES), (curvature, CURVATURE_FILES))
    files = [Path(room.__file__).parent / f"{name}.py" for room, names in places for name in names]
    files.append(Path(__file__))
    return [_without_docstrings(path.read_text(encoding="utf-8")) for path in files]


def _without_docstrings(source: str) -> str:
    """What a file computes: its syntax tree without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del body[0]
    return ast.dump(tree)
