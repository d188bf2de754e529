"""Every number of a study's table beside the published one, judged when shown, and counted."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from membership.book.published import verdicts
from membership.book.published.setups import comparability
from membership.book.published.tables import notes_of
from membership.errors import InputError
from membership.metrics.rate_names import metric_words

NUMBERS = ["value", "low", "high"]
JUDGED = ["difference", "difference_low", "difference_high", "verdict", "reason", "imputed"]
MORE = ["margin", "standard_error", "p_value", "equal_low", "equal_high", "spread", "decimals"]
_WHERE = "printed_at"
_INTERVAL = ["difference", "difference_low", "difference_high", "p_value"]
MODEL = "(model)"
"""The attack of rows that say how good the model itself is."""
ANOTHER_MODEL = "another model"


def compare(
    table: pd.DataFrame,
    reference: pd.DataFrame,
    on: list[str],
    *,
    by: str = "dataset",
    unjudged: str = "",
) -> pd.DataFrame:
    """Set every regenerated number beside the published one.

    Parameters
    ----------
    table : pandas.DataFrame
        A study's tidy table: the columns ``on``, ``value``, ``low``, ``high`` and, where numbers
        are not exact, ``standard_error``, ``degrees_of_freedom``.
        Its ``attrs["setup"]`` holds the run's set-up a data set (see `comparability`), by the
        value in the column ``by``; one for all where there is no such column.
    reference : pandas.DataFrame
        Published numbers as `membership.book.published.reference` returns them; keys may have been
        renamed or taken over for another data set.
    on : list of str
        The columns that say which number is which.
    by : str
        The column that names the set-up.
    unjudged : str
        Why none of the numbers gets a verdict, where they only stand beside each other.

    Returns
    -------
    pandas.DataFrame
        One row a row of ``table``, in its order: ``on``, ``published``, ``value``, ``low``,
        ``high``, ``difference``, ``difference_low``, ``difference_high`` (of logarithms for
        ratios), ``verdict``, ``reason``, ``imputed`` (the published error is taken from ours),
        ``margin``, ``standard_error`` (ours), ``p_value`` (of no difference), ``equal_low`` and
        ``equal_high`` (the margin about the published number), ``spread`` and ``decimals`` (as
        published) and ``printed_at`` (where; empty for a number in no table). Where the paper gives
        no number ``published`` is NaN and ``verdict`` is empty.

    Raises
    ------
    InputError
        A column or the set-up is missing, a key occurs twice, or a number is no number.
    """
    _check_columns("table", table, [*on, *NUMBERS])
    _check_columns("reference", reference, [*on, "value", "margin", "setup"])
    _check_unique("table", table, on)
    _check_unique("reference", reference, on)
    if "setup" not in table.attrs:
        raise InputError("table.attrs lacks 'setup'; a study states the set-up of each data set")
    joined = _joined(table, reference, on)
    rows = [_Row(row, table.attrs["setup"], by) for row in joined.to_dict(orient="records")]
    judged = pd.DataFrame([_judge(row, rows, on, unjudged) for row in rows], index=joined.index)
    if not unjudged:
        _apart_where_the_model_differs(judged, rows)
    where = joined[_WHERE].where(joined["published"].notna(), "")
    parts = [joined[[*on, "published", *NUMBERS]], judged[[*JUDGED, *MORE]], where]
    result = pd.concat(parts, axis=1)
    result.attrs = dict(table.attrs)
    return result


class _Row:
    """A row of the joined tables, the run's set-up, and our standard error."""

    def __init__(self, numbers: dict[str, Any], setups: Mapping[str, Any], by: str):
        self.numbers = numbers
        self.is_published = not pd.isna(numbers["published"])
        label = str(numbers[by]) if by in numbers else next(iter(setups), "")
        if self.is_published and label not in setups:
            raise InputError(f"table.attrs['setup'] lacks {label!r}; it has {list(setups)}")
        self.label, self.run = label, setups.get(label, {})
        self.error, self.degrees = _error_of(numbers)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    @property
    def attack(self) -> str:
        return str(self.numbers.get("attack", ""))

    @property
    def metric(self) -> str:
        return str(self.numbers.get("metric", ""))

    @property
    def stated(self) -> Mapping[str, Any]:
        return notes_of(self["chapter"])["setups"][self["setup"]]

    @property
    def has_spread(self) -> bool:
        return self.is_published and not pd.isna(self["spread"])

    @property
    def obstacles(self) -> list[str]:
        """Why the number is not comparable."""
        return comparability(
            self.stated,
            self.run,
            metric=self["printed_metric"],
            attack=self.attack,
            n_reference=_count(self.numbers.get("n_reference")),
            rate=self["rate"],
        )


