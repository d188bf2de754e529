"""What an audit's numbers mean for a release, in sentences for whoever decides on it."""

from typing import Any

NO_PROOF_OF_SAFETY = (
    "No number here says that the model is safe: a stronger attack may find more, other "
    "records may be more exposed, and another training may leak more."
)
CHOSEN = (
    "That attack was chosen on the records that it is judged on. What is said of it here, the "
    "lower bounds and the differences to it pay for the choice, by wider intervals than those in "
    "its row of the table, which hold for an attack chosen beforehand."
)
_FEW = " Too few non-members were asked to call that measured."
_GUESSES = "By its AUC this attack does not tell members from others better than guessing would."
_EQUAL = 1e-12
_NOTHING = (
    "The bounds prove nothing of the training's privacy: neither that it leaks nor that it "
    "protects."
)
_ASKS_MORE = (
    " An AUC above 0.5 does not contradict that: it takes all thresholds together, while a bound "
    "is of the best of {tried} and pays for each."
)


def of_one(measured: dict[str, Any], bounds: dict[str, Any]) -> list[str]:
    """Of one attack: whom it finds, who is worse off, what is refuted, and what is not said."""
    return [
        _found(measured),
        *_worse_off(measured),
        *_refuted(measured, bounds),
        NO_PROOF_OF_SAFETY,
    ]


def of_several(close: dict[str, Any] | None, name: str, ranking: dict[str, Any]) -> list[str]:
    """Of several attacks or targets; `close` is measured of the first attack, by its name."""
    attacks, sentences = len(ranking["attacks"]), []
    if attacks > 1:
        sentences.append(f"Of {attacks} attacks, {name} tells members from others best.")
    if close and ranking["targets"] > 1:
        sentences.append(f"Whom it finds is told of target {close['target']} alone.")
    if close:
        sentences += [_found(close), *_worse_off(close)]
    chosen = [CHOSEN] if attacks > 1 else []
    return [*sentences, *chosen, *_refuted(close, ranking), NO_PROOF_OF_SAFETY]


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
    return [
        f"Of {attacks} attacks {attacks - len(first)} are different. Equal in every number are "
        f"{'; '.join(sets)}."
    ]


def _found(measured: dict[str, Any]) -> str:
    """The share of members found at the least rate that the non-members carry."""
    if measured["auc"]["low"] <= 0.5:
        return _GUESSES
    rates = measured["tpr_at_fpr"]
    rate = next((rate for rate in rates if rate["measured"]), rates[-1])
    low, high = (f"{100 * rate[end]:.1f}%" for end in ("low", "high"))
    accused = f"{100 * rate['fpr']:g}%"
    return (
        f"Who sees of the released model what this attack saw, and accepts that {accused} of "
        f"non-members are accused, finds {low} to {high} of the members. Guessing finds {accused}."
        f"{'' if rate['measured'] else _FEW}"
    )


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


def _refuted(measured: dict[str, Any] | None, bounds: dict[str, Any]) -> list[str]:
    """Which promise the bound on epsilon refutes."""
    epsilon = bounds["epsilon_lower_bound"]
    if epsilon is None:
        return []
    if not epsilon["value"]:
        # Where the shape of the trade-off is supposed, more may be proved.
        if bounds["mu_lower_bound"]["value"]:
            return []
        surely = measured is not None and measured["auc"]["low"] > 0.5
        return [_NOTHING + _ASKS_MORE.format(tried=epsilon["tried"]) * surely]
    return [
        f"A promise of differential privacy with an epsilon below {epsilon['value']:.3f}, at the "
        "delta of this report, is refuted. The true epsilon may be far larger."
    ]
