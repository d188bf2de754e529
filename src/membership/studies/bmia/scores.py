"""Every attack of Table 1 on one data set's evidence: scores and truth, target by target."""

from membership import attacks
from membership.arrays import FloatArray
from membership.studies.bmia.seen import Seen
from membership.studies.bmia.summaries import Pairs

SIZES = (2, 4, 8)
DIFFERENCE = "difference"
MIXTURE = "BMIA, mixture"
CLOSED = "BMIA, closed form"
CONSTANT = "BMIA, constant sd"
FULL = "BMIA, full posterior"
REGISTERED = {
    "Attack-P": "attack-p",
    "QMIA": "qmia",
    "Attack-R": "attack-r",
    "LiRA": "lira-offline",
    "RMIA": "rmia-share",
    DIFFERENCE: "difference",
    "BMIA": "bmia",
    MIXTURE: "bmia-mixture",
    CLOSED: "bmia-closed",
}
"""The registered attack behind each of the table's names; LiRA offline, a variance a record."""


def keys(seen: Seen) -> list[tuple[str, int]]:
    """The rows of Table 1: attack and number of references, none beyond those trained."""
    sizes = [n for n in SIZES if n <= seen.n_reference]
    several = [(name, n) for name in ("Attack-R", "LiRA", "RMIA") for n in sizes]
    return [
        ("Attack-P", 0),
        ("QMIA", 0),
        *several,
        (DIFFERENCE, 1),
        ("BMIA", 1),
        (MIXTURE, sizes[-1]),
    ]


def all_scores(seen: Seen) -> dict[tuple[str, int], Pairs]:
    """Scores of all attacks of Table 1, in the table's order."""
    return {(name, n): seen.attack(REGISTERED[name], max(n, 1)) for name, n in keys(seen)}


def lira(seen: Seen, n: int, variance: str = "per-record", sided: str = "one") -> Pairs:
    """Offline; the paper's formula is one-sided and does not say whose variance."""
    odds = seen.outputs["log_odds"].values.astype(float)
    how = {"mode": "offline", "variance": variance, "sided": sided}
    return seen.each(lambda t: attacks.lira(odds[t], odds[seen.references(t, n)], **how))


def constant_sd(seen: Seen) -> Pairs:
    """BMIA's predicted mean, but one standard deviation for all: the ablation."""

    def score(target: int) -> FloatArray:
        return seen.hinge[target] - seen.moments(seen.first(target))[0]

    return seen.each(score)
