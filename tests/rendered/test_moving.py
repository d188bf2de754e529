"""The pictures that a reader moves: their numbers are the package's, by hand, key and address."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from scipy.stats import norm

from membership import attacks, curvature, lood, metrics, nngp, paths, privacy
from membership.attacks.iha import iha_terms
from membership.book.site import moving
from tests.rendered.reading import until
from workflow.draw_stills import HEIGHT, WIDTH, drawn, still

STATIC = paths.project_root() / "book" / "_static"
CHAPTERS = tuple(moving.pictures())
Opener = Callable[..., Page]


def opened(open_page: Opener, address: str, chapter: str, query: str = "", **options) -> Page:
    page = open_page(**{"viewport": {"width": WIDTH, "height": HEIGHT}, **options})
    page.goto(f"{address}/book/chapters/{chapter}.html{query}")
    return page


def computed(page: Page, chapter: str, call: str, *given):
    """What a function of the picture's numbers gives in the browser, once its script is there."""
    script = f"""given => {{
        const picture = globalThis.eval('typeof moving === "object" && moving').pictures?.{chapter};
        return picture && {{ found: picture.numbers.{call}(...given) }};
    }}"""
    return page.wait_for_function(script, arg=list(given)).json_value()["found"]


@pytest.fixture
def at(open_page: Opener, address: str) -> Callable[[str], Page]:
    def go(chapter: str) -> Page:
        page = opened(open_page, address, chapter)
        page.locator("figure.moving svg").wait_for()
        return page

    return go


OTHERS = [[-3.1, 0.5], [-2.4, 0.9], [-1.6, 0.2], [-0.9, -0.5], [1.9, 0.1], [2.6, 0.8], [3.3, 0.4]]


class Vanishing(nngp.Kernel):
    """The picture's kernel: an RBF's times a factor that is 0 at 0 and soon near 1."""

    def evaluate(self, x1, x2, xp):
        a, b = x1 / xp.sqrt(0.1 + x1**2), x2 / xp.sqrt(0.1 + x2**2)
        return a * b.T * xp.exp(-4.8 * (x1 - x2.T) ** 2)

    def evaluate_diagonal(self, x, xp):
        return (x**2 / (0.1 + x**2))[:, 0]


@pytest.mark.parametrize("normalise", [0, 1])
@pytest.mark.parametrize("twin", [0, 1])
def test_a_process_with_and_without_a_record(at, twin: int, normalise: int) -> None:
    page, rng = at("lood"), np.random.default_rng(twin + 2 * normalise)
    for _ in range(5):
        x, y, noise = rng.uniform(-3.5, 3.5), rng.uniform(-1.5, 1.5), rng.uniform(-2.3, 0.3)
        questions = rng.uniform(-4, 4, 9)
        state = {"x": x, "y": y, "noise": noise, "twin": twin, "normalise": normalise}
        data = np.array(OTHERS + ([[x + 0.12, y - 0.1]] if twin else []))
        record = np.array([[x]]), np.array([y])
        if normalise:
            sides = lood.compare_normalised(Vanishing(), data[:, :1], data[:, 1], record, 10**noise)
            expected = sides.contrast(questions[:, None]).measure("kl")
        else:
            moved = (record[0] + 6) / 2.4, record[1]
            inputs = (data[:, :1] + 6) / 2.4
            sides = lood.compare(Vanishing(), inputs, data[:, 1], moved, 10**noise)
            expected = sides.contrast((questions[:, None] + 6) / 2.4).measure("kl")
        found = computed(page, "lood", "apart", state, questions.tolist())
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_no_question_tells_more_than_the_record_until_the_data_normalise(at) -> None:
    page, rng = at("lood"), np.random.default_rng(4)
    won = 0
    for _ in range(20):
        state = {"x": rng.uniform(-3, 3), "y": rng.uniform(-1.5, 1.5), "noise": -1.0, "twin": 0}
        best = computed(page, "lood", "best", state | {"normalise": 0})
        assert best["most"] == pytest.approx(best["atRecord"], rel=1e-9)
        best = computed(page, "lood", "best", state | {"normalise": 1})
        won += best["most"] > 1.001 * best["atRecord"]
    assert won > 15


