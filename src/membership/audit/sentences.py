"""What a report says beside its numbers: what they mean, what was assumed, what bends the data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from membership.arrays import BoolArray
from membership.audit import promises
from membership.audit.columns import notes_of_columns
from membership.audit.reading import Scored, Several
from membership.audit.sequences import ADDED
from membership.audit.streams import in_parts
from membership.metrics import auc, auc_interval

NO_PROOF_OF_SAFETY = (
    "No number here says that the model is safe: a stronger attack may find more, other "
    "records may be more exposed, and another training may leak more."
)
CHOSEN = (
    "That attack was chosen on the records that it is judged on. What is said of it here, the "
    "lower bounds and the differences to it pay for the choice, by wider intervals than those in "
    "its row of the table, which hold for an attack chosen beforehand."
)
_BY_AUC = " By its AUC this attack does better than guessing; at that rate it may not."
_FEW = " Too few non-members were asked to call that measured."
_GUESSES = (
    "By its AUC, and where {accused} of non-members are accused, this attack does not tell members "
    "from others better than guessing would."
)
_FIRST = (
    "Of {attacks} attacks, {first} tells members from others best, by its AUC and where {accused} "
    "of non-members are accused."
)
_FIRSTS = (
    "Of {attacks} attacks, {first} finds the most members where {accused} of non-members are "
    "accused, and what follows is of it. By the AUC, which takes all thresholds together, {by_auc} "
    "is ahead."
)
SHIFT = "A classifier that never sees the model tells members from non-members"
SHIFTED = (
    "0 proves nothing: these members differ from non-members in more than membership, and a bound "
    "supposes that they do not."
)
_TAKEN_BACK = (
    "So no promise of differential privacy is refuted here: what the attacks find may be that "
    "difference, and nothing of the training."
)
_EQUAL = 1e-12
_NOTHING = (
    "The bounds prove nothing of the training's privacy: neither that it leaks nor that it "
    "protects."
)
_ASKS_MORE = (
    " An AUC above 0.5 does not contradict that: it takes all thresholds together, while a bound "
    "is of the best of {tried} and pays for each."
)


def meaning_of_one(
    measured: dict[str, Any], bounds: dict[str, Any], named: str, whole: bool = False
) -> list[str]:
    """Of one attack: whom it finds and names, who is worse off, what is refuted and not said."""
    return [
        _found(measured),
        *_worse_off(measured),
        named,
        *_refuted(measured, bounds, whole),
        NO_PROOF_OF_SAFETY,
    ]


def meaning_of_several(
    close: dict[str, Any] | None,
    ranking: dict[str, Any],
    display: Mapping[str, str],
    notes: Sequence[str] = (),
    whole: bool = False,
    asked: Sequence[str] = (),
    knowledge: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Of several attacks or targets; `close` is measured of the first attack.

    `knowledge` has what each attack knows, where that is known. A shift among the notes stands
    before all that it puts in doubt, and what was asked next.
    """
    attacks, sentences = len(ranking["attacks"]), [*shifts(notes), *asked]
    knowledge = knowledge or {}
    if attacks > 1:
        first, by_auc = ranking["attacks"][0]["name"], ranking["first_by_auc"]
        told = _FIRST if first == by_auc else _FIRSTS
        names = {"first": display.get(first, first), "by_auc": display.get(by_auc, by_auc)}
        accused = _percent(ranking["ranked_at"])
        sentences.append(told.format(attacks=attacks, accused=accused, **names))
        sentences[-1] += _next(ranking, display)
    if close and ranking["targets"] > 1:
        sentences.append(f"Whom it finds is told of target {close['target']} alone.")
    if close:
        found = _found(close, ranking["ranked_at"], _is_joint(close["attack"], knowledge))
        sentences += [found, *_worse_off(close), close["named"]["sentence"]]
    if any("several models" in known for known in knowledge.values()):
        sentences += _gain(ranking, display, knowledge)
    chosen = [CHOSEN] if ranking["different_attacks"] > 1 else []
    return [*sentences, *chosen, *_refuted(close, ranking, whole), NO_PROOF_OF_SAFETY]