def _error_of(numbers: dict[str, Any]) -> tuple[float, float]:
    """Our standard error and its degrees of freedom: as stated, none of what is exact, or NaN."""
    if "standard_error" in numbers:
        return float(numbers["standard_error"]), float(numbers["degrees_of_freedom"])
    exact = numbers["low"] == numbers["high"] == numbers["value"]
    return (0.0, math.inf) if exact else (math.nan, math.nan)


def _judge(row: _Row, rows: list[_Row], on: list[str], unjudged: str) -> dict[str, Any]:
    judgement = {
        **dict.fromkeys(_INTERVAL, math.nan),
        "imputed": False,
        "standard_error": row.error,
    }
    judgement |= {name: row[name] for name in ("margin", "spread", "decimals")}
    judgement["equal_low"], judgement["equal_high"] = _equal(row)
    if not row.is_published:
        return {**judgement, "verdict": "", "reason": "the paper gives no number"}
    if unjudged:
        return {**judgement, "verdict": "", "reason": unjudged}
    obstacles = row.obstacles
    if row["seconds"]:
        # Whatever else differs: no run elsewhere would make them comparable.
        return {**judgement, "verdict": verdicts.SECONDS, "reason": "; ".join(obstacles)}
    if obstacles:
        return {**judgement, "verdict": "not comparable", "reason": "; ".join(obstacles)}
    if not math.isfinite(row.error):
        return {**judgement, "verdict": "not judged", "reason": "no standard error"}
    return {**judgement, **_by_the_rule(row, _ratio(row, rows, on))}


def _equal(row: _Row) -> tuple[float, float]:
    """The values that count as equal to the published one."""
    printed, margin = row["published"], row["margin"]
    if row["scale"] == "log":
        return printed * math.exp(-margin), printed * math.exp(margin)
    return printed - margin, printed + margin


def _by_the_rule(row: _Row, ratio: float) -> dict[str, Any]:
    """The verdict, with the interval it rests on and a sentence about it."""
    value, error, printed = row["value"], row.error, row["published"]
    spread, models = (row["spread"], row["n_models"]) if row.has_spread else (None, None)
    decimals = int(row["decimals"])
    is_imputed = spread is None and error > 0
    if is_imputed:
        units = row.degrees + 1 if math.isfinite(row.degrees) else 1
        error = verdicts.imputed(error, units, row["n_models"], ratio)
    if row["scale"] == "log":
        rounding = 0.5 * 10.0**-decimals / math.sqrt(3) / printed
        error = math.hypot(error / value, rounding)
        value, printed, decimals = math.log(value), math.log(printed), None
        spread = models = None
    known = (value, error, row.degrees, printed)
    judged = verdicts.verdict(
        *known, margin=row["margin"], spread=spread, n_models=models, decimals=decimals
    )
    difference, variance, degrees = verdicts.moments(*known, spread, models, decimals)
    return {
        "difference": judged.difference,
        "difference_low": judged.low,
        "difference_high": judged.high,
        "verdict": judged.word,
        "reason": _reason(judged, row["margin"]),
        "imputed": is_imputed,
        "p_value": verdicts.p_value(difference, variance, float(degrees)),
    }


