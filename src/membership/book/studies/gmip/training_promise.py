"""The promise over all steps, attacked: trained without noise, and every step is seen."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import torch
import xarray as xr

from membership import evidence, metrics, plots, privacy
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip.experiment import Task, origin, task_of
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import observed, recipe_of
from membership.curvature import gradient_moments, whitening
from membership.metrics.rate_names import tpr_label
from membership.training.private import initial_weight, residual, with_constant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHERS = {"fresh": "found, records drawn anew", "fixed": "found, records fixed"}
PAIRED = "fresh less fixed"
GROUPS = {"all": 1.0, "upper twentieth of K": 0.05, "upper hundredth of K": 0.01}
LEVEL = "none: the level"
ASKED = {
    "all": "all records",
    "upper twentieth of K": "largest 5% of K",
    "upper hundredth of K": "largest 1% of K",
}
RATES = (0.001, 0.01, 0.1)
_SHOWN = tpr_label(0.1)
_FALSE_POSITIVES = 10  # expected, below which a rate is not told
RUNS = 3
_MEMBERS, _STRANGERS, _RENEWALS = 4000, 20_000, 12


def composed(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the attack on models of Figure 3 without noise, all of whose steps are seen."""
    task = task_of(name, settings)
    runs = min(settings.audit_models, RUNS)
    played = [
        [outcomes(attacked(task, run, kind, settings.seed)) for run in range(runs)]
        for kind in OTHERS
    ]
    players = cast(task, 0, settings.seed)
    dims = {"tpr": ("others", "run", "group", "rate"), "auc": ("others", "run", "group")}
    return evidence.dataset(
        "measured",
        {
            key: (dim, np.array([[outcome[key] for outcome in of_kind] for of_kind in played]))
            for key, dim in dims.items()
        },
        {"others": list(OTHERS), "group": list(GROUPS)},
        **origin(task, settings),
        sizes={
            "Attacked runs": str(runs),
            "Training records": f"{task.recipe.n_records:,}",
            "Steps": f"{task.steps:,}",
            "Members asked": f"{len(players.members):,}",
            "Strangers asked": f"{len(players.strangers):,}",
        },
    )


class Cast(NamedTuple):
    """Who plays: positions of members, of records never used, and of the law's records."""

    members: np.ndarray
    strangers: np.ndarray
    law: np.ndarray


