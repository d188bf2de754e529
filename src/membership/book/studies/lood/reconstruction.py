"""Tables of the reconstructions: Figures 2, 3, 8, 9 and 14 to 19, and how often they succeed."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership.book.studies.lood import measures
from membership.book.studies.lood.experiment import cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A query is said to have found the record from this correlation on; two digits of one class may
# have 0.97.
SUCCESS = 0.99
# What the paper's claim is tested by, together with being nearer to the record than to any other.
CLOSE = 0.9
FOUND = f"correlation above {SUCCESS} (%)"
RECOVERED = f"correlation of {CLOSE} or more, and less with every other (%)"
OF_STARTS = "starts that recover their record (%)"
ELSEWHERE = "failed starts: nearest to another record (%)"
LEFT_BEHIND = "failed starts: median KL (% of the record's)"
PLACE = "failed starts: median place by exposure of the record nearest to them (%)"
GROUP = 3
MEMBERS, ONE_QUERY, THREE_QUERIES = "members", "one query", "three queries"
"""The kinds of row of Figure 3."""
OTHER_DEPTHS = SHALLOW, DEEP, DEEPER = "(shallow)", "(deep)", "(deeper)"
"""How names of kernels end that fewer records are reconstructed with."""
CHECKED_EVERY = 10
"""Steps between two entries of a search's history."""


def _flat(searches: xr.Dataset) -> pd.DataFrame:
    """One row a search: kernel, row, numbers, and the thumbnails where they are kept."""
    names = ("row", "kl", "kl_at_record", "correlation", "other", "nearest_other")
    flat = pd.DataFrame({name: searches[name].values for name in names})
    flat.insert(0, "kernel", searches["search"].values.astype(str))
    flat["ratio"] = flat["kl"] / flat["kl_at_record"]
    flat["picture"] = -1
    flat.loc[searches["shown"].values, "picture"] = np.arange(searches.sizes["picture"])
    return flat


def figure_2(datasets: list[xr.Dataset]) -> pd.DataFrame:
    """Records above what was found of them, by the first kernel (Figure 2)."""
    rows = []
    for searches in datasets:
        flat, label = _flat(searches), searches.attrs["set"]
        chosen = flat[(flat["kernel"] == flat["kernel"].iloc[0]) & (flat["picture"] >= 0)]
        rows += _originals(searches, chosen, f"{label}: record")
        rows += _queries(searches, chosen, f"{label}: found")
    return _table(rows)


def figure_8(searches: xr.Dataset) -> pd.DataFrame:
    """The first record and what each kernel's search found of it (Figure 8); as Figure 2."""
    flat = _flat(searches)
    chosen = flat[flat["row"] == 0]
    rows = _originals(searches, chosen.iloc[:1], "record") + _queries(searches, chosen, "")
    for row in rows:
        row["column"] = row["kernel"] or "record"
        row["text"] = f"{row['kernel'].replace(', ', chr(10))}\n{row['text']}".strip()
        row["row"] = "first record"
    return _table(rows)


def figure_14(searches: xr.Dataset) -> pd.DataFrame:
    """Further records above what each further kernel found of them (Figures 14 to 19)."""
    flat = _flat(searches)
    is_further = flat["kernel"] != flat["kernel"].iloc[0]
    chosen = flat[is_further & (flat["picture"] >= 0) & (flat["row"] > 0)]
    rows = _originals(searches, chosen.drop_duplicates("row"), "record")
    for kernel, part in chosen.groupby("kernel", sort=False):
        rows += _queries(searches, part, str(kernel))
    return _table(rows)


def figure_9(searches: xr.Dataset) -> pd.DataFrame:
    """One search step by step: the KL of every start, and the best query so far (Figure 9)."""
    flat = _flat(searches)
    record = int(searches["detailed"].values[0])
    target = flat.loc[flat["row"] == record, "kl_at_record"].iloc[0]
    name = "best query so far"
    first = {"row": name, "column": f"record {record}", "text": "record"}
    rows = [{**first, **cells(searches["detailed_original"].values)}]
    stages = (searches[key].values for key in ("stage", "stage_kl", "stage_level"))
    for stage, kl, level in zip(*stages, strict=True):
        text = {"column": f"step {stage}", "text": f"step {stage}", "step": stage, "kl": kl}
        rows.append({"row": name, **text, **cells(level)})
    history = searches["history"].values
    for start, values in enumerate(history.T):
        rows += [
            {"series": f"start {start + 1}", "step": CHECKED_EVERY * i, "kl": float(value)}
            for i, value in enumerate(values)
        ]
    ends = (0, CHECKED_EVERY * (len(history) - 1))
    rows += [{"series": "at the record", "step": step, "kl": target} for step in ends]
    table = pd.DataFrame(rows)
    text = ["row", "column", "text", "series", "shape", "pixels"]
    table[text] = table[text].fillna("")
    return table[[*text[:4], "step", "kl", *text[4:]]]