def _is_joint(attack: str, knowledge: Mapping[str, Sequence[str]]) -> bool:
    """Whether an attack compares several models of a training."""
    return "several models" in knowledge.get(attack, ())


def _gain(
    ranking: dict[str, Any], display: Mapping[str, str], knowledge: Mapping[str, Sequence[str]]
) -> list[str]:
    """Whether several models give more away than the last alone; nothing where one side lacks."""
    sides: dict[bool, dict[str, Any]] = {}
    for attack in ranking["attacks"]:
        sides.setdefault(_is_joint(attack["name"], knowledge), attack)
    if len(sides) < 2:
        return []
    told = {}
    for joint, attack in sides.items():
        rates = {rate["fpr"]: rate["value"] for rate in attack["tpr_at_fpr"]}
        name = display.get(attack["name"], attack["name"])
        told[joint] = name, f"{100 * rates[ranking['ranked_at']]:.1f}%"
    gap = sides[False]["tpr_behind_best"]
    shown = "shown" if gap and gap["high"] < 0 else "not shown"
    return [
        f"Where {_percent(ranking['ranked_at'])} of non-members are accused, the first attack that "
        f"compares the models, {told[True][0]}, finds {told[True][1]} of the members, and the "
        f"first on the last model alone, {told[False][0]}, {told[False][1]}. That the earlier "
        f"models give more away is {shown} by that."
    ]


def _next(ranking: dict[str, Any], display: Mapping[str, str]) -> str:
    """That the next attack may do as well, of those that are not the first under another name."""
    for attack in ranking["attacks"][1:]:
        gap = attack["tpr_behind_best"]
        if any(abs(gap[end]) >= _EQUAL for end in ("value", "low", "high")):
            name = display.get(attack["name"], attack["name"])
            return f" {name}, the next, may find as many or more." * (gap["high"] >= 0)
    return ""


def shifts(notes: Sequence[str]) -> list[str]:
    """The notes that members differ from others in more than membership."""
    return list(dict.fromkeys(note for note in notes if note.startswith(SHIFT)))


def alike(ranking: dict[str, Any], display: dict[str, str]) -> list[str]:
    """Which attacks no resample tells apart, where some are."""
    first: dict[str, str] = {}
    for pair in ranking["pairs"]:
        of_pair = [pair["auc"], *pair["tpr_at_fpr"]]
        if all(abs(gap[end]) < _EQUAL for gap in of_pair for end in ("value", "low", "high")):
            first.setdefault(pair["second"], first.get(pair["first"], pair["first"]))
    if not first:
        return []
    sets = [
        ", ".join(display.get(a, a) for a in [name, *(a for a in first if first[a] == name)])
        for name in dict.fromkeys(first.values())
    ]
    attacks = len(ranking["attacks"])
    different = attacks - len(first)
    return [
        f"Of {attacks} attacks {different} {'is' if different == 1 else 'are'} different. Equal in "
        f"every number are {'; '.join(sets)}."
    ]


def _found(measured: dict[str, Any], fpr: float | None = None, several: bool = False) -> str:
    """The share of members found at a rate, or at the least that the non-members carry."""
    rates = measured["tpr_at_fpr"]
    carried = [rate for rate in rates if rate["measured"]] or rates[-1:]
    rate = next((rate for rate in rates if rate["fpr"] == fpr), carried[0])
    accused = _percent(rate["fpr"])
    if measured["auc"]["low"] <= 0.5 and rate["low"] <= rate["fpr"]:
        return _GUESSES.format(accused=accused)
    low, high = (f"{100 * rate[end]:.1f}%" for end in ("low", "high"))
    return (
        f"Who sees of the released model{'s' * several} what this attack saw, and accepts that "
        f"{accused} of non-members are accused, finds {low} to {high} of the members. Guessing "
        f"finds {accused}."
        f"{'' if rate['low'] > rate['fpr'] else _BY_AUC}{'' if rate['measured'] else _FEW}"
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:g}%"


