"""The tests of what the paper says of Table 3, on the networks that stand in for ImageNet's."""

from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import much_better
from membership.published.outcomes import every, overall
from membership.studies.bayes_optimal import augmentation, names
from membership.studies.bayes_optimal.names import ACCURACY

_IMAGENET = ["ImageNet"]
_TARGETS = 3


def malt_leads_augmented(source: Any) -> Outcome:
    """c16, its sign alone: MALT's accuracy less that of 0-1, each network and augmentation."""

    def contrasts(wide: pd.DataFrame) -> list[Contrast]:
        found = wide["MALT"] - wide["0-1"]
        return [Contrast.of_units(found[name], f"MALT less 0-1, {name}") for name in found]

    return _on_each(source, contrasts)


def augmentation_protects(source: Any) -> Outcome:
    """c17, without its level: MALT's accuracy less that under the next stronger augmentation."""

    def contrasts(wide: pd.DataFrame) -> list[Contrast]:
        malt = wide["MALT"]
        if len(malt.columns) < 3:
            raise InputError("it takes networks trained without and with two augmentations")
        pairs = zip(malt.columns[:-1], malt.columns[1:], strict=True)
        return [
            Contrast.of_units(malt[first] - malt[second], f"MALT, {first} less {second}")
            for first, second in pairs
        ]

    return _on_each(source, contrasts)


def _on_each(source: Any, contrasts: Any) -> Outcome:
    """One outcome from contrasts that every network has, each wholly above 0."""
    found, told, data = [], [], set()
    for file in names.augmented(source.settings):
        outputs = source.evidence(file)
        table = augmentation.per_target(outputs)
        if table["target"].nunique() < _TARGETS:
            raise InputError(f"it takes {_TARGETS} targets; there are {table['target'].nunique()}")
        setup = outputs.attrs["setup"]
        told.append(f"{setup['architecture']} ({setup['members']:,} members, {_TARGETS} targets)")
        data.add(setup["data"])
        found += contrasts(_wide(table))
    each = [much_better(one, 0.0, parts=len(found)) for one in found]
    on = f"{', '.join(sorted(data))}: {', '.join(told)}"
    return overall({on: every(each).on(on)}, _IMAGENET)


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracies by target, with columns attack and augmentation in the order of the table."""
    rows = table[table["metric"] == ACCURACY]
    wide = rows.pivot_table(index="target", columns=["attack", "augmentation"], values="value")
    order = list(dict.fromkeys(rows["augmentation"]))
    return wide.reindex(columns=order, level="augmentation")
