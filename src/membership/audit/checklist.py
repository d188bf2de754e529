"""What an audit assumed, what it looked at, and what it did not: for whoever signs it."""

from collections.abc import Sequence

FORMAT = "membership-audit-1"
"""What `audit.schema.json`, published with the site, describes."""
ASSUMED, TESTED, NOT_TESTED = "assumed", "tested", "not tested"

Item = dict[str, str]
_TRUTH = (
    "Memberships are right: members are the records that the model was trained on, and no others."
)
_DRAWN = "Memberships were drawn independently, record by record. The bounds rest on it."
_ALONE = "No record's score moves with another record's membership. The bounds rest on it."
_COINS = (
    "Each record was included by a fair coin of its own, and nothing but the records told the "
    "model or the attack how the coins fell. The bounds rest on it."
)
_LIKE = "Members and non-members differ in membership alone"
_LOOKED_AT = (
    "Gathering looked for copies and, where a model was given, whether a classifier that never "
    "sees the model tells the two apart. A note says what was found; without a note, nothing was."
)
_CHOSEN = "The attack and its settings were not chosen on these records."
_PAID = "No attack's settings were chosen on these records. The choice of the first is paid for."
_STRONGER = (
    "Stronger attacks. One that sees more of the model, of its training or of other models may "
    "find more."
)
_EXPOSED = "Records more exposed than these, such as outliers, or canaries inserted on purpose."
_TRAINING = "Another training. The next model trained in this way may leak more."
_COPIES = "Copies of records. The records have no names."
_GROUPS = "Groups. Nothing says which records belong together."


def of_scores(
    *,
    named: bool,
    grouped: bool,
    noted: bool,
    attacks: int = 1,
    targets: int = 1,
    coins: bool = False,
) -> list[Item]:
    """The items of an audit that sees scores and no records; `noted` where a note is of these."""
    once = " none occurs twice," if named else ""
    order = f"higher scores mean member, few records tie,{once} and neither side is rare"
    looked = f"Whether {order}: a note says what was found." if noted else f"{order.capitalize()}."
    return [
        *_items(ASSUMED, [_TRUTH, *([_COINS] if coins else [_DRAWN, _ALONE])]),
        *_items(ASSUMED, [f"{_LIKE}. Scores cannot show whether they do.",
                           _CHOSEN if attacks == 1 else _PAID]),
        *_items(TESTED, [looked]),
        *_items(NOT_TESTED, [
            _STRONGER,
            _EXPOSED,
            *([_TRAINING] if targets == 1 else []),
            *([] if named else [_COPIES]),
            *([] if grouped else [_GROUPS]),
        ]),
    ]  # fmt: skip


def of_evidence(*, looked_at: bool, grouped: bool, units: int) -> list[Item]:
    """The items of an audit of evidence; `looked_at` where gathering looked at its records."""
    like = f"{_LIKE}. {_LOOKED_AT if looked_at else 'Evidence cannot show it.'}"
    return [
        *_items(ASSUMED, [_TRUTH, _DRAWN, _ALONE, _PAID]),
        *_items(TESTED if looked_at else ASSUMED, [like]),
        *_items(NOT_TESTED, [
            "Attacks that the evidence does not allow. They are listed with what each would need.",
            _EXPOSED,
            *([_TRAINING] if units == 1 else []),
            *([] if grouped else [_GROUPS]),
        ]),
    ]  # fmt: skip


def _items(status: str, texts: Sequence[str]) -> list[Item]:
    return [{"status": status, "text": text} for text in texts]