def _worse_off(measured: dict[str, Any]) -> list[str]:
    """The group that is found the most, where that is surely more than of all members."""
    rate = next(rate for rate in measured["tpr_at_fpr"] if rate["fpr"] == 0.01)
    exposed = [
        group
        for group in measured["groups"]
        if group["tpr"]
        and group["fpr"]
        and group["tpr"]["low"] > max(rate["high"], group["fpr"]["high"])
    ]
    if not exposed:
        return []
    worst = max(exposed, key=lambda group: group["tpr"]["low"])
    low, high = (f"{100 * worst['tpr'][end]:.1f}%" for end in ("low", "high"))
    return [
        f"Some are found more often: of the members in group {worst['group']}, the threshold that "
        f"accuses 1% of all non-members finds {low} to {high}."
    ]


def _refuted(measured: dict[str, Any] | None, bounds: dict[str, Any], whole: bool) -> list[str]:
    """What became of the promises that were made, or else which ones the bound refutes."""
    if "promises" in bounds:
        return promises.told(bounds)
    epsilon = bounds["epsilon_lower_bound"]
    if epsilon is None:
        return []
    if epsilon["reason"] == SHIFTED:
        return [_TAKEN_BACK]
    if not epsilon["value"]:
        # Where the shape of the trade-off is supposed, more may be proved.
        if bounds["mu_lower_bound"]["value"]:
            return []
        surely = measured is not None and measured["auc"]["low"] > 0.5
        return [_NOTHING + _ASKS_MORE.format(tried=epsilon["tried"]) * surely]
    return [
        "Where what is assumed below holds, a promise of differential privacy"
        f"{promises.WHOLE * whole} with an epsilon below {epsilon['value']:.3f}, at the delta of "
        "this report, is refuted. The true epsilon may be far larger."
    ]


ASSUMED, TESTED, NOT_TESTED = "assumed", "tested", "not tested"
DONE = "done"
"""By this audit itself, which then need not suppose it."""

Item = dict[str, str]
_TRUTH = (
    "Memberships are right: members are the records that the model was trained on, and no others."
)
_DRAWN = "Memberships were drawn independently, {one} by {one}. The bounds rest on it."
_ALONE = "No {one}'s score moves with another {one}'s membership. The bounds rest on it."
_MEMBERSHIPS = "Memberships, on which the bounds rest."
_ASKED = (
    "The training function trains on the {one}s that it is given and on no others, and does not "
    "know how the coins fell. The bounds rest on it, and on nothing else."
)
_WHOLE = (
    "All records of one person, or of what else a unit is, are in one unit, which was in or out "
    "whole. A unit's score is the mean of its records', and everything here counts units. Bounds "
    "and promises are of a whole unit: what was promised for single records promises less for it."
)
_COINS = (
    "Each {one} was included by a fair coin of its own, and nothing but the {one}s told the "
    "model or the attack how the coins fell. The bounds rest on it."
)
_LIKE = "Members and non-members differ in membership alone"
_LOOKED_AT = (
    "Gathering looked for copies and, where a model was given, whether a classifier that never "
    "sees the model tells the two apart. A note says what was found; no note, that nothing was."
)
_CHOSEN = "The attack and its settings were not chosen on these records."
_PAID = "No attack's settings were chosen on these records. The choice of the first is paid for."
_STRONGER = (
    "Stronger attacks. One that sees more of the model, of its training or of other models may "
    "find more."
)
_EXPOSED = "Records more exposed than these, such as outliers, or canaries inserted on purpose."
_TRAINING = "Another training. The next model trained in this way may leak more."
_UNSEEN = "The first model of each training had seen none of these records."
_BETWEEN = "Other models of this training, such as checkpoints between these."
_OTHERWISE = (
    "Other perturbations than these, more of them, or a search for where the class changes."
)
_COPIES = "Copies of records. The records have no names."
_GROUPS = "Groups, such as classes or clinics. Nothing says which records are of one."
_PERSONS = (
    "Units, such as persons with several records. No column `unit` says which records belong "
    "together, and each counts as an independent trial."
)


