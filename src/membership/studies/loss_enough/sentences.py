"""The sentences that no row says alone."""

import pandas as pd

from membership.exhibits.declaration import later
from membership.exhibits.sentences import span
from membership.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    IHA_STAR,
    RESIDUAL,
)

(clouds,) = later(__package__, "clouds")


def _areas(table: pd.DataFrame, *keys: str, metric: str = AUC) -> pd.Series:
    """The numbers of one metric by keys and attack."""
    return table[table["metric"] == metric].set_index([*keys, "attack"])["value"]


def of_clouds(table: pd.DataFrame) -> str:
    """How many models lie within their line."""
    return f"Of the models of a cloud {span(clouds.inside(table))} lie within its line."


def of_exponents(table: pd.DataFrame) -> str:
    """The three tests at their own noise, and what the shape leaves to find."""
    area = _areas(table, "exponent")
    best = area.xs(BEST_PARAMETERS, level="attack")
    own = ((-1.0, RESIDUAL), (0.0, BEST_LOSS), (1.0, IHA_STAR))
    behind = max(area[at, BEST_PARAMETERS] - area[at, name] for at, name in own)
    return (
        f"The best attack has an AUC of {best.min():.1f} to {best.max():.1f}%. The residual test "
        f"at -1, the loss at 0 and IHA* at 1 are at most {behind:.1f} points behind."
    )


def of_temperatures(table: pd.DataFrame) -> str:
    """Both ends with all others known, and how far the loss is behind at most."""
    area = _areas(table, "others", "temperature")[ALL]
    low, high = table["temperature"].min(), table["temperature"].max()
    lack = max(
        abs(area[t, BEST_PARAMETERS] - area[t, BEST_LOSS]) for t in table["temperature"].unique()
    )
    return (
        f"All others known, the best AUC goes from {area[low, BEST_PARAMETERS]:.1f}% at T = "
        f"{low:g} to {area[high, BEST_PARAMETERS]:.1f}% at {high:g}; the loss is at most "
        f"{lack:.2f} points behind."
    )
