"""The terminal, for people who may be seeing Distillery for the first time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse
from rich.console import Console
from rich.table import Table

from core.money import dollars
from distillery.demo.lab import ADMIN, GUEST, WORKERS
from distillery.demo.tour import tell_progress
from marketplace.models import Requester
from marketplace.services.accesskeys import IssuedKey
from people.links import address_of
from people.models import StudyLink

#: How many steps a live demonstration has.
STEPS = 37


class Screen:
    """Says what is done, here and, while something is still coming, on the pages of the desk."""

    def __init__(self) -> None:
        self._console, self._step = Console(highlight=False), 0

    def say(self, text: str = "") -> None:
        """A line, with marks for bold and colours."""
        self._console.print(text, soft_wrap=True)

    def done(self, sentence: str) -> None:
        """Something is finished."""
        self.say(f"[green]✓[/green] {sentence}")

    def begin_step(self, words: str) -> None:
        """Say on the pages of the desk what is made now."""
        self._step += 1
        tell_progress(self._step, STEPS, words)

    @contextmanager
    def step(self, words: str) -> Iterator[Callable[[int], None]]:
        """A step of the campaigns; the block may say how many assignments there are by now."""
        self.begin_step(words)
        number = 0
        with self._console.status(words) as status:

            def count(assignments: int) -> None:
                nonlocal number
                number = assignments
                status.update(f"{words}: {number} assignments")

            yield count
        tasks = "assignment" if number == 1 else "assignments"
        self.done(f"{words}: {number} {tasks} by simulated people" if number else words)

    # What there is to see

    def figures(self, now: dict[str, Any]) -> None:
        """What the campaigns brought, and their books beside those of each other side."""
        self.done("Ten HITs by boto3; a batch that waits for review; a poll")
        self.done("A finished campaign: answers, judged systems, a release, its evaluation and leaderboard")
        self.done("A campaign in the middle of its work: ties, answers with flags, open stages")
        self.done("A study by people from three places, whose link is open to you")
        table = Table("", "tasks", box=None, padding=(0, 1, 0, 1), header_style="dim")
        for name in ("paid", "theirs", "fees", "theirs"):
            table.add_column(name, justify="right")
        for row in now["books"]:
            sums = [row[name] for name in ("paid_cents", "their_paid_cents", "fee_cents", "their_fee_cents")]
            cells = ("" if cents is None else f"${dollars(cents)}" for cents in sums)
            table.add_row(row["name"], str(row["tasks"]), *cells)
        self._console.print(table)
        agree = "agree to the cent" if now["agree"] else "[red]DIFFER[/red]"
        self.say(f"  The books of all sides {agree}.")

    def places(self, site: str, password: str, key: IssuedKey, release: str) -> None:
        """Where to begin, who signs in with which password, and three lines for a script."""
        path = Path(settings.DATA_DIR, release)
        self.say(f"\n[bold]The release[/bold]\n  {path}")
        self.say(f"  .venv/bin/python manage.py release verify {path}")
        self.say("\n[bold]Point a script of your own here[/bold]\n  import boto3")
        client = (
            f'  mturk = boto3.client("mturk", endpoint_url="{site}/mturk/api", region_name="us-east-1", '
            f'aws_access_key_id="{key.access_key}", aws_secret_access_key="{key.secret}")'
        )
        self._console.print(client, soft_wrap=True, markup=False)
        self.say("  print(mturk.get_account_balance())")
        self.sign_ins(site, password)
        link = StudyLink.objects.get(project__slug="anywhere")
        page = reverse("people:link", args=["anywhere", link.pk])
        self.say(f"  visitor       {address_of(link)}    no account is needed; {site}{page} shows who came")

    def sign_ins(self, site: str, password: str) -> None:
        """The addresses for people with an account."""
        project, lab = reverse("desk:project", args=["answers"]), Requester.objects.get()
        account = reverse("requester:overview", args=[lab.customer_id])
        self.say(f"\n[bold]Begin here[/bold]    password [bold]{password}[/bold], a new one the first time")
        self.say(f"  researcher    {site}{project}    log in as [bold]{ADMIN}[/bold]; {GUEST} may look")
        self.say(f"  requester     {site}{account}    the lab that pays, of [bold]{ADMIN}[/bold] too")
        self.say(f"  worker        {site}/    log in as [bold]{WORKERS[0]}[/bold] or {WORKERS[1]}")
