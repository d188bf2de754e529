"""What an audit assumed, what it looked at, and what it did not: for whoever signs it."""

from collections.abc import Sequence

FORMAT = "membership-audit-1"
"""What `audit.schema.json`, published with the site, describes."""
ASSUMED, TESTED, NOT_TESTED = "assumed", "tested", "not tested"

Item = dict[str, str]
_TRUTH = "The truth is right: members are the records that the model was trained on, no others are."
_DRAWN = "Memberships were drawn independently, record by record. The bounds rest on it."
_ALONE = "No record's score moves with another record's membership. The bounds rest on it."
_COINS = (
    "Each record was included by a fair coin of its own, and nothing but the records told the "
    "model or the attack how the coins fell. The bounds rest on it."
)
_LIKE = "Members and non-members differ in membership alone"
_CHOSEN = "The attack and its settings were not chosen on these records."
_PAID = "No attack's settings were chosen on these records. The choice of the first is paid for."
_STRONGER = (
    "Stronger attacks. What sees more of the model, of its training or of other models may find "
    "more."
)
_EXPOSED = "Records more exposed than these, such as outliers and inserted canaries."
_TRAINING = "Another training. The next model trained in this way may leak more."
_COPIES = "Copies of records. The records have no names."
_GROUPS = "Groups. Nothing says which records belong together."


def of_scores(
    *, named: bool, grouped: bool, attacks: int = 1, targets: int = 1, coins: bool = False
) -> list[Item]:
    """The items of an audit that sees scores and no records."""
    looked = "Higher scores mean member, and few records tie"
    return [
        *_items(ASSUMED, [_TRUTH, *([_COINS] if coins else [_DRAWN, _ALONE])]),
        *_items(ASSUMED, [f"{_LIKE}. Scores do not show it.", _CHOSEN if attacks == 1 else _PAID]),
        *_items(TESTED, [f"{looked}{', and none is there twice' if named else ''}. A note says "
                         "where it was found otherwise."]),
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
    looked = (
        "A classifier that never sees the model was tried, where a model was given; and copies "
        "were counted. A note says what was found."
    )
    like = f"{_LIKE}. {looked if looked_at else 'Evidence does not show it.'}"
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