def success(datasets: list[xr.Dataset]) -> pd.DataFrame:
    """How often a search finds its record, by its best start and by all, and where others end."""
    rows = []
    for searches in datasets:
        flat, ends = _flat(searches), _ends(searches)
        for kernel, part in flat.groupby("kernel", sort=False):
            key = {"dataset": searches.attrs["set"], "kernel": kernel}
            is_nearest = part["correlation"] > part["other"]
            hits = {
                RECOVERED: is_nearest & (part["correlation"] >= CLOSE),
                FOUND: part["correlation"] > SUCCESS,
                "KL within 5% of the record's (%)": part["ratio"] > 0.95,
            }
            rows += [
                {**key, "metric": metric, **measures.share(hit)} for metric, hit in hits.items()
            ]
            own = ends[ends["kernel"] == kernel]
            failed = own[~own["recovers"]]
            exact = {
                OF_STARTS: 100 * own["recovers"].mean(),
                ELSEWHERE: 100 * failed["elsewhere"].mean(),
                LEFT_BEHIND: 100 * failed["ratio"].median(),
                PLACE: failed["place"].median(),
                "largest relative excess over the record": part["ratio"].max() - 1,
            }
            for metric, value in exact.items():
                ends_of = {"value": value, "low": value, "high": value, "n": len(own)}
                rows.append({**key, "metric": metric, **ends_of})
    return pd.DataFrame(rows).dropna(subset=["value"])


def _ends(searches: xr.Dataset) -> pd.DataFrame:
    """One row a start: whether it recovers its record, and what it ends nearest to if not.

    ``place`` is where that record stands by its own KL, in percent: 100 is the most exposed.
    """
    exposure = searches["exposure"]
    of, record = (exposure[name].values for name in exposure.dims)
    places = 100 * pd.DataFrame(exposure.values, of, record).rank(axis=1, pct=True)
    rows = []
    for i, kernel in enumerate(searches["search"].values.astype(str)):
        search = searches.isel(search=i)
        nearest = search["end_nearest"].values
        for start in np.flatnonzero(~np.isnan(nearest)):
            near, r = int(nearest[start]), float(search["end_correlation"][start])
            elsewhere = near != int(search["row"])
            rows.append(
                {
                    "kernel": kernel,
                    "recovers": not elsewhere and r >= CLOSE,
                    "elsewhere": elsewhere,
                    "ratio": float(search["end_kl"][start]) / float(search["kl_at_record"]),
                    "place": float(places.loc[kernel, near]),
                }
            )
    return pd.DataFrame(rows)


def figure_3(groups: xr.Dataset) -> pd.DataFrame:
    """Groups of three left out together, and single and joint queries for them (Figure 3)."""
    rows = []
    for group in range(groups.sizes["group"]):
        of_group, name = groups.isel(group=group), f"group {group + 1}"
        before, is_pictured = len(rows), group < groups.sizes["pictured"]
        for place, kl in enumerate(of_group["alone"].values):
            text = {"text": f"KL {kl:.2g}", "group": name, "member": place + 1}
            key = {"row": _row(name, MEMBERS), "column": place, **text}
            level = of_group["original"].values[group, place] if is_pictured else None
            rows.append({**key, "kl": kl, "correlation": 1.0, **cells(level)})
        three = len(of_group["joint_correlation"])
        joint = np.full(three, of_group["joint_kl"].values.max())
        kinds = {
            ONE_QUERY: ("single", of_group["single_kl"].values),
            THREE_QUERIES: ("joint", joint),
        }
        for kind, (key, values) in kinds.items():
            for place, kl in enumerate(values):
                near = of_group[f"{key}_correlation"].values[place]
                is_shown = is_pictured and place < three
                level = of_group[f"{key}_level"].values[group, place] if is_shown else None
                rows.append(_nearest(name, kind, place, near, kl, level))
        for row in rows[before:]:
            row["kl_of_all"] = float(of_group["together"])
    return _table(rows)


