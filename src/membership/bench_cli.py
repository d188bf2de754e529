"""``membership bench``: one attack's row in the leaderboard."""

import click


@click.command()
@click.argument("attack")
@click.option("--profile", default="quick", show_default=True, help="tiny, quick or paper.")
def bench(attack: str, profile: str) -> None:
    """Put a registered ATTACK, by its name, on the bench and print its row.

    What the bench has gathered before is found again; models are trained once.
    """
    # Here and not above: they take longer to import than the other commands to run.
    from membership.exhibits import Source, declared
    from membership.studies.comparison import leaderboard
    from membership.studies.comparison.settings import Settings

    settings = Settings.from_values({"profile": profile})
    settings.check_run()
    # One exhibit's worth of evidence is read, by no exhibit.
    table = leaderboard.row(Source(settings, declared("comparison")), attack)
    click.echo(f"{table['attack'].iloc[0]} ({table['knows'].iloc[0]}), {table['cells'].iloc[0]}")
    for row in table.itertuples():
        interval = f" [{row.low:.4g}, {row.high:.4g}]" if row.low < row.high else ""
        click.echo(f"  {row.metric}: {row.value:.4g}{interval}")
    best = table["best of no more knowledge"].iloc[0]
    click.echo(f"  best of no more knowledge: {best}")