def test_noise_at_its_best_threshold(at) -> None:
    page = at("bayes_optimal")
    for n, seed in ((50, 1), (400, 7), (1000, 3)):
        order = np.array(computed(page, "bayes_optimal", "order", n, seed))
        assert order.sum() == n / 2
        accuracies = computed(page, "bayes_optimal", "accuracies", order.tolist())
        scores = -np.arange(n)
        member = order.astype(bool)
        best = metrics.best_threshold(scores, member)
        peak = metrics.balanced_accuracy(scores, member, best)
        found = computed(page, "bayes_optimal", "peak", accuracies)
        assert found == pytest.approx(peak, abs=1e-9)
        expected = metrics.peak_accuracy_null(n // 2, n // 2)
        found = computed(page, "bayes_optimal", "expected", n)
        assert found == pytest.approx(expected, abs=1e-9)


def test_peaks_of_noise_are_as_high_as_they_are_said_to_be_on_average(at) -> None:
    page = at("bayes_optimal")
    orders = [computed(page, "bayes_optimal", "order", 400, seed) for seed in range(1, 301)]
    peaks = np.cumsum(2 * np.array(orders) - 1, axis=1).max(axis=1).clip(0) / 400 + 0.5
    error = np.std(peaks) / np.sqrt(len(peaks))
    assert abs(np.mean(peaks) - metrics.peak_accuracy_null(200, 200)) < 4 * error


@pytest.mark.parametrize("mended", [False, True])
def test_p_values_are_the_attacks(at, mended: bool) -> None:
    page, rng = at("bmia"), np.random.default_rng(5)
    for count in (4, 30, 1000):
        draws, scores = rng.normal(size=(count, 6)), rng.normal(size=6) * 2
        expected = attacks.bmia_p_value(scores, draws, calibrated=mended)
        moments = zip(scores, draws.mean(axis=0), draws.std(axis=0, ddof=1), strict=True)
        found = [computed(page, "bmia", "pValue", *map(float, m), count, mended) for m in moments]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_a_level_of_one_step(at) -> None:
    page, rng = at("gmip"), np.random.default_rng(6)
    for _ in range(10):
        d, n, noise = 10 ** rng.uniform(1, 4), 10 ** rng.uniform(1, 4), rng.uniform(0, 100)
        ratio = 10 ** rng.uniform(-1.5, 1.5)
        state = dict(zip(("parameters", "batch", "ratio"), np.log10([d, n, ratio]), strict=True))
        found = computed(
            page, "gmip", "mu", {k: float(v) for k, v in state.items()} | {"noise": noise}
        )
        mu = privacy.mip_mu_step(d, n, ratio * d, noise / n, 1.0)
        assert found == pytest.approx(mu, rel=1e-6)
        tpr = norm.sf(norm.isf(0.1) - mu)
        reached = computed(page, "gmip", "found", found)
        assert reached == pytest.approx(tpr, abs=1e-6)


@pytest.mark.parametrize("exponent", [-1.0, -0.4, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("condition", [0.0, 0.9, 2.0])
def test_three_questions_in_a_valley(at, condition: float, exponent: float) -> None:
    """Every question's AUC from its two normal laws; the loss keeps the package's share."""
    page = at("loss_enough")
    state = {"condition": condition, "exponent": exponent}
    k = np.array([10 ** (-condition / 2), 10 ** (condition / 2)])
    gradient = np.array([np.cos(0.9), np.sin(0.9)])
    cloud, moved = np.diag(k ** (exponent - 1)), gradient / k
    moved *= 2 / np.sqrt(moved @ np.linalg.solve(cloud, moved))
    expected = []
    for reads in (gradient / k, gradient, gradient * k):
        expected.append(norm.cdf(reads @ moved / np.sqrt(2 * reads @ cloud @ reads)))
    found = computed(page, "loss_enough", "aucs", state)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    share = curvature.loss_share(k, gradient[None], exponent)[0]
    assert found[1] == pytest.approx(norm.cdf(np.sqrt(2 * share)), abs=1e-6)
    # Each question is the best there is under its own noise.
    if exponent in (1.0, 0.0, -1.0):
        assert found[int(1 - exponent)] == pytest.approx(norm.cdf(np.sqrt(2)), abs=1e-6)


@pytest.mark.parametrize(("forgets", "stationarity"), [(1, "published"), (0, "regularised")])
def test_a_weight_between_two_minima(at, forgets: int, stationarity: str) -> None:
    """The picture's score is the heart of the attack's, I1 + I2 at small steps, on one weight."""
    page, decay = at("iha"), 0.0 if forgets else 0.35
    for w in (-0.6, 0.1, 0.3, 0.55, 1.1):
        inverse, gradient, others = 1 / (1 + decay), w - 1.0, 0.75 * w + decay * w
        u, u0 = inverse * gradient, inverse * others
        forms = u * u, u * u0, u * inverse * u, u * inverse * u0
        parts = iha_terms(
            *map(np.atleast_1d, forms), np.zeros(1), 4, 1e-9, 0.0, decay, stationarity
        )
        found = computed(page, "iha", "stationarity", {"w": w, "forgets": forgets})
        assert found == pytest.approx(float(parts.i1[0] + parts.i2[0]), rel=1e-6)


def test_flags_are_worth_what_bayes_rule_says(at) -> None:
    page = at("comparison")
    for share, tpr, fpr in ((0.5, 30.1, 0.95), (0.1, 4.5, 1.03), (0.001, 26.7, 0.92)):
        found = computed(page, "comparison", "right", share, [tpr, fpr])
        flagged = share * tpr + (1 - share) * fpr
        assert found == pytest.approx(share * tpr / flagged, abs=1e-9)


# Where each handle is after one step to the right, by what it moves.
HANDLES = {
    "lood": {"question": "-0.30", "x": "0.60"},
    "gmip": {"ratio": "0.05"},
    "iha": {"w": "0.60"},
}


@pytest.mark.parametrize("chapter", HANDLES)
def test_handles_move_by_key_and_the_address_keeps_where_they_are(
    open_page: Opener, address: str, chapter: str
) -> None:
    page = opened(open_page, address, chapter)
    moved = HANDLES[chapter]
    handles = page.locator(".moving-handle")
    expect(handles).to_have_count(len(moved))
    for i, value in enumerate(moved.values()):
        handles.nth(i).focus()
        page.keyboard.press("ArrowRight")
        expect(handles.nth(i)).to_have_attribute("aria-valuenow", value)
        expect(handles.nth(i)).to_be_focused()
    kept = (rf"(?=.*\b{name}={float(value):g}\b)" for name, value in moved.items())
    page.wait_for_url(re.compile(r"\?" + "".join(kept)))
    page.reload()
    for i, value in enumerate(moved.values()):
        expect(handles.nth(i)).to_have_attribute("aria-valuenow", value)


def test_the_record_follows_the_pointer(at) -> None:
    record = at("lood").get_by_role("slider", name="The record", exact=True)
    record.locator("circle.member").hover()
    record.page.mouse.down()
    at_the_edge = record.page.locator("figure.moving svg")
    at_the_edge.hover(position={"x": 5, "y": 60}, force=True)
    record.page.mouse.up()
    expect(record).to_have_attribute("aria-valuenow", "-3.90")


CONTROLS = {
    "bayes_optimal": ({"Records": 1}, 0, ("Draw noise again",)),
    "iha": ({}, 3, ()),
    "bmia": ({"Draws from the posterior": 1}, 1, ("5%", "1%")),
    "gmip": (
        {"Parameters d": 1, "Batch n": 1, "Noise, in clipping norms": 1},
        0,
        ("the median gradient's", "the paper's"),
    ),
    "lood": ({"Noise of the labels": 1}, 2, ("Ask where it tells most",)),
    "loss_enough": ({"Length of the valley": 1, "Noise": -1}, 0, ()),
    "comparison": ({"Members among those you ask about": -1}, 0, ("LOSS", "LiRA")),
}
LOOKS = "f => f.querySelector('svg').outerHTML + f.querySelector('.moving-say').innerHTML"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_control_changes_what_is_drawn_or_said(at, chapter: str) -> None:
    figure = at(chapter).locator("figure.moving")
    sliders, switches, buttons = CONTROLS[chapter]
    acts = [
        partial(figure.get_by_label(name, exact=False).press, "PageUp" if up > 0 else "PageDown")
        for name, up in sliders.items()
    ]
    acts += [figure.get_by_role("checkbox").nth(i).click for i in range(switches)]
    acts += [figure.get_by_role("button", name=name, exact=True).click for name in buttons]
    expect(figure.locator("input")).to_have_count(len(sliders) + switches)
    for act in acts:
        before = figure.evaluate(LOOKS)
        act()
        until(lambda before=before: figure.evaluate(LOOKS) != before)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_without_a_script_a_still_of_the_first_state_stands_there(
    open_page: Opener, address: str, chapter: str
) -> None:
    page = opened(open_page, address, chapter, java_script_enabled=False)
    image = page.locator(".moving-still")
    expect(image).to_be_visible()
    expect(image).to_have_attribute("alt", re.compile(r"(\w\S* ){5}"))
    until(lambda: image.evaluate("i => i.clientHeight > 150 && i.clientWidth > 500"))


NUMBER = re.compile(r"-?\d+\.?\d*")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_still_is_what_the_script_draws(open_page: Opener, address: str, chapter: str) -> None:
    """Drawn anew by: python -m workflow.draw_stills."""
    page = open_page(viewport={"width": WIDTH, "height": HEIGHT})
    made = still(drawn(page, address, chapter), (STATIC / "moving.css").read_text())
    kept = (STATIC / "moving" / f"{chapter}.svg").read_text(encoding="utf-8")
    assert NUMBER.sub("#", made) == NUMBER.sub("#", kept)
    values = (np.array(NUMBER.findall(text), dtype=float) for text in (made, kept))
    np.testing.assert_allclose(*values, atol=0.11)