def known(scored: Scored | Several, noted: bool) -> dict[str, bool]:
    """What a checklist asks of scores; `noted` where a note is of these."""
    grouped, whole = scored.group is not None, scored.unit is not None
    return {"named": scored.named, "grouped": grouped, "whole": whole, "noted": noted}


def checklist_of_scores(
    *,
    named: bool,
    grouped: bool,
    noted: bool,
    whole: bool = False,
    attacks: int = 1,
    targets: int = 1,
    coins: bool = False,
) -> list[Item]:
    """The items of an audit that sees scores and no records; `whole` where these have units."""
    once = " none occurs twice," if named else ""
    order = (
        f"higher scores mean member, few records tie,{once} no score numbers or orders the rows, "
        "and neither side is rare"
    )
    looked = f"Whether {order}: a note says what was found." if noted else f"{order.capitalize()}."
    return [
        *_items(ASSUMED, [
            _TRUTH,
            *_trials(whole, _design(coins)),
            f"{_LIKE}. Scores cannot show whether they do.",
            _CHOSEN if attacks == 1 else _PAID,
        ]),
        *_items(TESTED, [looked]),
        *_items(NOT_TESTED, [
            _STRONGER,
            _EXPOSED,
            *([_TRAINING] if targets == 1 else []),
            *([] if named else [_COPIES]),
            *([] if grouped else [_GROUPS]),
            *([] if whole else [_PERSONS]),
        ]),
    ]  # fmt: skip


def _design(coins: bool) -> list[str]:
    """What the bounds rest on."""
    return [_COINS] if coins else [_DRAWN, _ALONE]


def _left_to_assume(coins: bool, drawn: str | None) -> list[str]:
    """What the bounds rest on beyond what the audit itself has done."""
    if drawn is None:
        return _design(coins)
    return [_ASKED] if coins else [_ALONE]


def _trials(whole: bool, texts: Sequence[str]) -> list[str]:
    """What makes records, or the units that hold them whole, independent trials."""
    one = "unit" if whole else "record"
    return [*(text.format(one=one) for text in texts), *([_WHOLE] if whole else [])]


def checklist_of_evidence(
    *,
    looked_at: bool,
    grouped: bool,
    units: int,
    whole: bool = False,
    coins: bool = False,
    drawn: str | None = None,
    sequence: Mapping[str, Any] | None = None,
    perturbed: bool = False,
) -> list[Item]:
    """The items of an audit of evidence; `looked_at` where gathering looked at its records.

    `drawn` says how the audit itself drew memberships, where it did, and `sequence` how many models
    each training ends with and what is asked of them, where it is several; `perturbed` where models
    were asked for classes of perturbed records.
    """
    added = bool(sequence) and sequence["question"] == ADDED
    like = f"{_LIKE}. {_LOOKED_AT if looked_at else 'Evidence cannot show it.'}"
    return [
        *_items(DONE, [f"{_MEMBERSHIPS} {drawn}"] if drawn else []),
        *_items(ASSUMED, [
            *([] if drawn else [_TRUTH]),
            *([_UNSEEN] if added else []),
            *_trials(whole, _left_to_assume(coins, drawn)),
            _PAID,
        ]),
        *_items(TESTED if looked_at else ASSUMED, [like]),
        *_items(NOT_TESTED, [
            "Attacks that the evidence does not allow. They are listed with what each would need.",
            *([_BETWEEN] if sequence else []),
            *([_OTHERWISE] if perturbed else []),
            _EXPOSED,
            *([_TRAINING] if units == 1 else []),
            *([] if grouped else [_GROUPS]),
            *([] if whole else [_PERSONS]),
        ]),
    ]  # fmt: skip


