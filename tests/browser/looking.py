"""What holds for every page of ours, whoever opens it."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Page

from tests.scale import TEST_ALL

WIDTHS = (320, 768, 1280)
#: Nothing but colours differs in the dark (tests/test_style_sheets.py): the other rules found what there is.
OF_COLOUR = ("color-contrast", "link-in-text-block")
LIGHT: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
DARK = LIGHT | {"runOnly": {"type": "rule", "values": OF_COLOUR}}
#: Things to press that are lower than so many pixels: a finger's width on telephones, 24
#: elsewhere; links inside sentences may be.
SMALL = """(least) => [...document.querySelectorAll(
    "button, .button, input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea, " +
    "label.check, label.choice, label.switch, summary, nav a, .quiet, .brand")]
  .filter((each) => each.checkVisibility({visibilityProperty: true}))
  .map((each) => [each.textContent.trim() || each.name, each.getBoundingClientRect()])
  .filter(([, box]) => box.height < least - 0.5 || box.width < 23.5)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""

#: Resolves when the document is loaded. A page that sends a form by itself never is where the answer has no
#: content (204): it counts as loaded some seconds after all its elements are there.
LOADED = """() => new Promise((done) => {
  const begun = performance.now();
  const look = () => {
    const parsed = document.readyState === "interactive" && document.body;
    if (document.readyState === "complete" || (parsed && performance.now() - begun > 3000)) done(true);
    else setTimeout(look, 10);
  };
  look();
})"""


def check(page: Page, *, everywhere: bool = TEST_ALL) -> None:
    """Axe, reflow and sizes of the page as it is open now, on three widths.

    Axe takes half a second for a page. Each build runs it on the width of a phone in light, `make test-all`
    and tests that ask for it on each width, in the dark too.
    """
    # A click returns as soon as the new document has begun, before it has style sheets. Playwright
    # itself would wait for a load that never comes after a 204, or poll by eval, which our policy refuses.
    page.evaluate(LOADED)
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        # What lies half below the bar at the top would be too small to press for axe.
        page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
        for scheme, options in (("light", LIGHT), ("dark", DARK)):
            if not (everywhere or (width, scheme) == (320, "light")):
                continue
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            results = AxeResults(page.evaluate("(options) => axe.run(options)", options))
            assert results.violations_count == 0, f"{width} {scheme}\n{results.generate_report()}"
        wide, small = page.evaluate(
            f"[document.documentElement.scrollWidth, ({SMALL})({44 if width == 320 else 24})]"
        )
        assert wide <= width, f"the page is {wide} px wide at {width}"
        assert small == []
