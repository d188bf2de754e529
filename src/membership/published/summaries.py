"""A table's verdicts in one sentence, with what chance alone would give."""

import numpy as np
import pandas as pd

from membership.published.comparison import ANOTHER_MODEL

LEVEL = 0.05
_NONE = "the paper gives none of these numbers"


def summary(compared: pd.DataFrame) -> str:
    """Count the verdicts of one table.

    Parameters
    ----------
    compared : pandas.DataFrame
        What `compare` returned.

    Returns
    -------
    str
        "40 comparable: 20 agree, 8 compatible (6 too imprecise to agree), 12 differ; at most
        about 2 would differ by chance; 9 differ after Holm", then how many are not comparable.
        The numbers of a table share their targets, so that this is no test of the table.
    """
    words = compared["verdict"]
    counts = {word: int((words == word).sum()) for word in ("agrees", "compatible", "differs")}
    total = sum(counts.values())
    parts = []
    if total:
        uncertain = int(((compared["standard_error"] > 0) & words.isin(list(counts))).sum())
        parts.append(
            f"{total} comparable: {_verb(counts['agrees'], 'agree')}, {counts['compatible']} "
            f"compatible{_imprecise(compared)}, {_verb(counts['differs'], 'differ')}"
        )
        if uncertain:
            parts.append(f"at most about {LEVEL * uncertain:.2g} would differ by chance")
        if counts["differs"]:
            parts.append(f"{_verb(differ_after_holm(compared), 'differ')} after Holm")
    parts += _not_judged(compared)
    beside = int(compared["published"].notna().sum())
    nothing = f"{beside} published numbers, none judged" if beside else _NONE
    return "; ".join(parts) or nothing


def differ_after_holm(compared: pd.DataFrame) -> int:
    """How many verdicts *differs* remain when all comparable numbers are tested together.

    Parameters
    ----------
    compared : pandas.DataFrame
        What `compare` returned. Prose says that a table differs only where this is above 0.
    """
    judged = compared[compared["verdict"].isin(["agrees", "compatible", "differs"])]
    p = judged["p_value"].to_numpy(dtype=float)
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return int(((adjusted <= LEVEL) & (judged["verdict"] == "differs").to_numpy()).sum())


def _imprecise(compared: pd.DataFrame) -> str:
    """Compatible numbers whose interval is wider than the margin on both sides together."""
    compatible = compared[compared["verdict"] == "compatible"]
    wide = compatible["difference_high"] - compatible["difference_low"] > 2 * compatible["margin"]
    return f" ({int(wide.sum())} too imprecise to agree)" if len(compatible) else ""


def _not_judged(compared: pd.DataFrame) -> list[str]:
    apart = compared[compared["verdict"] == "not comparable"]
    another = int(apart["reason"].str.startswith(ANOTHER_MODEL).sum())
    unknown = int((compared["verdict"] == "not judged").sum())
    clauses = []
    if len(apart):
        model = f" ({another} of them: another model)" if another else ""
        clauses.append(f"{len(apart)} not comparable{model}")
    if unknown:
        clauses.append(f"{unknown} not judged: no standard error")
    return clauses


def _verb(count: int, verb: str) -> str:
    return f"{count} {verb}{'s' if count == 1 else ''}"
