"""What rows of the chapter's tables are called, where another file picks them; needs no torch."""

import re

import pandas as pd

SIMULATED = "simulated"
"""How the data of a row that is no real data set's are called, or how their name begins."""
KNOWN, ONE, FEW, ALL = "one step, moments known", "one step", "few steps", "all steps"
ATTACKS = SUM, JOINT, RATIO = "sum of log p", "joint test", "joint likelihood ratio"
"""Of several steps on one batch."""
PREDICTED, FOUND = "predicted at K = d, d parameters", "found, GLiR"
RANK, SPREAD = "rank in the place of d", "each record's K in the place of its mean"
DEPENDENCE, BACKGROUND = "steps that are not independent", "moments estimated, if normal"
REST = "the rest"
"""The parts of Control 13, from the predicted AUC to that which is found."""
ONE_STEP = "mu of one step"
WITHOUT, WITH, LOST = "AUC without noise (%)", "AUC with it (%)", "AUC lost (points)"
EXCESS = "greatest TPR less GDP's curve at ten rates (points)"
NORMS = OWN, MEDIAN = "C of Table 4", "C at the median norm"
GLIR, GLIR_MORE, RATIO_MORE = (
    "GLiR",
    "GLiR, moments of up to 20,000 records",
    "likelihood ratio, moments of up to 20,000 records",
)
LOSS, LIRA, LIRA_ONE, LIRA_FEW, RMIA, BMIA = (
    "LOSS",
    "LiRA",
    "LiRA, one variance",
    "LiRA, one variance, at most 16 shadow models",
    "RMIA",
    "BMIA",
)
ALL_EPOCHS = "all epochs"
"""How long a training of Table 4 is called in Control 20."""
PAIRS = ((GLIR, LIRA_FEW), (GLIR, LIRA), (GLIR, LOSS), (LIRA, RMIA))
"""The attacks of Control 20 whose differences have rows."""
PROMISED, PROMISED_MEASURED, PROMISED_COMPOSED = (
    "promised, K = d",
    "promised, K measured",
    "promised, Equation 10",
)
SECONDS = " (s)"
"""How a quantity of Control 19 ends that is an attack's time."""


def steps_in_words(steps: int) -> str:
    return ONE if steps == 1 else f"{steps} steps"


def on_background(steps: int, records: int) -> str:
    """The case of Control 4 that is of so many steps and background records."""
    return f"{steps_in_words(steps)}, {records:,} background records"


def has_steps(case: str, steps: int) -> bool:
    """Whether a case of Control 4 is of so many steps on real data."""
    return case.partition(", ")[0] == steps_in_words(steps)


def k_at(quantile: float) -> str:
    """The quantity of Control 6 that is K over the rank at a quantile."""
    return f"K / rank, quantile {quantile:g}"


def difference(first: str, second: str) -> str:
    """What the row of a pair's difference is called."""
    return f"{first} less {second}"


_TO_NOISE, _POINTS = "accuracy lost to noise for ", " (points)"


def lost_to_noise(mu: str, norm: str) -> str:
    """The quantity of Control 15 that noise costs at a level and clipping norm."""
    return f"{_TO_NOISE}mu = {mu}, {norm}{_POINTS}"


def noise_losses(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that `lost_to_noise` names, with columns level and C."""
    parts = table["quantity"].str.extract(
        rf"^{_TO_NOISE}(?P<level>mu = [\d.]+), (?P<C>.+){re.escape(_POINTS)}$"
    )
    return table.join(parts).dropna(subset="C")
