"""Theorem 4.1 and the propositions against numbers, and what two slips of the released code do."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import nngp
from membership.book.exhibits.rows import correlation
from membership.book.studies.lood import influenced, measures
from membership.book.studies.lood.experiment import MAIN
from membership.book.studies.lood.influenced import STEP
from membership.book.studies.lood.networks import NETWORK_W_STD
from membership.book.studies.lood.settings import Settings

NAMES = {"kl": "KL(D, D')", "kl-reverse": "KL(D', D)", "mean": "the mean distance"}


def statements(
    slopes: xr.Dataset, records: xr.Dataset, constants: list[xr.Dataset], settings: Settings
) -> pd.DataFrame:
    """The paper's theorem and propositions against numbers (Control 10)."""
    first = [*_stationarity(slopes), *_directions(records), *_proposition_5_1(settings)]
    return pd.DataFrame([*first, *low_rank(constants), *decay()])


def statements_said(table: pd.DataFrame) -> str:
    """Control 10."""
    by = {name: rows for name, rows in table.groupby("statement")}
    slopes = by["Theorem 4.1"].set_index("quantity")["value"]
    slope = slopes[[slope_of("kl"), slope_of("kl-reverse")]].max()
    gradient = by["Proposition 5.1"].pivot(index="case", columns="quantity", values="value")
    apart = (gradient["formula"] - gradient["differences"]).abs() / gradient.abs().max().max()
    return (
        f"At the record the slope of KL is at most {slope:.0e} of that away from it. "
        f"Proposition 5.1 and differences are at most {apart.max():.0e} of the largest gradient "
        "apart."
    )


Rows = list[dict[str, Any]]


def _said(statement: str, case: str, values: Mapping[str, float]) -> Rows:
    """A row a number.

    A column for each of so many quantities would be nearly empty: they are words of the row.
    """
    key = {"statement": statement, "case": case}
    return [{**key, "quantity": name, "value": float(value)} for name, value in values.items()]


def _stationarity(slopes: xr.Dataset) -> Rows:
    """Slope of the divergences at the record, and of the mean distance, by central differences."""
    rows: Rows = []
    for kernel in slopes["kernel"].values:
        of_kernel = slopes["slope"].sel(kernel=kernel)
        largest = {slope_of(m): of_kernel.sel(measure=m).max() for m in slopes["measure"].values}
        rows += _said("Theorem 4.1", kernel, largest)
    return rows


def slope_of(measure: str) -> str:
    """What Control 10 calls the slope of a measure."""
    return f"largest slope of {NAMES[measure]} at the record, relative to one away"


def _directions(records: xr.Dataset) -> Rows:
    """Whether the direction with D first is ever the smaller (Appendix C.2 states a condition)."""
    rows: Rows = []
    for name in (case for case in records["case"].values if case != MAIN):
        contrast = measures.contrast(records, name)
        ratio = (contrast.kl() / contrast.kl_reverse()).min()
        rows += _said("Appendix C.2", name, {"smallest KL(D, D') over KL(D', D)": ratio})
    return rows


def _proposition_5_1(settings: Settings) -> Rows:
    """Its formula for the gradient of the mean distance, against central differences."""
    rows: Rows = []
    for name, place in influenced.PLACES.items():
        comparison = influenced.comparison(place, settings)
        ends = np.array([[place + STEP], [place - STEP]])
        ahead, behind = comparison.measure(ends, "mean")
        values = {
            "formula": influenced.slope(place, settings),
            "differences": (ahead - behind) / 2 / STEP,
        }
        rows += _said("Proposition 5.1", f"S {name}", values)
    return rows


