"""A page's MyST as Markdown that any notebook shows: what Sphinx would fill in is filled in."""

import html
import posixpath
import re
from collections import Counter
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import jinja2
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from membership import paths
from membership.book import bibliography, published
from membership.book.exhibits import claims, listing
from membership.book.exhibits.exhibit_pages import page_of, pages_of, source_path
from membership.book.exhibits.panels import in_words
from membership.book.running.chapter_files import chapters, headings_in
from membership.book.site import moving, overview, substitutions

CHAPTERS = "book/chapters/"
NOT_RUN = "(not run)"
"""What stands for a number of an exhibit that has no full run."""
_PARSER = create_md_parser(
    MdParserConfig(enable_extensions={"colon_fence", "dollarmath"}), RendererHTML
)
_FENCES = ("fence", "colon_fence")
_DROPPED = ("myst_target", "myst_line_comment")
_NAMED = re.compile(r"\{([\w:-]+)\}\s*(.*)")
_ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]+)`")
_TARGETED = re.compile(r"(.*?)\s*<([^<>]*)>")
# A notebook that was taken elsewhere has no page beside it.
_TO_A_PAGE = re.compile(
    r'\[([^\]]*)\]\((?!\w+:|#)[^)\s]*\)|<a href="(?!\w+:|#)[^>]*>(.*?)</a>', re.DOTALL
)


def plain(text: str, page: str) -> str:
    """Markdown without substitutions, roles or directives.

    Parameters
    ----------
    text : str
        MyST.
    page : str
        Whose it is, as Sphinx names pages: "book/chapters/iha".
    """
    lines, parts, start = text.split("\n"), [], 0
    for token in _PARSER.parse(text):
        if token.level or not token.map or token.type not in (*_FENCES, *_DROPPED):
            continue
        first, last = token.map
        parts.append(_prose("\n".join(lines[start:first]), page))
        if directive := _NAMED.fullmatch(token.info.strip()):
            parts.append(_directive(*directive.groups(), token.content, page))
        elif token.type in _FENCES:
            parts.append("\n".join(lines[first:last]))
        start = last
    parts.append(_prose("\n".join(lines[start:]), page))
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _prose(text: str, page: str) -> str:
    text = _TO_A_PAGE.sub(lambda match: match[1] or match[2], text)
    text = _jinja(page).from_string(text).render()
    return _ROLE.sub(lambda match: _role(match[1], " ".join(match[2].split()), page), text)


@cache
def _jinja(page: str) -> jinja2.Environment:
    """The substitutions of `membership.book.site.substitutions`, in words."""

    def ref(exhibit_id: str, text: str = "") -> str:
        return _link(text or listing.find(exhibit_id)["label"], page_of(exhibit_id), page)

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        block_start_string="@%",  # "{%" and "{#" may stand in a formula
        block_end_string="%@",
        comment_start_string="@#",
        comment_end_string="#@",
    )
    names = (
        "attacks",
        "calculated",
        "counts",
        "interval",
        "number",
        "own_data",
        "printed",
        "says",
        "worked",
    )
    for name in names:
        environment.globals[name] = _if_run(substitutions.SUBSTITUTIONS[name])
    environment.globals.update(ref=ref, claim=_claim, tally=_tally, moving=_moving)
    return environment


def _if_run(function: Callable[..., str]) -> Callable[..., str]:
    @wraps(function)
    def checked(*args: Any, **keywords: Any) -> str:
        try:
            return function(*args, **keywords)
        except substitutions.NotRun:
            return NOT_RUN

    return checked


def _claim(claim_id: str, form: str = "") -> str:
    _, row = substitutions.claimed(claim_id)
    outcome = f"*{row.outcome.mark}*"
    return f"“{row.claim.quote.strip('“”')}” {outcome}" if form == "said" else outcome


def _moving(chapter: str) -> str:
    return f"*{moving.picture(chapter)['label']}: a picture that moves on the site.*"


def _tally(chapter: str) -> str:
    (part,) = (part for part in overview.parts() if part.chapter == chapter)
    groups = (("claims", claims.counts(part.claims, "paper")), ("numbers", part.counts))
    return "; ".join(
        f"of {sum(counts.values())} {name} {in_words(counts)}" for name, counts in groups if counts
    )


def _role(name: str, content: str, page: str) -> str:
    match = _TARGETED.fullmatch(content)
    words, target = match.groups() if match else ("", content)
    if name in ("cite", "cite:t"):
        citations = "; ".join(
            _citation(key.strip(), name == "cite:t") for key in content.split(",")
        )
        return citations if name == "cite:t" else f"({citations})"
    if name == "doc":
        folder = posixpath.dirname(page)
        return _to_page(words, posixpath.normpath(posixpath.join(folder, target)), page)
    if target in _labels() and name in ("ref", "prf:ref", "eq"):
        target_page, title = _labels()[target]
        return _link(words or title, target_page, page)
    return words or content


def _citation(key: str, in_text: bool) -> str:
    entry, authors = bibliography.entries[key], bibliography.by(key)
    year = entry.fields["year"]
    words = f"{authors} ({year})" if in_text else f"{authors}, {year}"
    url = entry.fields.get("url")
    return f"[{words}]({url})" if url else words


def _to_page(words: str, target: str, page: str) -> str:
    name = target.removeprefix(CHAPTERS)
    source = paths.project_root() / f"{target}.md" if name == target else source_path(name)
    titles = headings_in(paths.text_of(source)) if source.is_file() else []
    words = words or (titles or [posixpath.basename(target).replace("-", " ")])[0]
    return words if name == target else _link(words, name, page)


def _link(words: str, chapter_page: str, page: str) -> str:
    """A link to another chapter's notebook, which lies beside this one if any does."""
    elsewhere = page.startswith(CHAPTERS) and page != CHAPTERS + chapter_page
    return f"[{words}]({chapter_page}.ipynb)" if elsewhere else words


def _directive(name: str, title: str, content: str, page: str) -> str:
    options, body = _split(content)
    title, number = _prose(title, page), _labels().get(options.get("label", ""), ("", ""))[1]
    if name == "math":
        tag = f"\n\\tag{{{number.strip('()')}}}" if number else ""
        return f"$$\n{body.strip()}{tag}\n$$"
    body = plain(body, page)
    if name == "dropdown":
        return f"<details><summary>{html.escape(title)}</summary>\n\n{body}\n\n</details>"
    if name == "prf:proof":
        return f"*Proof.* {body}"
    if name.startswith("prf:"):
        return f"**{number or name[4:].title()}** ({title})\n\n{body}"
    block = f"**{title or name.title()}**\n\n{body}"
    return "\n".join(f"> {line}".rstrip() for line in block.split("\n"))


def _split(content: str) -> tuple[dict[str, str], str]:
    """The options at the head of a directive, and what follows them."""
    lines, options = content.split("\n"), {}
    while match := re.fullmatch(r":([\w-]+): *(.*)", lines[0]):
        options[match[1]] = match[2]
        del lines[0]
    return options, "\n".join(lines)


@cache
def _labels() -> dict[str, tuple[str, str]]:
    """The page of each label and what a reference to it says, with the site's numbers."""
    labels: dict[str, tuple[str, str]] = {}
    for number, chapter in enumerate(published.subjects, start=1):
        count: Counter = Counter()
        for page in pages_of(chapter) if chapter in chapters() else ():
            text = paths.text_of(source_path(page))
            labels |= {
                label: (page, title) for label, title in _titles(text, number, count).items()
            }
    return labels


def _titles(text: str, chapter: int, count: Counter) -> dict[str, str]:
    """What references to a text's sections, formulas and theorems say; what is numbered counts."""
    titles: dict[str, str] = {}
    targets: list[str] = []
    tokens = _PARSER.parse(text)
    for i, token in enumerate(tokens):
        if token.type == "myst_target":
            targets.append(token.content)
        elif token.type == "heading_open":
            titles |= dict.fromkeys(targets, tokens[i + 1].content)
            targets = []
        elif token.type in _FENCES and (directive := _NAMED.fullmatch(token.info.strip())):
            options, body = _split(token.content)
            label, kind = options.get("label", ""), directive[1].removeprefix("prf:")
            if kind == "math" and label:
                count[kind] += 1
                titles[label] = f"({chapter}.{count[kind]})"
            elif kind != directive[1] and kind != "proof":
                count[kind] += 1
                titles[label] = f"{kind.title()} {chapter}.{count[kind]}"
            if kind != "math":
                titles |= _titles(body, chapter, count)
    return {label: words for label, words in titles.items() if label}
