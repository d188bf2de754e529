"""The audit of scores, of one attack or of several, on one model or on several."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from membership import memory
from membership.arrays import BoolArray, FloatArray
from membership.attacks import ScoreTable
from membership.audit import design as designs
from membership.audit import report, sentences
from membership.audit.asked import DELTA, Asked
from membership.audit.columns import notes_of_columns
from membership.audit.named import FDR
from membership.audit.ranking import ranked, strongest
from membership.audit.reading import Scored, Several, read_scores
from membership.audit.report import FORMAT, made_from
from membership.errors import InputError, brief


def audit(
    scored: Any,
    *,
    level: float = 0.95,
    delta: float = DELTA,
    seed: int = 0,
    design: str = designs.TRIALS,
    attacks: Sequence[str] = (),
    promised: float | None = None,
    promised_mu: float | None = None,
    fdr: float = FDR,
) -> dict:
    """Say what attacks' scores prove of a model, or of several.

    Parameters
    ----------
    scored : Scored, Several, data frame or mapping
        From `read_scores`, made of arrays, or what `read_scores` takes of Python.
    level : float
        Confidence of every interval and bound, in (0, 1).
    delta : float
        Of (epsilon, delta)-differential privacy, in [0, 1): the chance that its promise fails
        altogether, to be chosen well below one in the number of training records.
    seed : int
        Of the resampling that compares several attacks or targets; one attack's audit draws
        nothing.
    design : {"trials", "coins"}
        What the bounds suppose of the records: independent trials, or that each record was included
        by a fair coin of its own in the one training of each target. Say "coins" only if you know:
        `membership.privacy.one_run_epsilon` and `one_run_mu` then make the bounds.
    attacks : sequence of str
        The columns that are scores, as `read_scores` has it.
    promised : float, optional
        An epsilon that the training promised at `delta`, to be refuted or not.
    promised_mu : float, optional
        A mu of Gaussian privacy that it promised. With both, each bound has half of the error.
    fdr : float
        The share of wrong names, on average, at which members are named, in (0, 1).

    Returns
    -------
    dict
        Plain JSON values, the same for the same scores in any order but for the date, for the
        numbers of rows where records have no names, and for a note on a column that orders the
        rows: ``provenance`` {version, date, command, inputs [{name, sha256}], columns}, where
        ``columns`` were taken for attacks, and arrays are the float64 scores and then the
        memberships, a byte each. Rates are fractions in [0, 1].

        Of one attack on one target: ``auc`` {value, low, high};
        ``tpr_at_fpr`` [{fpr, value, low, high, expected_false_positives, measured}];
        ``positive_predictive_value`` [{fpr, prior, value, low, high}];
        ``epsilon_lower_bound`` {value, level, delta, tried, provable, reason} and
        ``mu_lower_bound`` {the same, epsilon}, where tried counts the thresholds that share the
        error, provable is the bound of an attack that is never wrong, epsilon is what mu means at
        delta for Gaussian privacy, None at a delta of 0, and reason says why a bound of 0 proves
        nothing, None where it is above 0; ``groups``, a list
        whose intervals hold at ``group_level`` each, so that a column holds for all groups at once
        at `level`; ``most_exposed``, a list; ``meaning`` and ``warnings``, lists of str;
        ``design`` {name, guesses, one_sided, fair_coin_p, assumed, reason}, of "coins" alone, where
        reason says why a bound on epsilon of 0 proves nothing; ``units`` {records, units}, where
        records have units, which then are what everything else counts; ``promises``, where one was
        given, [{notion, promised, delta, verdict, sentence}], with the verdict "refuted", "not
        refuted" or "not tested", which is that of records by which no attack could refute it;
        ``named`` {fdr, members, sentence, assumed, own_rate, records [{record, score, p}]}, the
        members that Benjamini and Hochberg's procedure names by conformal p-values;
        ``checklist``, what was assumed, tested and not tested [{status, text}].
        `audit.schema.json`, published with the book, has the whole form, and ``format`` names it.

        Of several: what `compare` returns of evidence, without ``set``, ``left_out`` empty, and
        without what the registry and evidence tell of an attack and of an exposed record.

    Raises
    ------
    InputError
        `level`, `delta` or a promise is out of range, there are too few records, or `design` is
        "coins" and no fair coin gives so many members of a target.
    """
    asked = Asked.checked(level, delta, seed, design, promised, promised_mu, fdr)
    if not isinstance(scored, Scored | Several):
        scored = read_scores(scored, attacks)
    elif attacks:
        raise InputError(f"attacks = {brief(attacks)}: they are columns of a table; leave out")
    if isinstance(scored, Scored):
        return report.audit(scored, asked)
    table = _table(scored)
    whole = scored.unit is not None
    ranking = ranked(table, scored.targets, _units(table), asked, whole=whole)
    best, first = ranking["attacks"][0]["name"], scored.targets[0]
    close = strongest(_scored(scored, best, first), best, first, ranking, asked)
    digest = hashlib.sha256(b"".join([*map(bytes, scored.score.values()), bytes(scored.member)]))
    left = sentences.not_read(scored.not_read)
    noted = _warnings(scored, ranking["attacks"])
    known = sentences.known(scored, noted=bool(noted))
    single = [sentences.ONE_TARGET] * (len(scored.targets) == 1)
    return {
        "format": FORMAT,
        "provenance": made_from(
            {"arrays": digest.hexdigest()}, seed=asked.seed, columns=[*scored.score]
        ),
        **report.of_units(scored),
        **ranking,
        "strongest": close,
        "left_out": [],
        "meaning": sentences.meaning_of_several(close, ranking, {}, whole=whole),
        "checklist": sentences.checklist_of_scores(
            **known,
            attacks=len(scored.score),
            targets=ranking["independent_units"],
            coins=asked.design == designs.COINS,
        ),
        "warnings": [*left, *noted, *single, *sentences.alike(ranking, {})],
    }


def _table(scored: Several) -> ScoreTable:
    """Targets crossed with records, in an order that is not that of the rows."""
    names, targets = list(scored.score), scored.targets
    if len(targets) == 1:
        order = np.lexsort((*scored.score.values(), scored.member))
        score = {name: scored.score[name][order][None] for name in names}
        return ScoreTable(np.arange(order.size), scored.member[order][None], score, (0,))
    record, column = np.unique(scored.record, return_inverse=True)
    row = np.searchsorted(targets, scored.target)
    shape = (len(targets), record.size)
    memory.require(
        4.0 * 8 * shape[0] * shape[1] * (len(names) + 1),
        f"the table of {shape[0]} targets and {shape[1]} records",
        "give fewer targets at once",
    )

    def placed(values: FloatArray | BoolArray, empty: Any) -> np.ndarray:
        whole = np.full(shape, empty)
        whole[row, column] = values
        return whole

    score = {name: placed(scored.score[name], np.nan) for name in names}
    member = placed(scored.member, False)
    return ScoreTable(np.arange(record.size), member, score, tuple(range(len(targets))))


def _units(table: ScoreTable) -> list[int]:
    """One label for a target and its complement, which are no independent trials."""
    asked = ~np.isnan(next(iter(table.score.values())))
    of_design: dict[bytes, int] = {}
    units = []
    for target, (use, member) in enumerate(zip(asked, table.member, strict=True)):
        opposite = of_design.get(bytes(use) + bytes(use & ~member), target)
        of_design.setdefault(bytes(use) + bytes(member), opposite)
        units.append(opposite)
    return units


def _scored(scored: Several, attack: str, target: str) -> Scored | None:
    try:
        return scored.of(attack, target)
    except InputError:  # Too few records for an audit, or one score for all of them.
        return None


def _warnings(scored: Several, ranking: list[dict[str, Any]]) -> list[str]:
    notes = notes_of_columns(scored.score, scored.member)
    notes += [
        f"{attack['name']}: {text}"
        for attack in ranking
        for text in sentences.notes_of_attack(scored.score[attack["name"]], attack["auc"]["high"])
    ]
    return [*notes, *scored.noted, *sentences.notes_of_rows(scored.member)]
