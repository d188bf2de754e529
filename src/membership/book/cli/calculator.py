"""``membership calculate``: the privacy calculator at the command line."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from membership.errors import InputError

if TYPE_CHECKING:
    from membership.privacy import Assessment, Established

# As in membership.privacy, which is not imported here: scipy takes longer to import than the other
# commands to run.
SAMPLINGS = ("poisson", "fixed", "shuffled")
ADJACENCIES = ("add-remove", "replace-one")
PROTECTIONS = ("differential", "membership")
DRAWN = {
    "poisson": "every record joins a batch by its own chance",
    "fixed": "batches of exactly n drawn anew each step",
    "shuffled": "a new order dealt into batches each epoch; no amplification is credited",
}
NEIGHBOURS = {"add-remove": "added or removed", "replace-one": "replaced"}


@click.group()
def calculate() -> None:
    """Calculate what a training run promises, or the noise that a promise needs."""


def _number(*names: str, **options: Any) -> Any:
    return click.option(*names, type=float, **options)


@calculate.command()
@_number("-n", "--batch-size", "n", help="Records in a batch.")
@_number("-N", "--records", "n_records", help="Training records.")
@_number("--epochs", help="Passes over the training records.")
@_number("--rate", help="In the place of -N (and -n): the sampling rate n / N.")
@_number("--steps", help="In the place of --epochs: the number of batches.")
@click.option("--sampling", type=click.Choice(SAMPLINGS), default="poisson", show_default=True)
@click.option(
    "--adjacency",
    type=click.Choice(ADJACENCIES),
    default="add-remove",
    show_default=True,
    help="How two neighbouring training sets differ, for differential privacy.",
)
@_number("--sigma", help="Given noise: the noise multiplier tau n / C.")
@_number("--tau", help="Given noise on each entry of the mean gradient; needs -C.")
@_number("--mu", help="Target: the level of all steps.")
@_number("--epsilon", help="Target: epsilon at --delta.")
@_number("--tpr", help="Target: the true positive rate at --fpr.")
@_number("--fpr", default=0.001, show_default=True, help="0.001, 0.01 or 0.1.")
@click.option(
    "--phase",
    "phases",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="A phase on the same records, composed with the run: rate=0.01,steps=5000,sigma=1.1. "
    "Names are n, n_records, epochs, rate, steps and sigma; give it again for more phases, and "
    "no run beside them if there is none.",
)
@click.option(
    "--group", type=int, default=1, show_default=True, help="Records that one person has."
)
@_number("--prior", help="Share of members among the accused, for posteriors.")
@_number("--at-epsilon", help="An epsilon whose delta is asked.")
@click.option(
    "--audit",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The audit.json of an audit, to hold its lower bounds beside the promise.",
)
@_number("--delta", default=1e-5, show_default=True, help="Of (epsilon, delta).")
@click.option(
    "--protect",
    type=click.Choice(PROTECTIONS),
    default="differential",
    show_default=True,
    help="Whose mu or TPR is the target.",
)
@_number("-C", "--clip", help="Largest norm of a gradient, to turn sigma into tau and back.")
@_number("-d", "--dimension", "d", help="Rank of the gradients' covariance, for membership.")
@_number(
    "-K",
    "--susceptibility",
    "k",
    multiple=True,
    help="Of a record's gradient; d if absent. Several: all those records together, too.",
)
@click.option("--beside/--alone", default=True, help="Ask dp_accounting, too (a few seconds).")
def gmip(
    n: float | None,
    n_records: float | None,
    epochs: float | None,
    rate: float | None,
    steps: float | None,
    d: float | None,
    k: tuple[float, ...],
    clip: float | None,
    beside: bool,
    prior: float | None,
    at_epsilon: float | None,
    audit: Path | None,
    **options: Any,
) -> None:
    """Membership and differential privacy of (noisy) SGD, by Leemann et al. (2023)."""
    from membership import privacy

    sizes = {"n": n, "n_records": n_records, "epochs": epochs, "rate": rate, "steps": steps}
    run = {name: options[name] for name in ("sampling", "adjacency", "delta", "group")}
    run["history"] = [_phase(text) for text in options["phases"]]
    bounds = _bounds(audit) if audit else {}
    if clip is not None and n is not None:
        privacy.noise_multiplier(n, 1.0, clip)
    own = {"d": d, "k": (k if len(k) > 1 else k[0]) if k else None}
    sigma = _sigma(sizes, {**own, **run}, clip, options)
    assessment = privacy.assess(**sizes, **own, sigma=sigma, **run)
    asked = _asked(assessment, prior, at_epsilon)
    accountant = privacy.established(**sizes, sigma=sigma, **run) if beside else None
    click.echo(f"{options['sampling']} sampling: {DRAWN[options['sampling']]}")
    records = "one record" if options["group"] == 1 else f"{options['group']} records"
    click.echo(f"differential privacy: {records} {NEIGHBOURS[options['adjacency']]}")
    click.echo(f"{'steps':40}{assessment.steps}")
    click.echo(f"{'noise multiplier sigma':40}{assessment.sigma:.9g}")
    if clip is not None and n is not None:
        click.echo(f"{f'noise tau at C = {clip:g}':40}{assessment.sigma * clip / n:.9g}")
    for name, *cells in [*_rows(assessment, accountant, options["delta"]), *asked]:
        click.echo(f"{name:40}{''.join(f'{cell:>22}' for cell in cells)}".rstrip())
    typical = ["membership: for a typical record, K = d; others may be found more easily"]
    for line in (typical if d and not k else []) + _notes(assessment, accountant):
        click.echo(line)
    for line in _beside(assessment, bounds):
        click.echo(line)
    click.echo(f"to cite: {assessment.statement}")


def _phase(text: str) -> dict[str, float]:
    """A phase as it is written: names and values, of which the library knows the names."""
    phase = {}
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        try:
            phase[name] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(
                f"--phase {text!r}: {part!r} is no name=number; as rate=0.01,steps=500"
            )
    return phase


def _bounds(audit: Path) -> dict[str, Any]:
    """An audit's lower bounds by their notion; an InputError where the file has none."""
    try:
        found = json.loads(audit.read_text(encoding="utf-8"))
        bounds = {name: found[f"{name}_lower_bound"] for name in ("epsilon", "mu")}
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        raise InputError(
            f"--audit {audit.name}: no lower bounds in it; give the audit.json that membership "
            "audit wrote"
        ) from None
    return {name: bound for name, bound in bounds.items() if bound}


