"""Every attack, once: tables, requirements, glossary and the API page read this list.

To add one, write its function and enter it in `black_box_entries` or `white_box_entries`. The
tests of the registry then put it through the checks that hold for all.
"""

from collections.abc import Iterable

import pandas as pd

from membership.attacks.black_box_entries import BLACK_BOX
from membership.attacks.entry import Attack
from membership.attacks.white_box_entries import WHITE_BOX

ATTACKS = (*BLACK_BOX, *WHITE_BOX)


def registry() -> dict[str, Attack]:
    """The registered attacks by name, in the order in which tables list them."""
    return {attack.name: attack for attack in ATTACKS}


def requirements(attacks: Iterable[Attack] | None = None) -> pd.DataFrame:
    """What each attack may know, and where it is from.

    Parameters
    ----------
    attacks : iterable of Attack, optional
        All registered ones if not given.

    Returns
    -------
    pandas.DataFrame
        Columns attack, model access, reference models, training records, leave-one-out knowledge,
        knowledge, evidence, paper, equation, function; a row an attack.
    """
    chosen = registry().values() if attacks is None else attacks
    return pd.DataFrame(
        [
            {
                "attack": one.display,
                "model access": "white-box" if one.white_box else "black-box",
                "reference models": one.references,
                "training records": "yes" if one.training_records else "no",
                "leave-one-out knowledge": "yes" if one.leave_one_out else "no",
                "knowledge": ", ".join(one.knowledge),
                "evidence": ", ".join(need.replace("|", " or ") for need in one.needs),
                "paper": one.paper,
                "equation": one.equation,
                "function": one.function.__name__,
            }
            for one in chosen
        ]
    )