def _row(group: str, kind: str) -> str:
    return f"{group}: {kind}"


def of_kinds(table: pd.DataFrame, *kinds: str) -> pd.DataFrame:
    """The rows of Figure 3 that are of these kinds."""
    groups = table["group"].unique()
    return table[table["row"].isin([_row(group, kind) for group in groups for kind in kinds])]


def figure_3_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 3, with the pictures of all groups in the same rows."""
    from membership import plots

    place = table["row"].str.partition(": ")
    columns = place[0] + ", " + table["column"].astype(str)
    return plots.image_grid(table.assign(row=place[2], column=columns))


def recovery(table: pd.DataFrame) -> dict[str, Any]:
    """Of Figure 3: single searches by the member they recover, and groups wholly recovered.

    ``members`` are shares of all single searches by rank of exposure, the most exposed first;
    ``whole`` the share of groups of which single and joint searches together find every member.
    """
    ranks, whole, searched = np.zeros(GROUP, int), [], 0
    for _, part in table.groupby("group", sort=False):
        alone = of_kinds(part, MEMBERS).set_index("member")["kl"]
        near = part[part["correlation"] >= CLOSE]
        searched += len(of_kinds(part, ONE_QUERY))
        rank = alone.rank(ascending=False).astype(int) - 1
        for member in of_kinds(near, ONE_QUERY)["member"]:
            ranks[rank[member]] += 1
        queries = of_kinds(near, ONE_QUERY, THREE_QUERIES)
        whole.append(queries["member"].nunique() == GROUP)
    hits = [np.arange(searched) < count for count in ranks]
    return {
        "members": [measures.share(hit) for hit in hits],
        "whole": measures.share(np.array(whole)),
    }


def figure_3_said(table: pd.DataFrame) -> str:
    """Figure 3: which members single searches find, and how often all of a group are found."""
    rates = recovery(table)
    by_rank = ", ".join(f"{rate['value']:.0f}" for rate in rates["members"])
    whole = rates["whole"]
    return (
        f"Of {rates['members'][0]['n']} single searches {by_rank}% recover the most, the second "
        f"and the least exposed member. All searches of a group recover all three members "
        f"in {whole['value']:.0f}% of {whole['n']} groups."
    )


def _nearest(group: str, kind: str, place: int, near: Any, kl: float, level: Any) -> dict:
    nearest = int(np.argmax(near))
    text = f"member {nearest + 1}, r = {near[nearest]:.2f}"
    key = {"row": _row(group, kind), "column": place, "text": text, "group": group}
    numbers = {"member": nearest + 1, "kl": float(kl), "correlation": near[nearest]}
    return {**key, **numbers, **cells(level)}


def _originals(searches: xr.Dataset, chosen: pd.DataFrame, row: str) -> list[dict]:
    label, level = searches.attrs["set"], searches["original"].values
    return [
        {"row": row, "column": f"record {search.row}", "text": "", "dataset": label, "kernel": ""}
        | {"record": search.row, "correlation": 1.0, **cells(level[search.picture])}
        for search in chosen.itertuples()
    ]


def _queries(searches: xr.Dataset, chosen: pd.DataFrame, row: str) -> list[dict]:
    label, level = searches.attrs["set"], searches["level"].values
    return [
        {"row": row, "column": f"record {search.row}"}
        | {"text": f"r = {search.correlation:.2f}\n{100 * search.ratio:.0f}% KL", "dataset": label}
        | {"kernel": search.kernel, "record": search.row, "correlation": search.correlation}
        | {"kl": search.kl, "kl_at_record": search.kl_at_record, **cells(level[search.picture])}
        for search in chosen.itertuples()
    ]


def found_said(table: pd.DataFrame) -> str:
    """How many of the shown searches found their record."""
    shown = table[table["kernel"].fillna("") != ""]
    count, kernels = int((shown["correlation"] > SUCCESS).sum()), shown["kernel"].unique()
    under = f" under {kernels[0]}" if len(kernels) == 1 else ""
    return (
        f"{count} of {len(shown)} queries{under} found their record (correlation above {SUCCESS})."
    )


def _table(rows: list[dict]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    ends = ["shape", "pixels"]
    return table[[*[name for name in table if name not in ends], *ends]]
