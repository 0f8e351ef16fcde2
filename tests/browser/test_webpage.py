"""The page in a real browser: Debian's Chromium, headless, driven by Playwright.

Screenshots and the printed page are kept where ``--basetemp`` says, or in the folder that HOLDSUP_SCREENSHOTS names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import holdsup
from every_kind import make_measurements, make_results
from holdsup.rendering.table import visible
from holdsup.results import Asked, Caution, Result, Rows
from holdsup.verdict.reproduction import write_card
from waiting import LIMIT

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[dev]'")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"),
]

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-quic"]
WIDE, PHONE = {"width": 1100, "height": 900}, {"width": 390, "height": 844}

MARKUP = """
<script>hacked=1</script> | <img src=x onerror=hacked=1> | <svg onload=hacked=1> | <svg/onload=hacked=1>
"><script>hacked=1</script> | '><img src=x onerror=hacked=1> | </title><script>hacked=1</script>
</style><script>hacked=1</script> | </script><script>hacked=1</script> | <!-- | --> | ]]> | <![CDATA[ x | &lt;b&gt;
&amp; | & | <b>bold</b> | <a href=javascript:hacked=1>x</a> | javascript:hacked=1 | {{ 7*7 }} | {% raw %} | ${7*7}
<iframe src=javascript:hacked=1> | <style>*{display:none}</style> | <base href=x> | <meta http-equiv=refresh content=0>
<math><mtext></mtext></math> | <template><p>x</template> | <table><td> | </td></tr></table> | <input autofocus onfocus=hacked=1>
"quoted" | 'single' | `back` | a"b'c`d | back\\slash | \\n | %s %d | $x^2$ | $\\frac{1}{0}$ | _private | __all__
=1+1 | +1 | -1 | @SUM(1) | #hash | * bold * | a|b
""".replace("\n", " | ")
OTHERS = [
    "\u202eright to left", "\u05d0\u05d1\u05d2 \u05d3", "\u0639\u0631\u0628\u064a", "\u6a21\u578b\u7532", "\U0001f600 smile", "e\u0301 combining", "zero\u200bwidth",
    "tab\there", "line\nbreak", "\x1b[31mred", "x" * 200, "word " * 40 + "end", "\u00a0nbsp",
]  # fmt: skip
# Names that serve as columns come first, and are without "=", which stands for a property that is computed.
NAMES = [*dict.fromkeys([name.strip() for name in re.split(r" \| ", MARKUP) if name.strip()] + OTHERS)]
NAMES.sort(key=lambda name: "=" in name)


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("HOLDSUP_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def page_file(results: list[Result], shots: Path) -> Path:
    holdsup.write_report(results, shots / "page.html")
    print(f"screenshots: {shots}")
    return shots / "page.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page; at the end there must have been no complaint and no request but for the page."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def go(file: Path, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": WIDE, **settings})
        context.set_default_timeout(1000 * LIMIT)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}") or dialog.dismiss())
        tab.on("request", lambda asked: complaints.append(asked.url) if _leaves(asked.url, file) else None)
        tab.goto(file.as_uri())
        return tab

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


def _leaves(url: str, file: Path) -> bool:
    return url.partition("#")[0] != file.as_uri() and not url.startswith("data:")


def ratio(tab: Any, selector: str) -> float:
    """Return the contrast of an element's letters with what is behind them, as WCAG defines it."""
    return float(
        tab.evaluate(
            """selector => {
              const element = document.querySelector(selector);
              const numbers = text => text.match(/[\\d.]+/g).map(Number);
              let behind = element;
              while (behind && numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
              const light = text => numbers(text).slice(0, 3).map(c => c / 255)
                .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
              const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind || document.body).backgroundColor]
                .map(light).sort((x, y) => y - x);
              return (a + .05) / (b + .05);
            }""",
            selector,
        )
    )


def test_the_page_opens_without_complaint_and_asks_for_nothing(
    visit: Callable[..., Any], page_file: Path, shots: Path
) -> None:
    tab = visit(page_file)
    assert tab.title() == "Do these results hold up?"
    tab.screenshot(path=shots / "light.png", full_page=True)
    assert tab.locator(".drawing svg text").count() > 100


def test_the_policy_stops_a_script_that_is_not_the_pages(browser: Any, page_file: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.html"
    text = page_file.read_text(encoding="utf-8")
    evil.write_text(text.replace("</main>", "<script>hacked=1</script><p style='color:red'></main>"), encoding="utf-8")
    tab = browser.new_page()
    refused: list[str] = []
    tab.on("console", lambda message: refused.append(message.text))
    tab.goto(evil.as_uri())
    assert tab.evaluate("typeof hacked") == "undefined"
    assert len([text for text in refused if "Content Security Policy" in text]) == 2
    tab.close()


def test_sorting_goes_up_down_and_back(visit: Callable[..., Any], page_file: Path, results: list[Result]) -> None:
    tab = visit(page_file)
    unfold(tab)
    table = tab.locator(".block table").filter(has=tab.locator("caption", has_text="Candidates")).first
    head = table.locator("th", has_text="mean")
    tuning = results[5]
    means = [f"{row.mean:.10f}" for row in tuning.ranked()]  # type: ignore[attr-defined]
    before = table.locator("tbody td:first-child").all_inner_texts()
    by_mean = [name for _, name in sorted(zip(means, before, strict=True))]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert table.locator("tbody td:first-child").all_inner_texts() == by_mean
    head.locator("button").press("Enter")  # the keyboard does the same
    assert head.get_attribute("aria-sort") == "descending"
    assert table.locator("tbody td:first-child").all_inner_texts() == by_mean[::-1]
    head.locator("button").press("Space")
    assert head.get_attribute("aria-sort") == "none"
    assert table.locator("tbody td:first-child").all_inner_texts() == before


def test_copying_gives_csv_and_latex(visit: Callable[..., Any], page_file: Path, results: list[Result]) -> None:
    from holdsup.rendering.markup import render_latex
    from holdsup.rendering.spreadsheet import render_csv

    tab = visit(page_file, permissions=["clipboard-read", "clipboard-write"])
    unfold(tab)
    table = results[1].tables()[0]
    block = tab.locator(".block", has=tab.locator("summary", has_text=table.title)).first
    for name, text in (("CSV", render_csv(table)), ("LaTeX", render_latex(table))):
        button = block.locator("button", has_text=name)
        label = button.get_attribute("aria-label").replace("Copy", "Copied")
        button.click()
        tab.wait_for_function("label => document.getElementById('said').textContent === label", arg=label)
        assert tab.evaluate("navigator.clipboard.readText()") == text


def test_a_point_says_its_value_under_the_pointer_and_by_the_arrow_keys(
    visit: Callable[..., Any], page_file: Path, results: list[Result]
) -> None:
    tab = visit(page_file)
    drawing = tab.locator("#\\32-compare .drawing").first  # the differences from the baseline
    first = results[1].contrasts[0]  # type: ignore[attr-defined]
    says = f"{first.left} - {first.right}: "
    drawing.locator(".point").nth(1).hover()
    assert tab.locator("#tip").inner_text().startswith(says)
    tab.mouse.move(0, 0)
    drawing.focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#tip").inner_text().startswith(says)
    tab.keyboard.press("ArrowLeft")
    assert not tab.locator("#tip").inner_text().startswith(says)
    tab.keyboard.press("Escape")
    assert tab.locator("#tip").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_have_contrast(visit: Callable[..., Any], page_file: Path, shots: Path, scheme: str) -> None:
    tab = visit(page_file, color_scheme=scheme)
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
    unfold(tab)
    for selector in ("h1", ".headline", ".note", "figcaption", ".cards h2 a", ".says", "button.copy", "th button", "td",
                     ".kind", ".subject", ".caveats li", ".line code", "footer p", ".chip", "summary",
                     ".answer .badge", ".cards .badge.unclear", ".cards .badge.no"):  # fmt: skip
        assert ratio(tab, selector) >= 4.5, selector
    letters = tab.locator(".drawing text").first.evaluate("e => getComputedStyle(e).fill")
    assert letters == tab.evaluate("getComputedStyle(document.body).color")
    tab.screenshot(path=shots / f"{scheme}-first.png")


def test_the_button_turns_the_scheme_and_stores_nothing(visit: Callable[..., Any], page_file: Path) -> None:
    tab = visit(page_file, color_scheme="light")
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.locator("#scheme").click()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert tab.locator("#scheme").inner_text() == "Light"
    tab.reload()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_a_phone_has_no_sideways_scroll(visit: Callable[..., Any], page_file: Path, shots: Path) -> None:
    tab = visit(page_file, viewport=PHONE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.screenshot(path=shots / "phone.png", full_page=True)


def test_the_keyboard_reaches_everything_and_focus_is_seen(visit: Callable[..., Any], page_file: Path) -> None:
    tab = visit(page_file)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == "#answers"
    assert tab.evaluate("[...document.querySelectorAll('[tabindex]')].every(e => e.tabIndex === 0)")
    assert tab.evaluate(
        "[...document.querySelectorAll('.drawing')].every(e => e.getAttribute('aria-label').length > 20)"
    )
    tab.locator("#scheme").focus()
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def unfold(tab: Any) -> None:
    """Open all that is folded, as a reader may."""
    tab.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")


def test_tables_are_folded_until_a_reader_or_a_printer_opens_them(visit: Callable[..., Any], page_file: Path) -> None:
    tab = visit(page_file)
    folds = tab.locator("details.block")
    assert folds.count() > 10
    assert folds.locator("table").first.is_hidden()
    folds.first.locator("summary").press("Enter")
    assert folds.locator("table").first.is_visible()
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("[...document.querySelectorAll('details')].every(fold => fold.open)")


def test_every_answer_has_its_word_and_shape_on_its_card(
    visit: Callable[..., Any], page_file: Path, results: list[Result]
) -> None:
    tab = visit(page_file)
    for card, result in zip(tab.locator(".cards > .card").all(), results, strict=True):
        words = card.locator(".badge").all_inner_texts()
        assert [word.split()[-1] for word in words] == ([result.state.upper()] if result.state else [])
        assert card.locator(".says").inner_text() == result.headline


def check_print(tab: Any, file: Path, names: list[str]) -> None:
    """Check that no table is wider than the sheet, and that what should be on paper is there."""
    unfold(tab)
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 688, "height": 1000})  # the 182 mm between the margins of A4
    too_wide = tab.evaluate(
        "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth + 1)"
        ".map(t => t.caption.textContent)"
    )
    assert too_wide == []
    tab.pdf(path=file, format="A4", prefer_css_page_size=True)
    assert file.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", file, "-"], capture_output=True, text=True, check=True).stdout
        for name in names:
            assert name in text


def test_print_has_no_cut_tables(visit: Callable[..., Any], page_file: Path, shots: Path) -> None:
    check_print(visit(page_file), shots / "print.pdf", ["Reproduce it", "C=gamma, rate=12", "Method"])


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_reproduction_card_of_long_names_fits_screens_and_paper(
    visit: Callable[..., Any], shots: Path, width: int, scheme: str
) -> None:
    names = ["x" * 200, "b", "c", "m" * 200, *"efgh", "k" * 200, "lab " * 50, "p" * 200]
    write_card(holdsup.assess_reproduction(make_measurements(names)), shots / "card.html")
    tab = visit(shots / "card.html", viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    cut = "[...document.querySelectorAll('td')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert tab.evaluate(cut) == []
    for selector in (".headline", "td", "caption", ".note", "code"):
        assert ratio(tab, selector) >= 4.5, selector
    tab.screenshot(path=shots / f"card-{width}.png")
    check_print(tab, shots / "card.pdf", ["Reproduction card", "what to align next"])


def test_short_tables_are_not_cut_in_two_by_the_end_of_a_page(visit: Callable[..., Any], page_file: Path) -> None:
    tab = visit(page_file)
    tab.emulate_media(media="print")
    kept = "[...document.querySelectorAll('table')].filter(t => getComputedStyle(t).breakInside === 'avoid')"
    rows = tab.evaluate(f"{kept}.map(t => t.tBodies[0].rows.length)")
    assert len(rows) > 10
    assert max(rows) <= 12


def warned(names: list[str]) -> Result:
    """Return a result whose cautions, reasons and signature hold every name."""
    found = holdsup.audit_scores(holdsup.simulate_scores({"A": 0.5}, items=3))
    return replace(
        found,
        asked=Asked.about("check", "|".join(names)),
        cautions=tuple(Caution(code="hostile", about="claim", message=name) for name in names),
        rows=Rows(60, 0, dict.fromkeys(names, 1)),
    )


def test_hostile_names_in_every_place_are_shown_as_text(visit: Callable[..., Any], shots: Path) -> None:
    assert len(NAMES) >= 60
    file = shots / "hostile.html"
    results = [*make_results(NAMES, systems=len(NAMES)), warned(NAMES)]
    holdsup.write_report(results, file, title=" ".join(NAMES), introduction=" ".join(NAMES))
    assert file.stat().st_size < 2_600_000  # results of all kinds, each with dozens of names
    tab = visit(file)
    assert tab.evaluate("typeof hacked") == "undefined"
    assert (
        tab.evaluate("document.querySelectorAll('main script, main iframe, main input, main base, main meta').length")
        == 0
    )
    squeeze = re.compile(r"\s+")
    for place in (
        "header h1",
        "header .introduction",
        ".cards",
        ".caveats, .beside, tbody",
        "tbody",
        ".line code",
        ".drawing svg",
        ".method",
    ):
        text = squeeze.sub(" ", " ".join(tab.locator(place).all_text_contents()))
        for name in NAMES:
            signed = re.sub(r"([|\\])", r"\\\1", name) if place == ".line code" else name  # as signatures escape it
            shown = squeeze.sub(" ", visible(signed)).strip()
            cut = shown[:20] if place == ".drawing svg" else shown  # long names are cut in pictures
            assert cut in text, (place, name)
    for number in range(1, len(results) + 1):  # every kind of result has some of them
        assert tab.locator(f".cards > li:nth-child({number})").count() == 1
    tab.screenshot(path=shots / "hostile.png")
    tab.set_viewport_size(PHONE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.screenshot(path=shots / "hostile-phone.png")
    check_print(tab, shots / "hostile.pdf", [])
