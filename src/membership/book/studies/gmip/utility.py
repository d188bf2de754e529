"""What privacy costs: Figure 3, noise shared by the classes, and a clipping norm that fits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
import xarray as xr
from scipy.optimize import brentq
from scipy.special import ndtri

from membership import evidence, metrics, plots, privacy
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.experiment import Task, origin, task_of
from membership.book.studies.gmip.settings import Recipe, Settings
from membership.book.studies.gmip.setups import observed, recipe_of
from membership.book.studies.gmip.theory import levels, needed_noise
from membership.privacy import numerical
from membership.training.ensemble import device_of
from membership.training.private import initial_weight, record_gradients

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTIONS = {"mip": "GMIP", "gdp": "GDP"}
NOISES, OPTIMISERS = ["independent", "shared"], ["adam", "sgd"]
STRONG = 0.4
"""The level whose noise Control 10 takes."""
NORMS = OWN, MEDIAN = "C of Table 4", "C at the median norm"
SHARED, ALONE = "shared less none, by seed", "none less independent, by seed"
_GRID = 13
MOST_LEVEL = 5.0  # beyond, three rates no longer tell levels apart
FIRST_LEVEL = f"mu = {levels(1)[0]:g}"
SAVED = f"accuracy of GMIP less GDP at its first level without noise, {MEDIAN}"


def measured(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: accuracy by notion and level with either noise, by optimiser at one level."""
    task = task_of(name, settings)
    mus = levels(settings.n_levels)
    tau = np.array([[needed_noise(task.recipe, mu, notion) for mu in mus] for notion in NOTIONS])
    distinct, place = np.unique(tau, return_inverse=True)
    of_noises = [experiment.accuracies(task, distinct.tolist(), settings, kind) for kind in NOISES]
    strong = needed_noise(task.recipe, STRONG, "gdp")
    ends = np.array(
        [
            [experiment.accuracies(task, [0.0, strong], settings, kind, how) for kind in NOISES]
            for how in OPTIMISERS
        ]
    )
    return evidence.dataset(
        "measured",
        {
            "tau": (("notion", "level"), tau),
            "accuracy": (
                ("noise", "notion", "level", "repeat"),
                np.stack([of_kind[place.reshape(tau.shape)] for of_kind in of_noises]),
            ),
            "accuracy_without": (("optimiser", "repeat"), ends[:, 0, 0]),
            "accuracy_strong": (("optimiser", "noise", "repeat"), ends[:, :, 1]),
        },
        {"notion": list(NOTIONS), "noise": NOISES, "optimiser": OPTIMISERS, "level": mus},
        **origin(task, settings, device=str(device_of(settings.device))),
        sizes={
            "Seeds": f"{settings.utility_seeds} (paper: 5)",
            "Training records": f"{task.recipe.n_records:,}",
            "Test records": f"{task.n_test:,}",
            "Steps": f"{task.steps:,}",
        },
    )


