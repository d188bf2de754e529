r"""Models of the clean game at scale: on D' and on D' + z, for many z and several D'.

Every model is logistic regression with one logit, so that its Hessian is small and the models of
one D' can be trained side by side. Models on D' + z of one seed share their batches over the
records z of that D'; the models of one record are independent, and so are those on D' alone.

What the models of the clean game at scale say of their records: log-odds, forms, projections.

Everything is taken over D', whichever way the coin fell. The models of one D' lie close together,
so that a system with one model's damped Hessian is solved by refinement with the inverse of
another's, that of the mean of the models on D': a few products instead of a Hessian a model.

**Projections.** Adding z moves the minimum by :math:`-(H + \alpha)^{-1} g / n`, and two normal laws
with one covariance :math:`\Sigma` whose means differ by that are told apart by
:math:`-\langle w, \Sigma^{-1} (H + \alpha)^{-1} g \rangle` and by nothing else. Where the noise of
SGD has a covariance proportional to H and the rate is constant and small, as in the paper's
Theorem 3.1, :math:`\Sigma` is a multiple of the identity, and :math:`H^{-1} g` is left; that is
"damping". A rate that falls to zero leaves more noise along flat directions, and along the flattest
the start is not forgotten. "Fitted noise" is for that: in the eigenbasis of H the spread v of the
reference models, smoothed over neighbouring eigenvalues, stands for :math:`\Sigma`, and the move is
that of gradient descent for the time S that training lasted, :math:`(1 - e^{-S k}) / k` times g / n
for an eigenvalue k of :math:`H + \alpha`. The same move over the same noise says how far apart the
laws of the projection and of the log-odds should be: what a linear theory expects of both.
"""

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
import xarray as xr

from membership import evidence, training
from membership.arrays import FloatArray
from membership.attacks.forms import TERMS
from membership.book.studies.iha import experiment, forms, subjects
from membership.book.studies.iha.experiment import about_task
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject
from membership.curvature.inverse import enough
from membership.errors import RunError

SIDES = ("without", "with")
Schedule = Literal["cosine", "constant"]


@dataclass(frozen=True)
class Size:
    """How large a game is: `n_train` records in each of `n_others` sets D', and so on."""

    n_train: int
    n_others: int
    n_records: int
    n_models: int
    epochs: int


SMALL, QUICK = Size(100, 2, 3, 4, 20), Size(300, 3, 6, 8, 200)
# As many steps as the paper's 80 epochs of 30,000 records have, nearly: 480 of 40 for 80 of 235.
LARGE = Size(5000, 5, 40, 32, 480)
# One D', as large as the paper's.
SMALL_ONE, QUICK_ONE = Size(100, 1, 4, 8, 20), Size(300, 1, 8, 12, 100)
WHOLE = Size(30_000, 1, 200, 64, 80)


@dataclass(frozen=True)
class Game:
    """The records and the recipe of one game.

    Attributes
    ----------
    task : experiment.Task
        Its pool holds all records, its configuration trains every model.
    base : numpy.ndarray of int, shape (D', n)
        Rows of each D' in the pool; no two share a record.
    added : numpy.ndarray of int, shape (D', R)
        Rows of the records z that are played for with it.
    size : Size
    """

    task: experiment.Task
    base: np.ndarray
    added: np.ndarray
    size: Size

    def records(self, rows: np.ndarray, dtype: Any = torch.float32) -> tuple[torch.Tensor, ...]:
        """Some records of the pool, flat, with their labels."""
        x = torch.tensor(self.task.pool.x[rows], dtype=dtype).flatten(1)
        return x, torch.tensor(self.task.pool.y[rows])


def set_up(name: str, settings: Settings, schedule: Schedule | None = None) -> Game:
    """Draw the sets D' and the records that are played for; with a schedule, at the paper's size.

    The sets do not depend on the schedule.
    """
    task = experiment.task(Subject(name, n_models=2), settings)
    size = size_of(name, settings, whole=schedule is not None)
    per_set = size.n_train + size.n_records
    order = np.random.default_rng([settings.seed, 41]).permutation(len(task.pool))
    drawn = order[: size.n_others * per_set].reshape(size.n_others, per_set)
    base, added = np.sort(drawn[:, : size.n_train]), np.sort(drawn[:, size.n_train :])
    epochs = min(settings.epochs, size.epochs) if settings.epochs else size.epochs
    config = replace(task.config, epochs=epochs, schedule=schedule or task.config.schedule)
    return Game(replace(task, config=config), base, added, size)


def size_of(name: str, settings: Settings, *, whole: bool) -> Size:
    """The size of a game by data set and profile."""
    if name != subjects.EMBEDDED:
        return WHOLE if whole else LARGE
    if settings.profile == "tiny":
        return SMALL_ONE if whole else SMALL
    return QUICK_ONE if whole else QUICK


