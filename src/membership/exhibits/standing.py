"""How near the committed run of an exhibit is to the paper's, in a word or two."""

from membership import paths
from membership.exhibits.declaration import Exhibit
from membership.exhibits.panels import Panel

AS_PAPER = "paper's size and data"
SMALLER = "smaller"
OTHER = "other set-up"
UNKNOWN = "size not on record"
SUBSTITUTE = "substitute data"
COMPUTED = "computed"
RECIPE = "recipe"
NOT_RUN = "not run"
WORDS = {
    AS_PAPER: "nothing differs that the numbers depend on; fewer repeats only widen the interval",
    SMALLER: "the paper's data, but fewer records, models or units than the numbers depend on",
    OTHER: "the paper's data, but another network, recipe or feature extractor",
    UNKNOWN: "the paper's data; the paper's own sizes are not in the text at hand",
    SUBSTITUTE: "public or simulated data in the place of the paper's",
    COMPUTED: "closed forms, simulations and printed tables: no data set",
    RECIPE: "not run here; a page says how",
    NOT_RUN: "not run here",
}
DECLARED = (AS_PAPER, SMALLER, OTHER, UNKNOWN, SUBSTITUTE)


def standing(exhibit: Exhibit, run: Panel | None) -> tuple[str, ...]:
    """The words of `WORDS` that hold, in their order; several where its data sets differ in it."""
    if run is None:
        return (RECIPE if recipe(exhibit.id) else NOT_RUN,)
    if not run.about["data"]:
        return (COMPUTED,)
    return tuple(word for word in WORDS if word in exhibit.standing)


def recipe(exhibit_id: str) -> str:
    """The page of the book that says how to make an exhibit that is not run, or nothing."""
    pages = sorted((paths.project_root() / "book").glob("*_recipe.md"))
    stems = [page.stem for page in pages if exhibit_id in page.read_text(encoding="utf-8")]
    return stems[0] if stems else ""
