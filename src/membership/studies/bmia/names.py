"""What the chapter's evidence files are called, for those who gather and those who read."""

from membership.studies import experiment
from membership.studies.bmia.settings import Settings

SAMPLES = (10, 30, 100, 300, 1000)
"""The numbers of draws that Figure 3 and Control 2 compare."""
MAIN = ("outputs", "posterior")
"""What every attack reads."""
POPULATION = "outputs-population"
DRAWS = ("measured-distances", "measured-samplings")
"""With the one above: of the last data set only."""
MANY = ("outputs-many", "posterior-many")
QUANTILES = "measured-quantiles"
"""Of the last data set with many references, of a network that trains in seconds."""
TOY = "measured-toy"
PERFECT = "perfect predictive"
AT_NOMINAL = ": FPR (%) at a nominal 1%"
"""How a panel of Control 2 goes on after its data set, or after the above."""
QMIA = "qmia"
"""What begins the name of each data set's file of it."""
CONVOLUTIONAL = tuple(
    f"{kind}-convolutional" for kind in ("outputs", "posterior", "variants", "outputs-views")
)
"""Of one convolutional network, on data of its own."""
SWEPT = {
    "tiny": (("purchase_like:500", "mlp-32"),),
    "quick": (("purchase_like:1000", "mlp-32"), ("purchase_like:2500", "mlp-32")),
    "paper": (
        ("purchase_like:25000", "mlp-32"),
        ("purchase_like:50000", "mlp-32"),
        ("purchase_like:125000", "mlp-32"),
        ("purchase_like:197324", "mlp-32"),
        ("cifar100-patches", "mlp-128"),
    ),
}
"""Data and network: the same data in several numbers, a fifth of which are members."""


def words(settings: Settings) -> dict[str, str]:
    """The word for each data set of a run that names its files."""
    return experiment.words([settings.dataset, *settings.also_datasets])


def files(kinds: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of these kinds for each data set, data set by data set."""
    return tuple(f"{kind}-{word}" for word in words(settings).values() for kind in kinds)


def architectures(settings: Settings) -> tuple[str, ...]:
    """The architectures that Figure 4 pairs, each once."""
    return tuple(dict.fromkeys(settings.architectures))


def of_architectures(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of Figure 4."""
    return tuple(f"{kind}-of-{name}" for name in architectures(settings) for kind in MAIN)


def of_strangers(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of Table 2."""
    return tuple(f"{kind}-strangers" for kind in MAIN)


def of_last(kinds: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Names of evidence that only the last data set has."""
    last = list(words(settings).values())[-1]
    return tuple(f"{kind}-{last}" for kind in kinds)


def sweep(settings: Settings) -> dict[str, tuple[str, str]]:
    """Data and network of the sweep over numbers of members, by the name of the evidence."""
    return {
        f"measured-swept-{experiment.word('-'.join(setup))}": setup
        for setup in SWEPT[settings.profile]
    }


def of_sweep(settings: Settings) -> tuple[str, ...]:
    """Names of the evidence of one small network on several numbers of members."""
    return tuple(sweep(settings))


def sizes_up_to(n_samples: int) -> list[int]:
    """The numbers of draws that are tried."""
    return [n for n in SAMPLES if n < n_samples] + [n_samples]
