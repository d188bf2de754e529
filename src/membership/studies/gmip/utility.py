"""Accuracy under noise: Figure 3, and what noise shared by the classes does (Control 9)."""

from collections.abc import Sequence

import pandas as pd
import xarray as xr

from membership import metrics
from membership.exhibits.tidy import tidy
from membership.studies.gmip.origin import observed

NOTIONS = {"mip": "GMIP", "gdp": "GDP"}
SHARED, ALONE = "shared less none, by seed", "none less independent, by seed"


def figure_3(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Test accuracy over the privacy levels, with independent and with shared noise (Figure 3)."""
    rows = []
    for one in trained:
        for kind in one["noise"].values.tolist():
            for notion in one["notion"].values.tolist():
                accuracy = one["accuracy"].sel(noise=kind, notion=notion).values
                taus = one["tau"].sel(notion=notion).values
                for mu, tau, values in zip(one["level"].values, taus, accuracy, strict=True):
                    rows.append(
                        {
                            "dataset": one.attrs["set"],
                            "noise": kind,
                            "notion": NOTIONS[notion],
                            "series": f"{NOTIONS[notion]}, {kind} noise",
                            "mu": round(mu, 4),
                            "tau": tau,
                            "metric": "test_accuracy(%)",
                            **metrics.summary(values),
                            "standard_deviation": values.std(ddof=1),
                        }
                    )
    return tidy(rows, observed(trained))


def shared_noise(trained: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Accuracy with the noise for mu = 0.4 and without, by kind of noise and optimiser."""
    rows = []
    for one in trained:
        for optimiser in one["optimiser"].values.tolist():
            strong = one["accuracy_strong"].sel(optimiser=optimiser)
            found = {"none": one["accuracy_without"].sel(optimiser=optimiser).values}
            found |= {kind: strong.sel(noise=kind).values for kind in one["noise"].values.tolist()}
            found |= {
                SHARED: found["shared"] - found["none"],
                ALONE: found["none"] - found["independent"],
            }
            for noise, values in found.items():
                key = {"dataset": one.attrs["set"], "optimiser": optimiser, "noise": noise}
                rows.append({**key, "metric": "test_accuracy(%)", **metrics.summary(values)})
    return tidy(rows, observed(trained))
