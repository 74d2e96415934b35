"""The terminal, for people who may be seeing Distillery for the first time."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from rich.console import Console
from rich.table import Table

from core.money import dollars
from crowd.models import Assignment
from distillery.demo.lab import ADMIN, GUEST, WORKERS
from distillery.demo.tour import tell_progress
from marketplace.models import Requester
from marketplace.services.accesskeys import IssuedKey
from people.links import address_of
from people.models import StudyLink


class Screen:
    """Says what is done, here and, while something is still coming, on the pages of the desk."""

    def __init__(self, site: str) -> None:
        self._console, self._site = Console(highlight=False), site

    def say(self, text: str = "") -> None:
        """Lines, with marks for bold and colours."""
        self._console.print(text, soft_wrap=True)

    def done(self, sentence: str) -> None:
        """Something is finished."""
        self.say(f"[green]✓[/green] {sentence}")

    @contextmanager
    def step(self, number: int, steps: int, words: str, *, waits: bool) -> Iterator[None]:
        """A step of the campaigns; `waits` where it shows nothing of its own until it is done."""
        tell_progress(number, steps, words)
        work = Assignment.objects.exclude(state=Assignment.State.WORKING)
        before = work.count()
        with self._console.status(words) if waits else nullcontext():
            yield
        assignments = work.count() - before
        by_whom = f"{assignments} assignment{'s' * (assignments > 1)} by simulated people"
        self.done(f"{words}: {by_whom}" if assignments else words)

    def show_all(self, summary: dict[str, Any], password: str, key: IssuedKey) -> None:
        """What the campaigns brought, the books of all sides, where to begin, three lines for a script."""
        self.say(render_to_string("demo/campaigns.txt").strip())
        table = Table("", "tasks", box=None, padding=(0, 1, 0, 1), header_style="dim")
        for name in ("paid", "theirs", "fees", "theirs"):
            table.add_column(name, justify="right")
        for row in summary["books"]:
            sums = [row[name] for name in ("paid_cents", "their_paid_cents", "fee_cents", "their_fee_cents")]
            cells = ("" if cents is None else f"${dollars(cents)}" for cents in sums)
            table.add_row(row["name"], str(row["tasks"]), *cells)
        self._console.print(table)
        link = StudyLink.objects.get(project__slug="anywhere")
        self._tell(
            "places", password,
            agree=summary["agree"], release=Path(settings.DATA_DIR, summary["release"]["path"]),
            key=key, link=link, address=address_of(link),
        )  # fmt: skip

    def show_sign_ins(self, password: str) -> None:
        """The addresses for people with an account."""
        self._tell("sign-ins", password)

    def _tell(self, template: str, password: str, **facts: object) -> None:
        names = {"admin": ADMIN, "guest": GUEST, "workers": WORKERS, "lab": Requester.objects.get()}
        context = {"site": self._site, "password": password, **names, **facts}
        self.say(render_to_string(f"demo/{template}.txt", context).rstrip())