def _reason(judged: verdicts.Verdict, margin: float) -> str:
    interval = f"difference {judged.difference:.2g} [{judged.low:.2g}, {judged.high:.2g}]"
    words = {
        "agrees": f"within the margin {margin:.2g}",
        "differs": f"excludes 0, and not within the margin {margin:.2g}",
        "compatible": f"contains 0, and reaches beyond the margin {margin:.2g}",
    }
    return f"{interval}: {words[judged.word]}"


def _ratio(row: _Row, rows: list[_Row], on: list[str]) -> float:
    """The paper's spread over ours, at least 1, where another metric of the row prints one."""
    if row.has_spread or "metric" not in on:
        return 1.0
    keys = [name for name in on if name != "metric"]
    ratios = [1.0]
    for other in rows:
        if other.has_spread and other.error > 0 and all(other[k] == row[k] for k in keys):
            ratios.append(other["spread"] / (other.error * math.sqrt(other.degrees + 1)))
    return max(ratios)


def _apart_where_the_model_differs(judged: pd.DataFrame, rows: list[_Row]) -> None:
    """Where the recipe is not fully stated and the model's own numbers differ, it is another."""
    for place, row in enumerate(rows):
        is_model = row.attack == MODEL and judged.at[judged.index[place], "verdict"] == "differs"
        if not is_model or row.stated.get("recipe_stated", True):
            continue
        for other, index in zip(rows, judged.index, strict=True):
            word = judged.at[index, "verdict"]
            if other.label != row.label or other.attack == MODEL or word not in verdicts.WORDS:
                continue
            judged.loc[index, _INTERVAL] = math.nan
            judged.loc[index, ["verdict", "imputed"]] = ["not comparable", False]
            judged.loc[index, "reason"] = (
                f"{ANOTHER_MODEL}: the recipe is not fully stated, and its "
                f"{metric_words(row.metric)} is {row['value']:.4g} instead of "
                f"{row['published']:.4g}"
            )


def _joined(table: pd.DataFrame, reference: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """The table's rows, each with what the reference says of its key."""
    printed = reference[on].copy()
    try:
        printed["published"] = pd.to_numeric(reference["value"]).astype(float)
    except (ValueError, TypeError) as error:
        raise InputError(f"reference column 'value' holds text ({error}); keep numbers") from error
    beside = ["spread", "n_models", "decimals", "margin", "scale", "rate", "seconds", "setup"]
    printed[[*beside, "chapter"]] = reference[[*beside, "chapter"]]
    printed["printed_metric"] = reference.get("metric", "")
    printed[_WHERE] = reference.get(_WHERE, "")
    own = [name for name in printed if name in table.columns and name not in on]
    try:
        return table.merge(printed.drop(columns=own), on=on, how="left")
    except ValueError as error:
        raise InputError(f"the columns {on} of table and reference differ in type") from error


def _count(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def _check_columns(name: str, frame: pd.DataFrame, required: list[str]) -> None:
    missing = [column for column in required if column not in frame.columns]
    if missing:
        raise InputError(f"{name} lacks the columns {missing}; it has {list(frame.columns)}")


def _check_unique(name: str, frame: pd.DataFrame, on: list[str]) -> None:
    twice = frame[frame.duplicated(on)]
    if len(twice):
        key = ", ".join(str(value) for value in twice.iloc[0][on])
        raise InputError(f"{name} holds ({key}) twice; name the columns that tell rows apart")


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
    counts = {word: int((words == word).sum()) for word in verdicts.WORDS}
    total = sum(counts.values())
    parts = []
    if total:
        uncertain = int(((compared["standard_error"] > 0) & words.isin(verdicts.WORDS)).sum())
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
    judged = compared[compared["verdict"].isin(verdicts.WORDS)]
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
    timed = int((compared["verdict"] == verdicts.SECONDS).sum())
    clauses = [f"{timed} {verdicts.SECONDS}"] if timed else []
    if len(apart):
        model = f" ({another} of them: another model)" if another else ""
        clauses.append(f"{len(apart)} not comparable{model}")
    if unknown:
        clauses.append(f"{unknown} not judged: no standard error")
    return clauses


def _verb(count: int, verb: str) -> str:
    return f"{count} {verb}{'s' if count == 1 else ''}"