def _beside(assessment: "Assessment", bounds: dict[str, Any]) -> list[str]:
    """What an audit proved beside what was promised."""
    lines, level = [], assessment.differential
    if epsilon := bounds.get("epsilon"):
        proved = f"audit: epsilon at least {epsilon['value']:.4f} at delta {epsilon['delta']:g}"
        if epsilon["delta"] > 0:
            most = level.epsilon_at(epsilon["delta"])
            lines.append(f"{proved}, promised {_level(most)}: {_judged(epsilon['value'], most)}")
        else:
            lines.append(f"{proved}, where noisy SGD promises none; audit with --delta to compare")
    if mu := bounds.get("mu"):
        judged = _judged(mu["value"], level.mu)
        lines.append(f"audit: mu at least {mu['value']:.4f}, promised {_level(level.mu)}: {judged}")
    return lines


def _judged(proved: float, promised: float) -> str:
    return "the promise is refuted" if proved > promised else "not refuted by these attacks"


def _sigma(
    sizes: dict[str, Any], run: dict[str, Any], clip: float | None, options: dict[str, Any]
) -> float:
    """The noise that is given, or that the target needs; none where neither is named."""
    from membership import privacy

    choices = {
        name: options[name]
        for name in ("sigma", "tau", "mu", "epsilon", "tpr")
        if options[name] is not None
    }
    if len(choices) > 1:
        flags = " and ".join(f"--{name}" for name in choices)
        raise InputError(f"{flags}: give one of --sigma, --tau, --mu, --epsilon, --tpr")
    name, value = next(iter(choices.items()), ("sigma", 0.0))
    if name == "sigma":
        return value
    if name == "tau":
        return privacy.noise_multiplier(sizes["n"], value, clip)
    chosen = {key: options[key] for key in ("protect", "fpr")}
    return privacy.required_sigma(name, value, **sizes, **run, **chosen)


