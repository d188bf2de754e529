"""What the chapter's exhibits read: evidence by data set, and what is made of it once a run."""

import pandas as pd

from membership.book.exhibits import Source
from membership.book.exhibits.declaration import Reading
from membership.book.studies.bayes_optimal import gaussian, names, networks, splits
from membership.book.studies.bayes_optimal.settings import Settings


def _names(settings: Settings) -> list[str]:
    return [names.logistic(n) for n in settings.n_records]


def sizes(source: Source) -> list[splits.Size]:
    """The splits of Table 1, of one run."""
    return [splits.Size(source.evidence(name)) for name in _names(source.settings)]


def trials(source: Source) -> pd.DataFrame:
    """Every measurement behind Table 1 and its controls, of one run."""
    return splits.trials(source.made(sizes))


def game(source: Source) -> networks.ReferenceGame:
    """The networks' signals, of one run."""
    return networks.game(source.evidence(names.NETWORKS))


SIZES, TRIALS = Reading(_names, sizes), Reading(_names, trials)
GAME = Reading(lambda _: (names.NETWORKS,), game)
GAUSSIAN = Reading(lambda _: (), lambda source: gaussian.both_games(source.settings))