def weights(game: Game, settings: Settings) -> dict[str, FloatArray]:
    """Final weights by side: "without", shape (D', K, p), and "with", (D', R, K, p)."""
    places, seeds = range(game.size.n_others), range(game.size.n_models)
    items = [[place, side, seed] for place in places for side in SIDES for seed in seeds]
    inputs = [game.task.pool.x[game.base], game.task.pool.x[game.added]]
    inputs += [game.task.pool.y[game.base], game.task.pool.y[game.added]]
    determined = (asdict(game.task.config), settings.seed, settings.device, *inputs)
    look = functools.partial(_trained, game, settings.seed, settings.device)
    parts = evidence.in_parts(look, items, *determined)
    by = {tuple(item): part["weight"] for item, part in zip(items, parts, strict=True)}
    without, having = (
        np.array([[by[place, side, seed] for seed in seeds] for place in places]) for side in SIDES
    )
    return {"without": without[:, :, 0], "with": having.swapaxes(1, 2)}


def _trained(game: Game, seed: int, device: str, item: list) -> dict[str, np.ndarray]:
    """One model on D', or one for each z on D' + z, all with the same batches."""
    place, side, number = item
    # Every order of batches and every start has a seed of its own.
    index = (place * len(SIDES) + SIDES.index(side)) * game.size.n_models + number
    order = seed * 1_000_000 + index
    where = training.device_of(device)
    x, y = (part.to(where) for part in game.records(game.base[place]))
    if side == "without":
        return {"weight": training.train_neighbours(x, y, None, game.task.config, order, [order])}
    added = tuple(part.to(where) for part in game.records(game.added[place]))
    starts = [(seed + 1) * 10_000_000 + 1000 * index + r for r in range(len(added[0]))]
    return {"weight": training.train_neighbours(x, y, added, game.task.config, order, starts)}


def pairs(subject: Subject, settings: Settings, schedule: Schedule | None = None) -> xr.Dataset:
    """Evidence of the kind pairs: every model asked about the record that it is played for."""
    game = set_up(subject.name, settings, schedule)
    by_side = weights(game, settings)
    of_one = functools.partial(look, game, settings.damping, by_side)
    determined = (settings.damping, asdict(game.task.config), *by_side.values())
    parts = evidence.in_parts(of_one, list(range(game.size.n_others)), *determined)
    inverses = forms.main(settings.damping)
    log_odds = np.concatenate([part["log_odds"] for part in parts])
    return evidence.dataset(
        "pairs",
        {
            "answer": log_odds[..., None, None],
            "form": np.concatenate([part["form"] for part in parts]),
            "accuracy": np.stack([part["accuracy"] for part in parts]),
        },
        {
            "record": game.added.ravel(),
            "side": list(SIDES),
            "replicate": np.arange(game.size.n_models),
            "inverse": [*(inverse.label for inverse in inverses), subjects.FITTED],
            "term": list(KINDS),
        },
        inverses=forms.described(inverses),
        damping=[float(part["damping"]) for part in parts],
        **about(game, settings),
    )


def about(game: Game, settings: Settings) -> dict[str, Any]:
    """The attributes of evidence gathered from the models of a game."""
    attributes = about_task(game.task)
    kept = {name: attributes[name] for name in ("set", "published", "data", "recipe", "pool")}
    size = game.size
    return {
        **kept,
        "recipe": {**attributes["recipe"], "members": size.n_train},
        # Which D' each record is played for with.
        "others": np.repeat(np.arange(size.n_others), size.n_records).tolist(),
        "seed": settings.seed,
        "device": str(training.device_of(settings.device)),
    }


KINDS = (*TERMS, *subjects.NORMS, *subjects.PROJECTED, *subjects.EXPECTED)
TOLERANCE, MOST_ROUNDS = 1e-5, 60
CHUNK = 8
# Neighbouring eigenvalues over which the noise along their directions is averaged, in logarithms.
SMOOTHED = 25