def decay() -> Rows:
    """How the correlation of two inputs approaches 1 at the released deviations (Control 10).

    Two inputs of unit mean square with correlation 1/2. Proposition G.1 is about the edge of
    chaos, on which the settings for GeLU are not; ReLU is, with the limit 9 pi^2 / 2 of
    (1 - c) L^2.
    """
    pair = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, np.sqrt(3.0), 0.0, 0.0]])
    cases = {
        "ReLU": ("relu", 2**0.5),
        "GeLU, sqrt(2), no bias": ("gelu", 2**0.5),
        "GeLU, 1.9822, no bias": ("gelu", NETWORK_W_STD["gelu"]),
    }
    rows: Rows = []
    for name, parameters in cases.items():
        for depth in (10, 20, 40):
            matrix = nngp.fully_connected(depth, *parameters)(pair)
            c = matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])
            values = {
                "variance": matrix[0, 0],
                "(1 - c) L": (1 - c) * depth,
                "(1 - c) L^2": (1 - c) * depth**2,
            }
            rows += _said("Proposition G.1", f"{name}, L = {depth}", values)
    return rows


def low_rank(datasets: list[xr.Dataset]) -> Rows:
    """Leakage against how far the kernel is from a constant (Proposition 6.1, in Control 10).

    With |k - a| <= d for all pairs, weights of 1 / n give a posterior variance of the latent
    function of at most 4 d + noise / n, hence a bound on every KL, as v / noise enters it. The
    kernel is a constant of 1 and d times a correlation kernel.
    """
    rows: Rows = []
    for constant in datasets:
        noise, n = constant.attrs["recipe"]["noise"], constant.sizes["record"]
        for size in constant["share"].values:
            part = constant.sel(share=size)
            distance, square = float(part["distance"]), part["square"].values
            kl = measures.of_moments(part["variance"].values, square, constant).kl()
            bound = 4 * distance + noise / (n - 1)
            case = f"{constant.attrs['set']}{_WITHIN}{distance:.3g}{_OF_A_CONSTANT}"
            values = {
                "largest variance": part["variance"].values.max(),
                "its bound": bound,
                "largest KL": kl.max(),
                "bound of the KL": _kl_bound(bound, square.max(), noise, constant.attrs["outputs"]),
            }
            rows += _said("Proposition 6.1", case, values)
    return rows


_WITHIN, _OF_A_CONSTANT = ", kernel within ", " of a constant"


def distances(case: pd.Series) -> pd.DataFrame:
    """Columns set and distance, from the cases of `low_rank`."""
    parts = rf"^(?P<set>.*){_WITHIN}(?P<distance>\S+){_OF_A_CONSTANT}$"
    return case.str.extract(parts).astype({"distance": float})


def _kl_bound(bound: float, square: float, noise: float, classes: int) -> float:
    """KL at a variance of `bound` with the largest residual; it rises with both."""
    odds = bound / noise
    return 0.5 * (classes * (odds - np.log1p(odds)) + square / (bound + noise) * odds)


LABEL = "label of the next record"
LEFT_IN = "record left in D"


def released_code(slips: xr.Dataset) -> pd.DataFrame:
    """LOOD as it should be, with the misassigned label, and with the record in D (Control 11).

    The training script shortens the data by record i and then slices the labels by the length of
    the shortened data: record i - 1 gets the label of i. The README's reconstruction removes
    positions where it should remove values, so that the record stays in D. Here the process takes
    the place of the networks.
    """
    right, wrong = (np.sqrt(slips[name].values) for name in ("mean_distance", "wrong_label"))
    out, left_in = slips["kl"].values, slips["kl_left_in"].values
    excess, y = slips["excess_left_in"].values, slips["label"].values
    rows = [
        _row(LABEL, "labels that change (%)", 100 * (y[1:] != y[:-1]).mean()),
        _row(LABEL, "median root mean distance, right labels", np.median(right)),
        _row(LABEL, "median root mean distance, as released", np.median(wrong)),
        {"slip": LABEL, "metric": "correlation of the two", **correlation(right[1:], wrong[1:])},
        _row(LEFT_IN, "median KL, record left out", np.median(out)),
        _row(LEFT_IN, "median KL, as released", np.median(left_in)),
        _row(LEFT_IN, "largest t, as released (at most 1/2)", (excess / (1 + excess)).max()),
        {"slip": LEFT_IN, "metric": "correlation of the two", **correlation(out, left_in)},
    ]
    return pd.DataFrame(rows)


def _row(slip: str, metric: str, value: float) -> dict[str, Any]:
    value = float(value)
    return {"slip": slip, "metric": metric, "value": value, "low": value, "high": value}
