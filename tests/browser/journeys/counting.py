"""A person in front of the product, who is counted: clicks, fields, keys, pages, and how far they scrolled.

A click opens or presses something; a field is one that is filled, chosen from or ticked; a key is a shortcut.
Reading costs nothing, but what is not on the screen is scrolled to, and its pixels are counted.
"""

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page

_SCROLLED = """element => {
  const at = window.scrollY;
  element.scrollIntoView({ block: "nearest", behavior: "instant" });
  return Math.abs(window.scrollY - at);
}"""


@dataclass
class Effort:
    """What a journey took."""

    clicks: int = 0
    fields: int = 0
    keys: int = 0
    pages: int = 0
    scrolled: int = 0

    def __str__(self) -> str:
        return (
            f"{self.clicks} clicks, {self.fields} fields, {self.keys} keys, {self.pages} pages loaded, "
            f"{self.scrolled:,} px scrolled"
        )


class Traveller:
    """Acts on a page as a person does, by what is seen on it."""

    def __init__(self, page: Page) -> None:
        self.page, self.effort = page, Effort()
        page.on("load", lambda _: self._loaded())

    def _loaded(self) -> None:
        self.effort.pages += 1

    def press(self, name: str, *, within: str = "main", nth: int = 0) -> None:
        """Press the button of this name."""
        self.click(self.page.locator(within).get_by_role("button", name=name, exact=True).nth(nth))

    def follow(self, name: str, *, within: str = "body", nth: int = 0) -> None:
        """Follow the link of this name."""
        self.click(self.page.locator(within).get_by_role("link", name=name, exact=True).nth(nth))

    def go(self, place: str) -> None:
        """Follow the link of the sidebar to this place; its name is followed by a count."""
        self.click(self.page.locator(".sidebar").get_by_role("link", name=place).first)

    def click(self, element: Locator) -> None:
        """Click on it, wherever it is on the page."""
        self._see(element)
        element.click()
        self.effort.clicks += 1

    def strike(self, key: str) -> None:
        """Press a key that the page says."""
        self.page.keyboard.press(key)
        self.effort.keys += 1

    def decide(self, key: str, reason: str = "") -> None:
        """Press a key that leads to another page; with a reason, which is typed into the field that opens."""
        with self.page.expect_navigation():
            self.strike(key)
            if reason:
                self.page.keyboard.type(reason)
                self.effort.fields += 1
                self.strike("Control+Enter")

    def fill(self, label: str, text: str) -> None:
        """Fill in a field."""
        field = self._field(label)
        self._see(field)
        field.fill(text)

    def choose(self, label: str, option: str) -> None:
        """Choose from a list."""
        field = self._field(label)
        self._see(field)
        field.select_option(label=option)

    def tick(self, label: str) -> None:
        """Tick a box, or take the tick away."""
        field = self._field(label)
        self._see(field)
        field.set_checked(not field.is_checked())

    def bring(self, label: str, file: Path) -> None:
        """Choose a file of one's own."""
        field = self._field(label)
        self._see(field)
        field.set_input_files(file)

    def _field(self, label: str) -> Locator:
        self.effort.fields += 1
        return self.page.locator("main").get_by_label(label, exact=True).first

    def _see(self, element: Locator) -> None:
        self.effort.scrolled += element.evaluate(_SCROLLED)
