"""Records one by one, as a page's script shows them: picture, label, and the rank by every measure.

What a chapter declares as ``records`` makes a table of one row a record from an exhibit's own.
Ranks are counted here, among all records of the group, pictured or not.
"""

import io
from typing import Any

import pandas as pd

from membership import markup
from membership.errors import InputError
from membership.exhibits.numbers import number

COLUMNS = ("group", "label", "shape", "pixels")
"""What a record is ranked among, what it is called, and its picture; the other columns measure."""


def one_by_one(table: pd.DataFrame) -> dict[str, Any] | None:
    """The records that have a picture, in the order of the table, as plain JSON values.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a record: `COLUMNS`, then one column a measure, higher where a record is more
        exposed.

    Returns
    -------
    dict or None
        ``measures``, and ``records`` with ``group``, ``label``, ``of`` (records in the group),
        ``picture``, ``values`` and ``ranks``; None where no record has a picture.

    Raises
    ------
    InputError
        A column is missing or nothing is measured.
    """
    measures = [str(name) for name in table.columns if name not in COLUMNS]
    if missing := [name for name in COLUMNS if name not in table.columns]:
        raise InputError(f"the table of records lacks the columns {missing}")
    if not measures:
        raise InputError("the table of records measures nothing; give a column a measure")
    groups = table.groupby("group", sort=False)
    ranks = groups[measures].rank(ascending=False, method="min").astype(int)
    sizes = groups["label"].transform("size")
    shown = table[table["pixels"].fillna("") != ""]
    if shown.empty:
        return None
    records = [
        {
            "group": row["group"],
            "label": row["label"],
            "of": int(sizes[place]),
            "picture": _address(row["shape"], row["pixels"]),
            "values": [number(row[name]) for name in measures],
            "ranks": ranks.loc[place].tolist(),
        }
        for place, row in shown.iterrows()
    ]
    return {"measures": measures, "records": records}


def _address(shape: str, pixels: str) -> str:
    """A picture as an address that holds it, unchanged."""
    # Here and not above: what only lists or cites exhibits should not wait for these.
    from PIL import Image

    from membership.plots.images import picture

    content = io.BytesIO()
    Image.fromarray(picture(shape, pixels)).save(content, "WEBP", lossless=True)
    return markup.embedded("webp", content.getvalue())