def cast(task: Task, run: int, seed: int) -> Cast:
    """Members and strangers outside the records that stand for the distribution."""
    total = len(task.y)
    order = np.random.default_rng([seed, 14, run]).permutation(total)
    m, s = min(_MEMBERS, total // 20), min(_STRANGERS, int(0.35 * total))
    return Cast(order[:m], order[m : m + s], order[m + s :])


def attacked(task: Task, run: int, batches: str, seed: int) -> dict[str, np.ndarray]:
    """Train once at Table 4's sizes; each asked record's score, K and truth.

    The law of the records is that of a large part of the data, whose moments the attacker knows.
    "fresh": a member joins a batch by its own chance n / N, and the batch is filled with records
    drawn anew from the law, as the theorem has it. "fixed": the members and draws from the law
    make one training set of N records, of which every batch takes n.
    """
    players, r = cast(task, run, seed), task.recipe
    rng = np.random.default_rng([seed, 15, run, list(OTHERS).index(batches)])
    x, y = with_constant(task.features).double(), torch.tensor(task.y)
    queries = np.concatenate([players.members, players.strangers])
    generator = torch.Generator().manual_seed(seed + run)
    weight = initial_weight(r.classes, x.shape[1], generator).double()
    optimiser = torch.optim.Adam([weight], lr=r.learning_rate)
    watch = Watch(x, y, players.law, queries, r.batch_size, r.batch_size / r.n_records)
    for step, rows in enumerate(_batches(players, r, batches, rng)):
        weight.grad = _gradients(weight, x[rows], y[rows]).mean(axis=0).view(weight.shape)
        watch.at(step, r.steps, weight, weight.grad)
        optimiser.step()
    member = np.arange(len(queries)) < len(players.members)
    return {"score": watch.score, "susceptibility": watch.first, "member": member}


def _batches(players: Cast, r: Any, kind: str, rng: np.random.Generator) -> Iterator[np.ndarray]:
    n, n_members = r.batch_size, len(players.members)
    fixed = np.concatenate(
        [players.members, rng.choice(players.law, max(r.n_records - n_members, n))]
    )
    for _ in range(r.steps):
        if kind == "fixed":
            yield fixed[rng.permutation(len(fixed))[:n]]
        else:
            joined = players.members[rng.random(n_members) < n / r.n_records][:n]
            yield np.concatenate([joined, rng.choice(players.law, n - len(joined))])


def _gradients(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (residual(weight[None], x, y)[:, 0, :, None] * x[:, None, :]).flatten(1)


class Watch:
    """The attacker: moments of the law, renewed now and then, and a score of each asked record."""

    def __init__(
        self,
        x: torch.Tensor,
        y: torch.Tensor,
        law: np.ndarray,
        queries: np.ndarray,
        n: int,
        p: float,
    ) -> None:
        self.law, self.asked = (x[law], y[law]), (x[queries], y[queries])
        self.n, self.p = n, p
        self.score = np.zeros(len(queries))
        self.first: FloatArray = np.zeros(0)

    def at(self, step: int, steps: int, weight: torch.Tensor, published: torch.Tensor) -> None:
        """See one of so many steps, the moments renewed before it where they are due."""
        if step + 1 in np.geomspace(1, steps, _RENEWALS).round():
            self.renew(weight)
        self.see(weight, published)

    def renew(self, weight: torch.Tensor) -> None:
        """Take the covariance of the law's gradients at these weights, and each record's K."""
        width = weight.shape[1]
        # The last class's entries are what those of the others lack to zero.
        gradients = _gradients(weight, *self.law)[:, :-width].numpy()
        moments = gradient_moments(gradients)
        self.root = whitening(moments.covariance)
        of_queries = _gradients(weight, *self.asked)[:, :-width].numpy()
        self.k = np.square((of_queries - moments.mean) @ self.root).sum(axis=1)
        if not self.first.size:
            self.first = self.k / self.root.shape[1]

    def see(self, weight: torch.Tensor, published: torch.Tensor) -> None:
        """Add a step's log-likelihood ratio: of the mixture of in and out, against out."""
        n, rank = self.n, self.root.shape[1]
        mean = mean_gradient(weight, *self.law)
        shift = (published - mean)[:-1].flatten().numpy() @ self.root
        x, y = self.asked
        along_root = (self.root @ shift).reshape(-1, weight.shape[1])
        towards = torch.as_tensor(along_root, dtype=x.dtype)
        residuals = residual(weight[None], x, y)[:, 0, :-1]
        along = (residuals * (x @ towards.T)).sum(dim=1).numpy()
        along -= float((mean[:-1] * towards).sum())
        distance = shift @ shift - 2 * along + self.k
        ratio = rank / 2 * np.log(n / (n - 1)) + self.k / 2 - n * distance / (2 * (n - 1))
        self.score += np.logaddexp(np.log1p(-self.p), np.log(self.p) + ratio)


def mean_gradient(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Over some records, (classes, width + 1)."""
    return residual(weight[None], x, y)[:, 0].T @ x / len(x)


def outcomes(played: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """AUC and rates of all records, and of those whose K was largest at the first step."""
    score, member, k = played["score"], played["member"].astype(bool), played["susceptibility"]
    tpr, area = [], []
    for share in GROUPS.values():
        in_group = _largest(k, member, share)
        reliable = [rate * (in_group & ~member).sum() >= _FALSE_POSITIVES for rate in RATES]
        tpr.append(
            [
                metrics.tpr_at_fpr(score[in_group], member[in_group], rate) if enough else np.nan
                for rate, enough in zip(RATES, reliable, strict=True)
            ]
        )
        area.append(metrics.auc(score[in_group], member[in_group]))
    return {"tpr": np.array(tpr), "auc": np.array(area)}


def _largest(k: FloatArray, member: BoolArray, share: float) -> BoolArray:
    """The largest K among members, and as large a share of the others."""
    largest = np.zeros(len(k), dtype=bool)
    for side in (member, ~member):
        largest |= side & (k >= np.quantile(k[side], 1 - share))
    return largest


def attack_table(measured: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The attack's rates beside the stated level and the numerical composition at K = d."""
    rows = []
    for audit in measured:
        r = recipe_of(audit)
        n, name = r.batch_size, audit.attrs["set"]
        step = privacy.mip_mu_step(r.dimension, n, r.dimension)
        mu = privacy.subsampled_mu(step, n, r.n_records, r.steps)
        limit = privacy.gaussian_tpr(np.array(RATES), mu)
        exact = 1 - privacy.numerical_tradeoff(RATES, step, n, r.n_records, r.steps, grid=16).low
        for i, rate in enumerate(RATES):
            key = {"data": name, "quantity": tpr_label(rate)}
            for method, value in (("Equation 10", limit[i]), ("numerical, K = d", exact[i])):
                stated = metrics.exactly(100 * float(value))
                rows.append({**key, "asked": LEVEL, "others": method, **stated})
            for group, kind in ((g, o) for g in GROUPS for o in OTHERS):
                rates = 100 * audit["tpr"].sel(group=group, others=kind).values[:, i]
                if np.isnan(rates).any():
                    continue
                numbers = metrics.summary(rates, lowest=0.0, highest=100.0)
                rows.append({**key, "asked": group, "others": kind, **numbers})
            fresh, fixed = (
                100 * audit["tpr"].sel(group="all", others=o).values[:, i] for o in OTHERS
            )
            if not np.isnan(fresh - fixed).any():
                difference = metrics.summary(fresh - fixed)
                rows.append({**key, "asked": "all", "others": PAIRED, **difference})
    return tidy(rows, observed(measured))


def attack_table_described(table: pd.DataFrame) -> str:
    """The picture in words: stated, and found of each group where the records are fixed."""
    parts = []
    for name, part in table.groupby("data", sort=False):
        groups = part.groupby("quantity", sort=False)["asked"].nunique()
        quantity = groups.idxmax()
        at = part[part["quantity"] == quantity].set_index(["asked", "others"])["value"]
        if "fixed" not in at.index.get_level_values("others"):
            parts.append(f"{name}: too few records outside of training to tell a rate")
            continue
        fixed = at.xs("fixed", level="others")
        rates = ", ".join(
            f"{value:.1f}% of {'all' if group == 'all' else f'the {group}'}"
            for group, value in fixed.items()
        )
        stated = f"stated {at.iloc[0]:.1f}%, found {rates}"
        parts.append(f"{name}, {quantity.removesuffix(' (%)')}: {stated}")
    return (
        "A panel a data set, rows for all records and for those with the largest K: what an "
        f"attack finds, and a line where the promise stands. {'; '.join(parts)}."
    )


def attack_table_drawn(table: pd.DataFrame) -> "Figure":
    """Control 17: what is found after all steps, beside what is stated."""
    rates = table[table["quantity"] == _SHOWN]
    stated = rates[rates["others"] == "Equation 10"].set_index("data")["value"].to_dict()
    shown = rates[rates["asked"].isin(ASKED) & rates["others"].isin(OTHERS)]
    shown = shown.assign(asked=shown["asked"].map(ASKED), others=shown["others"].map(OTHERS))
    return plots.dots_by_row(
        shown,
        "asked",
        by="others",
        panel="data",
        label=_SHOWN,
        baseline=stated,
        baseline_label="stated (Equation 10)",
    )
