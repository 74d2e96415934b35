"""Going through pages with nothing but the keyboard."""

from playwright.sync_api import Frame, Page

#: What a screen reader would say of the element with the focus: its name, near enough.
NAME = """() => {
  const here = document.activeElement;
  const labels = here.labels?.length ? [...here.labels].map((each) => each.textContent).join(" ") : "";
  const words = here.getAttribute("aria-label") || labels || here.textContent || here.name || here.id || "";
  return words.replace(/\\s+/g, " ").trim();
}"""
SEEN = """() => {
  const here = document.activeElement;
  const ring = (each) => each && getComputedStyle(each).outlineStyle !== "none";
  return ring(here) || ring(here.closest("label"));
}"""


def name_in_focus(page: Page) -> str:
    """What has the focus, inside the task's frame too."""
    return str(_frame_in_focus(page).evaluate(NAME))


def tab_to(page: Page, name: str, *, key: str = "Tab") -> None:
    """Press the tab key until something of this name has the focus, and shows it."""
    passed = []
    for _ in range(60):
        page.keyboard.press(key)
        passed.append(name_in_focus(page))
        if passed[-1].startswith(name):
            assert _frame_in_focus(page).evaluate(SEEN), f"{name} has the focus and does not show it"
            return
    raise AssertionError(f"{name} cannot be reached with {key}; passed were {passed}")


def take_with_keys(page: Page, title: str) -> None:
    """Accept a HIT of this title and go into its frame."""
    page.goto("/")
    tab_to(page, f"Preview: {title}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/projects/*/tasks")
    tab_to(page, "Accept")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/*assignment_id=*")
    page.frame_locator("iframe").get_by_role("button", name="Submit").wait_for()
    tab_to(page, "Skip to the task")
    page.keyboard.press("Enter")


def _frame_in_focus(page: Page) -> Frame:
    inside = page.evaluate("document.activeElement.tagName") == "IFRAME"
    return page.frames[1] if inside else page.main_frame
