"""The calculator's page, or the audit's, alone in a browser: its fields and its numbers."""

import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from membership import paths, privacy

HEAD = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="stylesheet" href="../_static/custom.css">
<link rel="stylesheet" href="../_static/game.css">
<style>html[data-theme=light] {{--pst-color-background: #fff; --pst-color-text-base: #222832;
--pst-color-text-muted: #48566b; background: #fff; color: #222832}}
html[data-theme=dark] {{--pst-color-background: #14181e; --pst-color-text-base: #ced6dd;
--pst-color-text-muted: #9ca4af; background: #14181e; color: #ced6dd}}</style>
</head><body><main><h1>{title}</h1>"""
TITLES = {"gmip_calculator": "Privacy calculator", "audit": "Audit"}
READY = "#gmip-calculator[aria-busy=false]"


def page_file(folder: Path, theme: str = "light", name: str = "gmip_calculator") -> str:
    """A page's own markup and scripts, as the book has them, without the theme."""
    book = paths.project_root() / "book"
    text = (book / f"{name}.md").read_text(encoding="utf-8")
    markup = re.search(r"```\{raw\} html\n(.*?)```", text, re.S)[1]
    shutil.copytree(book / "_static", folder / "_static", dirs_exist_ok=True)
    page = folder / "book" / f"{name}.html"
    page.parent.mkdir(exist_ok=True)
    head = HEAD.format(theme=theme, title=TITLES[name])
    page.write_text(f"{head}{markup}</main></body></html>", encoding="utf-8")
    return page.as_uri()


# The run that most tests start from: that of the page's example, its noise given.
RUN = {"n": 256, "records": 60_000, "epochs": 60, "sampling": "poisson", "clip": 1}
RUN |= {"adjacency": "add-remove", "d": "", "k": "", "start": "sigma", "value": 1.1}
# One of few steps, whose numbers are there at once.
SHORT = RUN | {"epochs": 0.5, "delta": 1e-5, "history": "", "group": 1, "prior": 50, "epsilon": 1}
SHORT |= {"auditEpsilon": "", "auditDelta": 1e-5, "auditMu": ""}


def attended(page: Page, address: str, ready: str = READY) -> Iterator[Page]:
    """The opened page; at the end there was nothing to complain about."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(address)
    page.locator(ready).wait_for()
    yield page
    assert problems == []


# What lies behind the summary.
MORE = {"history", "group", "prior", "epsilon", "auditEpsilon", "auditDelta", "auditMu"}


def fill(page: Page, **given: object) -> None:
    """Fill in fields and wait for the numbers, or for what is wrong."""
    enter(page, **given)
    page.locator("#gmip-calculator[aria-busy=false]").wait_for()


def enter(page: Page, **given: object) -> None:
    if not MORE.isdisjoint(given):
        page.locator(".gmip-more").evaluate("more => { more.open = true; }")
    for name, value in given.items():
        field = page.locator(f"#gmip-calculator [name={name}]")
        if name in ("size", "sampling", "adjacency", "start", "fpr"):
            field.select_option(str(value))
        else:
            field.fill(str(value))


def shown(page: Page) -> dict[str, float]:
    """The numbers of the page, before rounding."""
    outputs = page.locator("#gmip-calculator [data-number]").all()
    found = {o.get_attribute("data-number"): float(o.get_attribute("data-value")) for o in outputs}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def flat(
    found: privacy.Assessment, tau: float, epsilon: float = 1.0, prior: float = 0.5
) -> dict[str, float]:
    """The accountant's numbers, as the page names them."""
    numbers = {"steps": found.steps, "sigma": found.sigma, "tau": tau, "epsilon": found.epsilon}
    for name in ("membership", "differential"):
        level = getattr(found, name)
        numbers |= {f"{name}.{part}": getattr(level, part) for part in ("step", "limit", "mu")}
        numbers |= {f"{name}.{part}": getattr(level, part) for part in ("auc", "advantage")}
        numbers |= {f"{name}.tpr.{i}": rate for i, rate in enumerate(level.tpr)}
        numbers |= {f"{name}.posterior.{i}": at for i, at in enumerate(level.posterior(prior))}
        numbers[f"{name}.delta"] = level.delta_at(epsilon)
    numbers |= {f"mixture.{i}": rate for i, rate in enumerate(found.mixture)}
    return numbers | {"membership.oneSided": found.membership_one_sided}


def curves(page: Page) -> list[str]:
    return [line.get_attribute("d") for line in page.locator("[data-curve]").all()]
