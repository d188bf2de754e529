"""``membership audit`` and ``membership bench``: what scores or evidence prove; an attack's row."""

from pathlib import Path
from typing import Any

import click

from membership.book.cli.command_line import OwnPath
from membership.errors import InputError

EVIDENCE = ".evidence"
IMPORT = click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="A module, or a .py file, that declares attacks of your own. Repeatable.",
)


def import_attacks(modules: tuple[str, ...]) -> None:
    """Import modules that declare attacks; what cannot be done is an InputError of one line."""
    if modules:
        from membership.attacks.installed import import_module
        from membership.attacks.registry import ATTACKS

        for name in modules:
            import_module(name, ATTACKS)


@click.command()
@click.argument("file", type=OwnPath())
@click.option(
    "--output",
    type=OwnPath(),
    required=True,
    help="Folder for audit.html and audit.json.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence.")
@click.option(
    "--delta",
    type=float,
    default=1e-5,
    show_default=True,
    help="Of (epsilon, delta): well below one in the number of training records.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the resampling that compares attacks.",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="COLUMN",
    help="A column of scores, one an attack, whatever its name; may be given several times.",
)
@click.option(
    "--design",
    type=click.Choice(["trials", "coins"]),
    default="trials",
    show_default=True,
    help="coins: each record was included by its own fair coin in one training run.",
)
@click.option("--promised", type=float, metavar="EPSILON", help="Promised at delta: is it refuted?")
@click.option("--promised-mu", type=float, metavar="MU", help="Promised: is it refuted?")
@click.option(
    "--fdr",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of wrong names, on average, at which members are named.",
)
@IMPORT
def audit(
    file: Path,
    output: Path,
    level: float,
    delta: float,
    seed: int,
    attacks: tuple[str, ...],
    design: str,
    promised: float | None,
    promised_mu: float | None,
    fdr: float,
    modules: tuple[str, ...],
) -> None:
    """Audit a model: FILE holds scores (.csv, .tsv, .txt, .parquet) or evidence (.evidence).

    Columns of scores: member (0 or 1), score (higher means member) or one column an attack under
    any names but such as id or label, which are then compared, and, if wanted, group, record and
    target (which of several models was asked). Evidence is what a run or `membership.evidence` has
    saved; every attack it allows is tried.
    """
    # Here and not above: scipy takes longer to import than the other commands to run.
    from membership import audit as room
    from membership import tables
    from membership.audit.asked import Asked
    from membership.audit.named import FDR
    from membership.audit.report import by_command, check_writable
    from membership.evidence import files

    Asked.checked(level, delta, seed, design, promised, promised_mu, fdr)
    options: dict[str, Any] = {"level": level, "delta": delta}
    promises = {"promised": promised, "promised_mu": promised_mu}
    options |= {name: value for name, value in promises.items() if value is not None}
    options |= {} if design == "trials" else {"design": design}
    options |= {} if fdr == FDR else {"fdr": fdr}
    if modules and file.suffix != EVIDENCE:
        raise InputError(f"--import {modules[0]}: scores are there already; it is for evidence")
    import_attacks(modules)
    if file.suffix == EVIDENCE:
        if attacks:
            raise InputError(f"--attack {attacks[0]}: evidence has no columns of scores; leave out")
        scored, options = None, options | {"seed": seed}
        seen, digest = files.read(file)
        check_writable(output)
        report = room.compare(seen, **options)
    else:
        table = tables.read(file)
        scored, digest = room.read_scores(table, attacks), table.digest
        check_writable(output)
        options |= {} if isinstance(scored, room.Scored) else {"seed": seed}
        report = room.audit(scored, **options)
    options |= {name: given for name, given in (("attack", attacks), ("import", modules)) if given}
    report = by_command(report, file, digest, options)
    for path in room.write(report, scored, output, file.name):
        click.echo(path)


@click.command()
@click.argument("attack")
@click.option("--profile", default="quick", show_default=True, help="tiny, quick or paper.")
@IMPORT
def bench(attack: str, profile: str, modules: tuple[str, ...]) -> None:
    """Put a registered ATTACK, by its name, on the bench and print its row.

    An attack of your own is registered by --import, or by a package that you have installed. What
    the bench has gathered before is found again; models are trained once. At paper size nothing is
    trained: the book's own evidence is read, and without a clone fetched first, each file checked.
    """
    # Here and not above: they take longer to import than the other commands to run.
    from membership.book.exhibits import Source, declared
    from membership.book.exhibits.fetched import published
    from membership.book.studies.comparison import leaderboard
    from membership.book.studies.comparison.settings import Settings

    import_attacks(modules)
    settings, exhibits = Settings.from_values({"profile": profile}), declared("comparison")
    leaderboard.require(attack)
    if profile == "paper":
        source = published(settings, exhibits)
    else:
        settings.check_run()
        source = Source(settings, exhibits)
    # One exhibit's worth of evidence is read, by no exhibit.
    table = leaderboard.row(source, attack)
    click.echo(f"{table['attack'].iloc[0]} ({table['knows'].iloc[0]}), {table['cells'].iloc[0]}")
    for row in table.itertuples():
        interval = f" [{row.low:.4g}, {row.high:.4g}]" if row.low < row.high else ""
        click.echo(f"  {row.metric}: {row.value:.4g}{interval}")
    best = table["best of no more knowledge"].iloc[0]
    click.echo(f"  best of no more knowledge: {best}")