def _items(status: str, texts: Sequence[str]) -> list[Item]:
    return [{"status": status, "text": text} for text in texts]


TIED = 0.05
ONE_TARGET = "One target: the intervals are of this model, and say nothing of another training."
LOOKED_AT = 4000
"""Records that a classifier is shown which never sees the model."""


def notes_of_scores(scored: Scored, level: float) -> list[str]:
    """Warnings about scores, a sentence each."""
    notes = not_read(scored.not_read)
    notes += notes_of_columns({scored.column: scored.score}, scored.member)
    notes += notes_of_attack(scored.score, auc_interval(scored.score, scored.member, level)[1])
    return [*notes, *scored.noted, *notes_of_rows(scored.member)]


def not_read(columns: tuple[str, ...]) -> list[str]:
    """What was left of a file, where anything was."""
    if not columns:
        return []
    listed = ", ".join(name or "one without a name" for name in columns[:10])
    more = ", ..." if len(columns) > 10 else ""
    return [f"Columns of the file that an audit does not read: {listed}{more}."]


def notes_of_attack(score: np.ndarray, highest: float) -> list[str]:
    """Warnings about one attack whose AUC is at most so high."""
    notes = []
    if highest < 0.5:
        notes.append(
            "Members score lower than non-members: higher must mean member. Was a loss passed in "
            "the place of its negative?"
        )
    _, counts = np.unique(score, return_counts=True)
    if counts.max() > TIED * score.size:
        notes.append(
            f"{counts.max()} of {score.size} records share one score. Ties count against "
            "the attack at low false-positive rates."
        )
    return notes


def notes_of_rows(member: BoolArray) -> list[str]:
    """Warnings about the records that were asked."""
    share = member.mean()
    if 0.05 <= share <= 0.95:
        return []
    return [f"{100 * share:.1f}% of the records are members; the smaller side sets the precision."]


def notes_of_records(
    part: tuple[Any, np.ndarray],
    hashes: np.ndarray,
    member: BoolArray | None,
    held_hashes: np.ndarray | None = None,
) -> list[str]:
    """Warnings about the records of an audit, and about whom its model was trained on."""
    notes = []
    if copies := copies_of(hashes):
        notes.append(
            f"{len(copies)} of {len(hashes)} records are copies of others (record {copies[0]}, for "
            "example). A copy of a member scores like a member: an audit counts the first alone. "
            "Leave out duplicates before memberships are drawn."
        )
    if held_hashes is not None:
        seen = int(np.isin(held_hashes, hashes).sum())
        if seen:
            notes.append(
                f"{seen} of {len(held_hashes)} held records are among the records themselves, "
                "which models were trained on: attacks that compare with a population need others."
            )
    if member is not None:
        notes += _shift(*part, member)
    return notes


def copies_of(hashes: np.ndarray) -> list[int]:
    """The places of records that equal an earlier one."""
    _, first = np.unique(hashes, return_index=True)
    return np.setdiff1d(np.arange(len(hashes)), first).tolist()


def _shift(x: Any, y: np.ndarray, member: BoolArray) -> list[str]:
    """Members that can be told from non-members without the model."""
    rows = np.random.default_rng(0).permutation(len(x))[:LOOKED_AT]
    if min(np.bincount(member[rows], minlength=2)) < 10:
        return []
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    blind = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    shown = [one.reshape(len(one), -1) for one, _ in in_parts(x[rows], y[rows])]
    flat = np.c_[np.concatenate(shown).astype(np.float64), y[rows]]
    score = cross_val_predict(blind, flat, member[rows], cv=5, method="decision_function")
    low, _ = auc_interval(score, member[rows], 0.99)
    if low <= 0.5:
        return []
    return [
        f"{SHIFT} with an AUC of "
        f"{auc(score, member[rows]):.2f}: they differ in more than membership, and every attack's "
        "number measures that too."
    ]