def plain(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: accuracy by plain SGD, without noise and with either, of more seeds."""
    task = task_of(name, settings)
    more = settings.model_copy(update={"utility_seeds": settings.plain_seeds})
    taus = [0.0, needed_noise(task.recipe, STRONG, "gdp")]
    by_kind = np.array([experiment.accuracies(task, taus, more, kind, "sgd") for kind in NOISES])
    return evidence.dataset(
        "measured",
        {
            "accuracy_without": (("repeat",), by_kind[0, 0]),
            "accuracy_strong": (("noise", "repeat"), by_kind[:, 1]),
        },
        {"noise": NOISES},
        **origin(task, settings, device=str(device_of(settings.device))),
        sizes={"Seeds of plain SGD": f"{task.name} {settings.plain_seeds} (paper: 5)"},
    )


def figure_3(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Test accuracy over the privacy levels, with independent and with shared noise (Figure 3)."""
    rows = []
    for dataset in trained:
        for kind in dataset["noise"].values.tolist():
            for notion in dataset["notion"].values.tolist():
                accuracy = dataset["accuracy"].sel(noise=kind, notion=notion).values
                taus = dataset["tau"].sel(notion=notion).values
                for mu, tau, values in zip(dataset["level"].values, taus, accuracy, strict=True):
                    rows.append(
                        {
                            "dataset": dataset.attrs["set"],
                            "noise": kind,
                            "notion": NOTIONS[notion],
                            "series": f"{NOTIONS[notion]}, {kind} noise",
                            "mu": round(mu, 4),
                            "tau": tau,
                            "metric": "test_accuracy(%)",
                            **metrics.summary(values),
                            "standard_deviation": values.std(ddof=1),
                        }
                    )
    return tidy(rows, observed(trained))


def figure_3_said(table: pd.DataFrame) -> str:
    """How much accuracy membership inference privacy saves, at most."""
    own = table[table["noise"] == "independent"]
    wide = own.pivot_table(index=["dataset", "mu"], columns="notion", values="value")
    gain = (wide["GMIP"] - wide["GDP"]).groupby("dataset", sort=False).max()
    gains = "; ".join(f"{name} {value:.1f} points" for name, value in gain.items())
    return f"The most that GMIP gains over GDP: {gains}."


def figure_3_described(table: pd.DataFrame) -> str:
    """The picture in words."""
    ranges = [
        f"{name} from {part['value'].min():.0f} to {part['value'].max():.0f}%"
        for name, part in table.groupby("dataset", sort=False)
    ]
    return (
        "Test accuracy against mu on a logarithmic axis, a panel a data set: "
        f"{', '.join(ranges)}. The GMIP curves jump where no noise is needed any more; the GDP "
        "curves rise slowly, with noise of each entry's own and with noise that all classes share."
    )


def shared_noise(trained: Sequence[xr.Dataset], plain: Sequence[xr.Dataset] = ()) -> pd.DataFrame:
    """Accuracy with the noise for mu = 0.4 and without, by kind of noise and optimiser.

    Plain SGD's is of more seeds where there are more.
    """
    rows, more = [], {dataset.attrs["set"]: dataset for dataset in plain}
    for dataset in trained:
        for optimiser in dataset["optimiser"].values.tolist():
            seeds = dataset.sel(optimiser=optimiser)
            seeds = more.get(dataset.attrs["set"], seeds) if optimiser == "sgd" else seeds
            accuracies = {"none": seeds["accuracy_without"].values}
            accuracies |= {
                kind: seeds["accuracy_strong"].sel(noise=kind).values
                for kind in seeds["noise"].values.tolist()
            }
            accuracies |= {
                SHARED: accuracies["shared"] - accuracies["none"],
                ALONE: accuracies["none"] - accuracies["independent"],
            }
            for noise, values in accuracies.items():
                key = {"dataset": dataset.attrs["set"], "optimiser": optimiser, "noise": noise}
                rows.append({**key, "metric": "test_accuracy(%)", **metrics.summary(values)})
    return tidy(rows, observed([*trained, *plain]))


def shared_noise_said(table: pd.DataFrame) -> str:
    """What either noise costs under plain SGD, over all data sets."""
    plain = table[table["optimiser"] == "sgd"].pivot(
        index="dataset", columns="noise", values="value"
    )
    if not {"none", "shared", "independent"} <= set(plain.columns):
        return ""
    shared, own = (plain["none"] - plain[noise] for noise in ("shared", "independent"))
    return (
        f"With plain SGD shared noise costs at most {shared.max():z.1f} points of accuracy, and "
        f"independent noise at least {own.min():z.1f}."
    )


def shown_level(kind: str, mu_step: float, recipe: Recipe) -> float:
    """The level that all steps show at FPR 0.1, 1 and 10%, composed numerically."""
    if mu_step >= privacy.MOST_NUMERICAL_MU:
        return np.inf
    pair = numerical.Pair(kind, mu_step, recipe.batch_size / recipe.n_records)
    tpr = numerical.tpr(numerical.compose([(pair, recipe.steps)], _GRID), np.array(privacy.RATES))
    return float((ndtri(np.minimum(tpr, 1 - 1e-12)) - ndtri(privacy.RATES)).max())


def free_level(recipe: Recipe) -> float:
    """The level against membership inference without noise, at K = d."""
    n, d = recipe.batch_size, recipe.dimension
    return shown_level("joined", privacy.mip_mu_step(d, n, d), recipe)


def multiplier(mu: float, recipe: Recipe) -> float:
    """The noise multiplier sigma of a level of differential privacy, one record replaced."""
    low, high = 2 / (0.99 * privacy.MOST_NUMERICAL_MU), 100.0

    def excess(log_sigma: float) -> float:
        return shown_level("either", 2 / float(np.exp(log_sigma)), recipe) - mu

    if excess(np.log(low)) <= 0:
        return low
    return float(np.exp(brentq(excess, np.log(low), np.log(high), xtol=1e-4)))


def median_norm(task: Task, settings: Settings) -> float:
    """Of the training records' gradients before the first step."""
    generator = torch.Generator().manual_seed(1000 * settings.seed)
    weight = initial_weight(task.recipe.classes, task.recipe.width + 1, generator)
    x, y = task.features[task.train], task.y[task.train]
    return float(np.median(np.linalg.norm(record_gradients(weight.double(), x, y), axis=1)))


def clipped(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: accuracy by clipping norm, without noise and with the noise of each level.

    With Table 4's norm the level is Equation 10's, as in Figure 3; with the median norm it is
    composed numerically.
    """
    task = task_of(name, settings)
    clip, recipe = median_norm(task, settings), task.recipe
    mus = [mu for mu in levels(settings.n_levels) if mu <= MOST_LEVEL]
    # A row a norm of `NORMS`.
    tau = [
        [needed_noise(recipe, mu, "gdp") for mu in mus],
        [multiplier(mu, recipe) * clip / recipe.batch_size for mu in mus],
    ]
    accuracies = np.array(
        [
            experiment.accuracies(task, [0.0, *noise], settings, "independent", clip=c)
            for noise, c in zip(tau, (recipe.clip, clip), strict=True)
        ]
    )
    return evidence.dataset(
        "measured",
        {
            "tau": (("norm", "level"), np.array(tau)),
            "accuracy": (("norm", "level", "repeat"), accuracies[:, 1:]),
            "accuracy_without": (("norm", "repeat"), accuracies[:, 0]),
        },
        {"level": mus, "norm": list(NORMS)},
        **origin(task, settings, device=str(device_of(settings.device))),
        clip=clip,
        free=free_level(recipe),
        sizes={"Seeds": f"{settings.utility_seeds} (paper: 5)", "Steps": f"{task.steps:,}"},
    )


def by_clipping(clipped: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Accuracy by level: the differential privacy of Figure 3, and both notions at a smaller C."""
    rows = []
    for dataset in clipped:
        without = dataset["accuracy_without"].sel(norm=MEDIAN).values
        for i, mu in enumerate(dataset["level"].values):
            tau, accuracy = (dataset[key].isel(level=i) for key in ("tau", "accuracy"))
            free = mu >= dataset.attrs["free"]
            at_median = accuracy.sel(norm=MEDIAN).values
            fitting = float(tau.sel(norm=MEDIAN))
            for series, noise, values in (
                (f"GDP, {OWN}", float(tau.sel(norm=OWN)), accuracy.sel(norm=OWN).values),
                (f"GDP, {MEDIAN}", fitting, at_median),
                (f"GMIP, {MEDIAN}", 0.0 if free else fitting, without if free else at_median),
            ):
                key = {
                    "dataset": dataset.attrs["set"],
                    "series": series,
                    "mu": round(float(mu), 4),
                }
                rows.append(
                    {**key, "tau": noise, "metric": "test_accuracy(%)", **metrics.summary(values)}
                )
    note = "Levels at the median norm: the largest at 0.1, 1 and 10% FPR, numerically."
    return tidy(rows, observed(clipped, note=note))


def clipping_costs(clipped: Sequence[xr.Dataset]) -> pd.DataFrame:
    """What C costs and what noise costs, apart: points of accuracy, paired by seed."""
    rows = []
    for dataset in clipped:
        recipe = recipe_of(dataset)
        bare, small = (dataset["accuracy_without"].sel(norm=norm).values for norm in NORMS)
        noisy, small_noisy = (dataset["accuracy"].sel(norm=norm).values[0] for norm in NORMS)
        for quantity, values in (
            (OWN, [recipe.clip]),
            (MEDIAN, [dataset.attrs["clip"]]),
            ("mu without noise, Equation 10", [_stated(recipe)]),
            ("mu without noise, numerically", [dataset.attrs["free"]]),
            ("accuracy lost to the smaller C alone (points)", bare - small),
            (lost_to_noise(OWN), bare - noisy),
            (lost_to_noise(MEDIAN), small - small_noisy),
            *_saved(dataset),
        ):
            numbers = metrics.summary(values) if len(values) > 1 else metrics.exactly(values[0])
            rows.append({"data": dataset.attrs["set"], "quantity": quantity, **numbers})
    return tidy(rows, observed(clipped))


def clipping_costs_said(table: pd.DataFrame) -> str:
    """Points of accuracy lost to noise with either C."""
    parts = []
    for name, part in noise_losses(table).groupby("data", sort=False):
        wide, fitting = part.set_index("C")["value"][[OWN, MEDIAN]]
        parts.append(f"{name} {wide:.1f} and {fitting:.1f}")
    return f"Points lost to noise, with Table 4's C and with the smaller: {'; '.join(parts)}."


def clipping_costs_drawn(table: pd.DataFrame) -> "Figure":
    """Control 15: the accuracy that noise costs at either clipping norm, at one promise."""
    return plots.dots_by_row(
        noise_losses(table),
        "data",
        by="C",
        label=f"points of accuracy lost to noise, {FIRST_LEVEL}",
        baseline=0.0,
        stems=True,
        told=".1f",
    )


def _saved(dataset: xr.Dataset) -> list[tuple[str, FloatArray]]:
    """Accuracy without noise less that under GDP, at the first level that needs none."""
    level = int((dataset["level"].values < dataset.attrs["free"]).sum())
    if level == dataset.sizes["level"]:
        return []
    pair = dataset["accuracy_without"], dataset["accuracy"].isel(level=level)
    without, noisy = (accuracy.sel(norm=MEDIAN).values for accuracy in pair)
    return [(SAVED, without - noisy)]


def _stated(r: Recipe) -> float:
    step = privacy.mip_mu_step(r.dimension, r.batch_size, r.dimension)
    return privacy.subsampled_mu(step, r.batch_size, r.n_records, r.steps)


def lost_to_noise(norm: str) -> str:
    """The quantity of Control 15 that noise costs at the first level with a clipping norm."""
    return f"accuracy lost to noise for {FIRST_LEVEL}, {norm} (points)"


def noise_losses(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that `lost_to_noise` names, with their clipping norm as C."""
    norms = {lost_to_noise(norm): norm for norm in NORMS}
    return table.assign(C=table["quantity"].map(norms)).dropna(subset="C")
