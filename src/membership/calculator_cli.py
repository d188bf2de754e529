"""``membership calculate``: the privacy calculator at the command line."""

import math
from typing import Any

import click

RATES = (0.001, 0.01, 0.1)


@click.group()
def calculate() -> None:
    """Calculate what a training run promises: the privacy levels of each paper's bound."""


@calculate.command()
@click.option("-n", "--batch-size", "n", type=float, required=True, help="Records in a batch.")
@click.option("-N", "--records", "n_records", type=float, required=True, help="Training records.")
@click.option("--epochs", type=float, required=True, help="Passes over the training records.")
@click.option(
    "-d",
    "--dimension",
    "d",
    type=float,
    required=True,
    help="Rank of the gradients' covariance, at most the number of trained parameters.",
)
@click.option(
    "-K", "--susceptibility", "k", type=float, help="Of a record's gradient; d if absent."
)
@click.option("-C", "--clip", type=float, help="Largest norm of a gradient; needed with noise.")
@click.option(
    "--tau", type=float, default=0.0, show_default=True, help="Noise on each entry of the mean."
)
def gmip(**sizes: Any) -> None:
    """Membership and differential privacy of (noisy) SGD, by Leemann et al. (2023)."""
    # Here and not above: scipy takes longer to import than the other commands to run.
    from membership import privacy

    found = privacy.assess(**sizes)
    click.echo(f"steps                                   {found.steps}")
    click.echo(f"effective batch size                    {found.effective_batch_size:.6g}")
    click.echo(f"mu of one step, membership inference    {_level(found.mip_step)}")
    click.echo(f"mu of one step, differential privacy    {_level(found.gdp_step)}")
    click.echo(f"mu of all steps, membership inference   {_level(found.mip)}")
    click.echo(f"mu of all steps, differential privacy   {_level(found.gdp)}")
    click.echo(f"one-sided limit, membership inference   {_level(found.mip_one_sided)}")
    click.echo("best attack's true positive rate (for differential privacy a limit, no bound)")
    for rate, most in zip(RATES, _most(found, sizes["n"], sizes["n_records"]), strict=True):
        limit = float(privacy.gaussian_tpr(rate, found.gdp))
        shown = f"membership at most {_percent(most)}, differential privacy {_percent(limit)}"
        click.echo(f"  at {100 * rate:g} % false positives: {shown}")


def _most(found: Any, n: float, n_records: float) -> list[float]:
    """The TPR at each rate that no attack on membership exceeds, composed without a limit."""
    from membership import privacy

    mu_step = min(found.mip_step, found.gdp_step)
    # Beyond, one step in which the record takes part tells all.
    if mu_step > privacy.MOST_NUMERICAL_MU:
        return [1.0 for _ in RATES]
    low = privacy.numerical_tradeoff(RATES, mu_step, n, n_records, found.steps).low
    return [float(1 - fnr) for fnr in low]


def _percent(share: float) -> str:
    return f"{100 * share:.3f} %"


def _level(mu: float) -> str:
    return f"{mu:.6f}" if math.isfinite(mu) else "no guarantee"
