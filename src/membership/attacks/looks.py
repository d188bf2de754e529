"""How each attack is drawn, in every figure: a hue for its family, a mark and a line for itself."""

import re
from dataclasses import dataclass
from functools import cache

from membership.attacks.registry import registry


@dataclass(frozen=True)
class Look:
    """The colour, mark and line of a series, as matplotlib names them."""

    colour: str
    marker: str
    line: str | tuple[float, tuple[float, ...]]


# Okabe and Ito's colours without yellow, which white paper swallows.
BLUE, VERMILION, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BLACK, ORANGE, SKY = "#000000", "#E69F00", "#56B4E9"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LINES = ("-", (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 3)), (0, (3, 1, 1, 1, 1, 1)))

FAMILIES = {
    # The loss alone; the loss beside what other models say of it, by its mean; and by its law.
    BLACK: ("loss", "attack-p", "zero-one"),
    SKY: ("attack-r", "mast", "difference", "qmia", "mast-best", "shokri", "l-attack"),
    VERMILION: (
        *("lira", "lira-global", "bavaria", "lira-l", "lira-offline", "lira-offline-global"),
        *("loss-ratio", "bavaria-normal", "bavaria-offline", "lira-sequence", "score-difference"),
    ),
    PINK: (
        *("rmia", "base", "rmia-online", "rmia-warm", "base-warm", "base-offline", "rmia-share"),
    ),
    # A posterior; the training gradient and its curvature; and the record's own gradient.
    GREEN: ("bmia", "bmia-closed", "bmia-mixture", "bmia-variance"),
    BLUE: ("iha", "iha-star", "residual", "sif"),
    ORANGE: ("glir", "matt", "glir-steps", "matt-second", "matt-newton"),
}
"""By hue, the attacks of a family by name; the first have the marks that differ most."""


def _darker(colour: str) -> str:
    """The same hue with six tenths of its light."""
    return "#" + "".join(f"{int(0.6 * int(colour[i : i + 2], 16)):02X}" for i in (1, 3, 5))


LOOKS = {
    name: Look(_darker(hue) if place % 2 else hue, MARKERS[place], LINES[place % len(LINES)])
    for hue, names in FAMILIES.items()
    for place, name in enumerate(names)
}


@cache
def _displays() -> list[tuple[re.Pattern[str], str]]:
    """Each attack as tables and texts call it, as a whole word, the longest first."""
    known = {name: attack for name, attack in registry().items() if name in LOOKS}
    names = {attack.term: name for name, attack in reversed(known.items()) if attack.term}
    names |= {attack.display: name for name, attack in known.items()}
    return [
        (re.compile(rf"(?<![\w-]){re.escape(shown)}(?![\w*-])"), names[shown])
        for shown in sorted(names, key=len, reverse=True)
    ]


def of_series(series: str) -> Look | None:
    """The look of the attack that a series names, such as "LiRA" or "LiRA (n=8)", or None.

    Examples
    --------
    >>> of_series("LiRA (n=8)") == of_series("LiRA")
    True
    >>> of_series("a coin") is None
    True
    """
    found = (LOOKS[name] for shown, name in _displays() if shown.search(series))
    return next(found, None)


def hue(look: Look) -> str:
    """The colour of its family."""
    return next(colour for colour in FAMILIES if look.colour in (colour, _darker(colour)))
