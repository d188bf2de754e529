"""A made-up chapter: it stands in the place of `membership.book.studies.gmip`."""

import sys
import types

import pandas as pd

from membership.book.exhibits import Exhibit, declaration, listing

ATTRS = {
    "data": {"digits": "ab" * 32},
    "sizes": {"Models": "10 (paper: 128)"},
    "deviations": ["digits in place of MNIST"],
    "device": "cpu",
}


def table(shift=0.0):
    """AUC of two attacks on two data sets, each known to 0.004."""
    rows = [
        {"dataset": data, "attack": attack, "metric": "AUC", "value": value + shift}
        for data, values in (("Digits", (0.51, 0.62)), ("Moons", (0.5, 0.71)))
        for attack, value in zip(("LOSS", "IHA"), values, strict=True)
    ]
    made = pd.DataFrame(rows)
    made = made.assign(low=made["value"] - 0.004, high=made["value"] + 0.004, n_repeats=5)
    made.attrs = dict(ATTRS)
    return made


def judge(made):
    """Every number agrees with the published one but IHA on Moons; Digits has none for LOSS."""
    printed = [None, 0.62, 0.5, 0.6]
    word = ["", "agrees", "compatible", "differs"]
    judged = made[["dataset", "attack", "metric"]].assign(
        published=pd.Series(printed, dtype=float),
        value=made["value"],
        low=made["low"],
        high=made["high"],
        verdict=word,
        reason=["", "", "too imprecise", "0.096 above"],
        decimals=2,
        difference_low=[None, -0.004, -0.02, 0.05],
        difference_high=[None, 0.004, 0.02, 0.13],
        imputed=False,
        margin=0.01,
        standard_error=0.002,
        p_value=[None, 0.9, 0.8, 1e-5],
    )
    for name in ("standard_error", "p_value", "difference_low", "difference_high", "margin"):
        judged[name] = 0.01
    judged.attrs = dict(made.attrs)
    return judged


def draw(made):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    figure.add_subplot().plot(made["value"])
    return figure


EXHIBITS = (
    Exhibit(
        "gmip-tab-1",
        "Table 1",
        "AUC of two attacks",
        "Which attack is <best>?",
        compute=lambda source: table(),
        judge=judge,
        says=lambda made: f"The best AUC is {made['value'].max():.2f}.",
    ),
    Exhibit(
        "gmip-fig-1",
        "Figure 1",
        "AUC of two attacks, drawn",
        "How far apart are they?",
        compute=lambda source: source.table("gmip-tab-1").query("attack == 'IHA'"),
        draw=draw,
        alt=lambda made: f"A line through {len(made)} points.",
    ),
    Exhibit(
        "gmip-ctl-9",
        "",
        "words",
        "What is known?",
        compute=lambda source: pd.DataFrame({"attack": ["LOSS"], "knows": ["the loss"]}),
    ),
    Exhibit(
        "gmip-ctl-2",
        "",
        "from evidence",
        "What was observed?",
        compute=lambda source: source.evidence("outputs")["log_odds"].to_dataframe().reset_index(),
        needs=("outputs",),
    ),
)


def install(monkeypatch, exhibits=EXHIBITS, **modules):
    """Put the declarations, and other modules of a chapter by name, where they are looked for."""
    for name in ("evidence", "claims"):
        path = f"membership.book.studies.gmip.{name}"
        module = types.ModuleType(path)
        vars(module).update(modules.get(name, {"sources": lambda settings: {}, "CLAIMS": ()}))
        monkeypatch.setitem(sys.modules, path, module)
    read, declare = declaration.words_of, declaration.exhibit
    toys = {one.id: {"toy": one} for one in exhibits}
    monkeypatch.setattr(
        declaration, "words_of", lambda chapter: toys if chapter == "gmip" else read(chapter)
    )
    monkeypatch.setattr(
        declaration,
        "exhibit",
        lambda chapter, exhibit_id, said, about="": (
            said.get("toy") or declare(chapter, exhibit_id, said, about)
        ),
    )
    said = {one.id: {"label": one.label, "content": one.content} for one in exhibits}
    by_chapter = listing.words_of
    monkeypatch.setattr(
        listing, "words_of", lambda chapter: said if chapter == "gmip" else by_chapter(chapter)
    )