Solver = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Logistic:
    """Squared error of one-logit models over the records of D', shape (n, p), the bias last."""

    x: torch.Tensor
    y: torch.Tensor

    @classmethod
    def of(cls, x: torch.Tensor, y: torch.Tensor) -> "Logistic":
        """Records (n, p - 1) with their labels."""
        return cls(torch.cat([x, torch.ones_like(x[:, :1])], 1), y.to(x))

    def slopes(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """First and second derivative of each loss by its logit, (m, n), for weights (m, p)."""
        p = torch.sigmoid(weight @ self.x.T)
        spread = p * (1 - p)
        return 2 * (p - self.y) * spread, 2 * spread * (spread + (p - self.y) * (1 - 2 * p))

    def mean_gradients(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the mean loss, (m, p), and that loss, (m,)."""
        p = torch.sigmoid(weight @ self.x.T)
        error = p - self.y
        loss = (error**2).mean(1)
        first = error.mul_(2).mul_(p.mul_(1 - p))
        return first @ self.x / len(self.x), loss

    def mean_gradient(self, weight: torch.Tensor) -> torch.Tensor:
        """Of the mean loss, (m, p)."""
        return self.slopes(weight)[0] @ self.x / len(self.x)

    def gradients(self, weight: torch.Tensor) -> torch.Tensor:
        """Of every record's loss, (m, n, p)."""
        return self.slopes(weight)[0][:, :, None] * self.x

    def hessian(self, weight: torch.Tensor) -> torch.Tensor:
        """Of the mean loss at weights (p,)."""
        second = self.slopes(weight[None])[1][0]
        return self.x.T @ (self.x * second[:, None]) / len(self.x)

    def solver(self, weight: torch.Tensor, shift: float, near: torch.Tensor) -> Solver:
        """Solves (H + shift) v = b for b (m, q, p), H at weights (m, p), `near` its inverse nearly.

        In float32: what is solved for is kept in no more digits.
        """
        x, near = self.x.float(), near.float()
        second = (self.slopes(weight)[1] / len(x)).float()[:, None, :]

        def solve(vectors: torch.Tensor) -> torch.Tensor:
            b = vectors.float()
            v, size = b @ near, b.norm(dim=-1).clamp_min(torch.finfo(b.dtype).tiny)
            for _ in range(MOST_ROUNDS):
                rest = b - ((v @ x.T) * second) @ x - shift * v
                if bool((rest.norm(dim=-1) <= TOLERANCE * size).all()):
                    return v.to(vectors)
                v = v + rest @ near
            raise RunError("a damped Hessian of the clean game could not be solved with")

        return solve


def look(game: Game, damping: float, by_side: dict[str, np.ndarray], place: int) -> dict:
    """What is kept of the models of the D' at a place, their weights `by_side` as in `weights`.

    Returns
    -------
    dict of numpy.ndarray
        By record, side and replicate ``log_odds`` (R, 2, K) and ``form`` (R, 2, K, inverses and
        "fitted noise", `KINDS`); ``accuracy`` (K,) of the models on D', in percent, and
        the ``damping`` used.
    """
    base = Logistic.of(*game.records(game.base[place], torch.float64))
    queried = Logistic.of(*game.records(game.added[place], torch.float64))
    out = torch.tensor(by_side["without"][place]).double()
    ins = torch.tensor(by_side["with"][place]).double()
    values, basis = torch.linalg.eigh(base.hessian(out.mean(0)))
    amount = enough(values.numpy(), damping)
    near = basis @ torch.diag(1 / (values + amount)) @ basis.T
    inverses = forms.main(damping)
    form = np.full((len(queried.x), 2, len(out), len(inverses) + 1, len(KINDS)), np.nan)
    how = (base, game.task.config.weight_decay, amount, near)
    for chunk in torch.arange(len(out)).split(CHUNK):
        # A model on D' is asked about every z.
        gradient = queried.gradients(out[chunk])
        form[:, 0, chunk] = _forms(out[chunk], gradient, *how).transpose(1, 0, 2, 3)
    for replicate in range(ins.shape[1]):
        weight = ins[:, replicate]
        own = queried.slopes(weight)[0].diagonal()[:, None, None] * queried.x[:, None]
        form[:, 1, replicate] = _forms(weight, own, *how)[:, 0]
    _project(form, base, queried, out, ins, amount, game.task.config)
    _expect(form, base, queried, out, game.task.config)
    sign = 2 * queried.y - 1
    with_z = torch.einsum("rkp,rp->rk", ins, queried.x) * sign[:, None]
    log_odds = torch.stack([(queried.x @ out.T) * sign[:, None], with_z], 1)
    accuracy = _accuracy(game, place, out)
    shown = {"log_odds": log_odds.numpy(), "form": form, "accuracy": accuracy}
    return {**shown, "damping": np.array(amount)}


def _forms(
    weight: torch.Tensor,
    gradient: torch.Tensor,
    base: Logistic,
    decay: float,
    amount: float,
    near: torch.Tensor,
) -> np.ndarray:
    """Forms (m, q, inverses, kinds) of gradients (m, q, p), as `attacks.forms` defines them."""
    mean = base.mean_gradient(weight)[:, None]
    rest = mean + decay * weight[:, None]
    plain = base.solver(weight, amount, near)
    shifted = base.solver(weight, amount + decay, near)
    form = np.full((*gradient.shape[:2], 4, len(KINDS)), np.nan)

    def enter(inverse: int, **terms: torch.Tensor) -> None:
        for name, value in terms.items():
            form[:, :, inverse, TERMS.index(name)] = value.numpy()

    def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).sum(-1)

    solved = plain(torch.cat([gradient, mean], 1))
    a, m = solved[:, :-1], solved[:, -1:]
    b = plain(a)
    enter(0, own1=dot(gradient, a), own2=dot(a, a), own3=dot(a, b), mean2=dot(a, m))
    enter(0, mean3=dot(b, m))
    solved = shifted(torch.cat([gradient, rest], 1))
    a, r = solved[:, :-1], solved[:, -1:]
    b = plain(a)
    enter(1, own2=dot(a, a), own3=dot(a, b), rest2=dot(a, r), rest3=dot(b, r))
    enter(2, own2=dot(gradient, gradient), mean2=dot(gradient, mean), rest2=dot(gradient, rest))
    for name, vector in zip(subjects.NORMS, (mean, rest, decay * weight[:, None]), strict=True):
        form[:, :, 2, KINDS.index(name)] = vector.norm(dim=-1).numpy()
    return form


def _project(
    form: np.ndarray,
    base: Logistic,
    queried: Logistic,
    out: torch.Tensor,
    ins: torch.Tensor,
    amount: float,
    config: Any,
) -> None:
    """Enter the projections of all models, higher where the record was trained on in theory."""
    for half, name in enumerate(subjects.PROJECTED):
        reference = out[half::2]
        centre = reference.mean(0)
        values, basis, noise, moved = _law(base, reference, config)
        gradient = queried.gradients(centre[None])[0] @ basis
        for place, factor in ((0, 1 / (values + amount)), (3, moved / noise)):
            direction = -(gradient * factor) @ basis.T
            at = (place, KINDS.index(name))
            form[:, 0, :, *at] = (direction @ (out - centre).T).numpy()
            form[:, 1, :, *at] = torch.einsum("rkp,rp->rk", ins - centre, direction).numpy()


def _expect(
    form: np.ndarray, base: Logistic, queried: Logistic, out: torch.Tensor, config: Any
) -> None:
    """Enter how far apart the two laws of parameters, and of outputs, should be."""
    _, basis, noise, moved = _law(base, out, config)
    move = moved * (queried.gradients(out.mean(0)[None])[0] @ basis) / (len(base.x) + 1)
    along = queried.x @ basis
    parameters = (move**2 / noise).sum(1).sqrt()
    outputs = (move * along).sum(1).abs() / (noise * along**2).sum(1).sqrt()
    for name, distance in zip(subjects.EXPECTED, (parameters, outputs), strict=True):
        form[:, :, :, 3, KINDS.index(name)] = distance.numpy()[:, None, None]


def _law(base: Logistic, reference: torch.Tensor, config: Any) -> tuple[torch.Tensor, ...]:
    """The eigenbasis of H at the mean of the references, their noise there, and a record's move.

    The move is by a unit of gradient.
    """
    steps = -(-len(base.x) // config.batch_size)
    time = sum(map(config.learning_rate_at, range(config.epochs))) * steps / (1 - config.momentum)
    centre = reference.mean(0)
    values, basis = torch.linalg.eigh(base.hessian(centre))
    noise = smoothed(((reference - centre) @ basis).var(0))
    k = values + config.weight_decay
    moved = torch.where(k.abs() * time < 1e-9, time, -torch.expm1(-time * k) / k)
    return values, basis, noise, moved


def smoothed(variance: torch.Tensor) -> torch.Tensor:
    """A moving average of the logarithms, over as many as there are within `SMOOTHED`."""
    width = min(SMOOTHED, len(variance)) // 2
    logs = variance.clamp_min(torch.finfo(variance.dtype).tiny).log()
    total = torch.cat([logs.new_zeros(1), logs.cumsum(0)])
    place = torch.arange(len(logs))
    first, last = (place - width).clamp_min(0), (place + width + 1).clamp_max(len(logs))
    return ((total[last] - total[first]) / (last - first)).exp()


def _accuracy(game: Game, place: int, weight: torch.Tensor) -> np.ndarray:
    """On records that no model has seen: the official test records where there are some."""
    task = game.task
    if task.test is None:
        seen = np.concatenate([game.base[place], game.added[place]])
        x, y = game.records(np.setdiff1d(np.arange(len(task.pool)), seen), torch.float64)
    else:
        x = torch.tensor(task.test.x, dtype=torch.float64).flatten(1)
        y = torch.tensor(task.test.y)
    unseen = Logistic.of(x, y)
    right = (weight @ unseen.x.T > 0) == (unseen.y > 0.5)
    return 100.0 * right.double().mean(1).numpy()