def _rows(
    assessment: "Assessment", accountant: "Established | None", delta: float
) -> list[tuple[str, ...]]:
    levels = assessment.membership, assessment.differential
    rows = [
        ("", "membership", "differential privacy", "dp_accounting"),
        ("mu of one step, record in the batch", *(_level(level.step) for level in levels)),
        ("mu of all steps", *(_level(level.mu, level.is_cut_off) for level in levels)),
        ("mu of all steps, limit", *(_level(level.limit) for level in levels)),
        (
            "mu of all steps, one-sided",
            _level(assessment.membership_one_sided, assessment.membership.is_cut_off),
        ),
        (
            f"epsilon at delta {delta:g}",
            "",
            _level(assessment.epsilon, assessment.sigma > 0),
            _level(accountant.epsilon) if accountant else "",
        ),
    ]
    for i, rate in enumerate((0.001, 0.01, 0.1)):
        cells = [promise.tpr[i] for promise in (*levels, *([accountant] if accountant else []))]
        rows.append((f"TPR at {100 * rate:g} % FPR, at most", *map(_percent, cells)))
    for i, found in enumerate(assessment.mixture):
        rate = 100 * (0.001, 0.01, 0.1)[i]
        rows.append((f"TPR over all K at {rate:g} % FPR, at most", _percent(found)))
    rows.append(("AUC, at most", *(f"{level.auc:.6f}" for level in levels)))
    rows.append(("advantage, at most", *(f"{level.advantage:.6f}" for level in levels)))
    return [row[: 4 if accountant else 3] for row in rows]


def _asked(
    assessment: "Assessment", prior: float | None, epsilon: float | None
) -> list[tuple[str, ...]]:
    """Rows for what was asked besides: delta at an epsilon, members among the accused."""
    levels, rows = (assessment.membership, assessment.differential), []
    if epsilon is not None:
        found = (f"{level.delta_at(epsilon):.6g}" for level in levels)
        rows.append((f"delta at epsilon {epsilon:g}", *found))
    if prior is not None:
        each = [level.posterior(prior) for level in levels]
        for i, rate in enumerate((0.001, 0.01, 0.1)):
            name = f"members of the accused at {100 * rate:g} % FPR"
            rows.append((name, *(_percent(found[i]) for found in each)))
    return rows


def _notes(assessment: "Assessment", accountant: "Established | None") -> list[str]:
    levels = {"membership": assessment.membership, "differential privacy": assessment.differential}
    short = [name for name, one in levels.items() if not (one.limit_holds or one.is_cut_off)]
    notes = []
    if short:
        notes.append(
            f"{' and '.join(short)}: the limit falls short of the composed rates and is no bound; "
            "mu of all steps is that of the numerical composition"
        )
    is_uncounted = assessment.sigma > 0 and math.isinf(assessment.epsilon)
    if is_uncounted or any(one.is_cut_off for one in levels.values()):
        notes.append(
            "not counted: one step tells more than is counted here (mu above 15), or all steps do "
            "(epsilon above 600); the promise, if any, is weak"
        )
    if assessment.membership == assessment.differential:
        notes.append("membership: what differential privacy implies; give -d for its own level")
    if accountant and accountant.method == "Rényi":
        notes.append(
            "dp_accounting: Rényi's bound, which is looser; it has no other for fixed batches"
        )
    return notes


def _percent(share: float) -> str:
    return f"{100 * share:.4f} %"


def _level(mu: float, is_cut_off: bool = False) -> str:
    if not math.isfinite(mu):
        return "not counted" if is_cut_off else "no guarantee"
    return f"{mu:.6f}" if mu < 1e6 else f"{mu:.9g}"
