"""Working through a task page by its plan: with a pointer, or with nothing but the keyboard."""

import re
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Frame, Locator, Page, expect

HERE = "element => element === document.activeElement"
#: The focused radio button is of the same group as the element.
IN_GROUP = """element => document.activeElement.type === "radio" &&
  document.activeElement.name === element.name"""
_MOST_TABS = 90
Point = Sequence[int]


class Driver:
    """Takes the steps of a plan in the frame of a task."""

    def __init__(self, page: Page, *, keys_only: bool) -> None:
        self.page, self.keys_only = page, keys_only

    @property
    def frame(self) -> Frame:
        """The task's frame as it is now; a reload makes another one."""
        return self.page.frames[1]

    def take(self, steps: Sequence[Sequence[Any]]) -> None:
        """Take these steps, in their order."""
        for name, *given in steps:
            getattr(self, name.replace("-", "_"))(*given)

    def field(self, label: str) -> Locator:
        """The field of this label that is seen."""
        return self.frame.get_by_label(re.compile(rf"^\s*{re.escape(label)}")).locator("visible=true").first

    def see(self, words: str) -> None:
        """Wait until the page says so."""
        expect(self.frame.get_by_text(words).first).to_be_visible()

    def fill(self, label: str, text: str) -> None:
        """Type into a field what replaces its text."""
        field = self.field(label)
        if not self.keys_only:
            field.fill(text)
            return
        self.tab_to(field)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def check(self, label: str) -> None:
        """Choose a radio button or tick a box."""
        field = self.field(label)
        if not self.keys_only:
            field.check()
        elif field.get_attribute("type") == "radio":
            self.tab_to(field, IN_GROUP)
            self.page.keyboard.press("Space")
            for _ in range(12):
                if field.is_checked():
                    break
                self.page.keyboard.press("ArrowDown")
        else:
            self.tab_to(field)
            self.page.keyboard.press("Space")
        expect(field).to_be_checked()

    def select(self, label: str, options: str | list[str]) -> None:
        """Choose of a list; several by value, one by its words."""
        field = self.field(label)
        if not self.keys_only:
            field.select_option(options)
            return
        self.tab_to(field)
        if isinstance(options, str):
            self.page.keyboard.type(options)
            return
        values = field.evaluate("select => [...select.options].map((option) => option.value)")
        self.page.keyboard.press("Home")
        for value in values[1:]:
            self.page.keyboard.press("Control+ArrowDown")
            if value in options:
                self.page.keyboard.press("Control+Space")

    def choose(self, selector: str, value: str) -> None:
        """Choose of a list without a label of its own."""
        field = self.frame.locator(selector)
        if self.keys_only:
            self.tab_to(field)
            self.page.keyboard.type(value)
        else:
            field.select_option(value)

    def slide(self, label: str, value: int) -> None:
        """Move a slider."""
        field = self.field(label)
        if not self.keys_only:
            field.fill(str(value))
            return
        self.tab_to(field)
        self.page.keyboard.press("Home")
        for _ in range(value - int(field.get_attribute("min") or 0)):
            self.page.keyboard.press("ArrowRight")

    def press(self, name: str) -> None:
        """Press a button."""
        button = self.frame.get_by_role("button", name=name, exact=True).locator("visible=true").first
        if self.keys_only:
            self.tab_to(button)
            self.page.keyboard.press("Enter")
        else:
            button.click()

    def tab(self, name: str) -> None:
        """Show a page of tabs."""
        tab = self.frame.get_by_role("tab", name=name)
        if self.keys_only:
            self.tab_to(tab, "tab => document.activeElement.closest('[role=tablist]')?.contains(tab)")
            self.page.keyboard.press("ArrowRight")
        else:
            tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")

    def drag(self, what: str, to: str, instead: str) -> None:
        """Drag an element onto another; with keys, press the button that does the same."""
        if self.keys_only:
            self.press(instead)
        else:
            self.frame.locator(what).drag_to(self.frame.locator(to))

    # On images, in pixels of the image

    def drag_on(self, start: Point, end: Point) -> None:
        """Draw from one point to another."""
        if not self.keys_only:
            box = self._image()
            self.page.mouse.move(*_place(box, start))
            self.page.mouse.down()
            self.page.mouse.move(*_place(box, [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2]))
            self.page.mouse.move(*_place(box, end))
            self.page.mouse.up()
            return
        for point in (start, end):
            self._go_to(point)
            self.page.keyboard.press("Space")

    def points(self, places: Sequence[Point]) -> None:
        """Set points, one by one."""
        if not self.keys_only:
            box = self._image()
            for place in places:
                self.page.mouse.click(*_place(box, place))
            return
        for place in places:
            self._go_to(place)
            self.page.keyboard.press("Space")

    def path(self, places: Sequence[Point]) -> None:
        """Set points, and end the line or polygon."""
        self.points(places)
        self.page.keyboard.press("Enter")

    def _image(self) -> Any:
        drawing = self.frame.locator("svg.crowd-drawing")
        drawing.scroll_into_view_if_needed()
        return drawing.bounding_box()

    def _go_to(self, point: Point) -> None:
        view = self.frame.locator(".crowd-view")
        self.tab_to(view)
        at = view.evaluate("view => view.closest('[data-kept]').cursor")
        step = 4  # a fiftieth of the image's 200 pixels
        for axis, wanted, keys in (("x", point[0], "Left Right"), ("y", point[1], "Up Down")):
            distance = wanted - at[axis]
            key = f"Arrow{keys.split()[distance > 0]}"
            for press, times in ((key, abs(distance) // step), (f"Shift+{key}", abs(distance) % step)):
                for _ in range(times):
                    self.page.keyboard.press(press)

    def mark(self, word: str) -> None:
        """Mark a word of a text."""
        text = self.frame.locator(".crowd-text")
        if self.keys_only:
            self.tab_to(text)
            for _ in range(20):
                self.page.keyboard.press("ArrowRight")
                if self.frame.locator(".crowd-chosen").all_text_contents() == [word]:
                    break
            self.page.keyboard.press("Enter")
            return
        run = self.frame.locator(".crowd-text [data-from]", has_text=word).first
        box = run.evaluate(
            """(run, word) => {
              const range = document.createRange();
              const at = run.firstChild.data.indexOf(word);
              range.setStart(run.firstChild, at);
              range.setEnd(run.firstChild, at + word.length);
              const { left, top, width, height } = range.getBoundingClientRect();
              return [left, top + height / 2, left + width];
            }""",
            word,
        )
        around = self.page.locator("iframe").bounding_box() or {"x": 0, "y": 0}
        self.page.mouse.move(around["x"] + box[0] + 1, around["y"] + box[1])
        self.page.mouse.down()
        self.page.mouse.move(around["x"] + box[2] - 1, around["y"] + box[1], steps=3)
        self.page.mouse.up()

    def tab_to(self, element: Locator, reached: str = HERE) -> None:
        """Press the tab key until the element has the focus."""
        if not self.page.evaluate("document.activeElement.tagName === 'IFRAME'"):
            self.page.locator("iframe").focus()
        for _ in range(_MOST_TABS):
            if element.evaluate(reached):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{element} cannot be reached with the tab key")


def _place(box: Any, point: Sequence[float]) -> tuple[float, float]:
    """Where a pixel of an image of 200 by 100 is on the screen."""
    return box["x"] + point[0] * box["width"] / 200, box["y"] + point[1] * box["height"] / 100
