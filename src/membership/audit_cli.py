"""``membership audit``: what an attack's scores, or evidence of a model, prove."""

from pathlib import Path

import click

EVIDENCE = ".evidence"


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for audit.html and audit.json.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Of (epsilon, delta).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of halves and resampling.")
def audit(file: Path, output: Path, level: float, delta: float, seed: int) -> None:
    """Audit a model: FILE holds scores (.csv, .tsv, .txt, .parquet) or evidence (.evidence).

    Columns of scores: score (higher means member), member (0 or 1) and, if wanted, group and
    record. Evidence is what a run or `membership.evidence` has saved; every attack it allows is
    tried.
    """
    # Here and not above: scipy takes longer to import than the other commands to run.
    from membership import audit as room
    from membership import evidence

    if file.suffix == EVIDENCE:
        scored = None
        report = room.compare(evidence.load(file), level=level, delta=delta, seed=seed)
    else:
        scored = room.read_scores(file)
        report = room.audit(scored, level=level, delta=delta, seed=seed)
    for path in room.write(report, scored, output, file.name):
        click.echo(path)
