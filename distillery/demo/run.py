"""The demonstration from beginning to end, from its file or made before one's eyes; its server."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.template.loader import render_to_string
from rich.console import Console

from crowd.models import Assignment
from crowd.simulation.panel import running_panel
from distillery.demo.archive import PANEL, SUMMARY, begin_again
from distillery.demo.lab import ADMIN, GUEST, WORKERS, make_people
from distillery.demo.tour import tell_progress
from distillery.empty_database import load_schema
from distillery.management.commands.up import migrate_waiting, one_at_a_time
from distillery.server_process import choose_port, run_server, wait_until_healthy
from marketplace.models import Requester
from people.links import address_of
from people.models import StudyLink

PANEL_CENTS = 100_00
#: A demonstration has no requests to finish: after this time the server is told again, and ends at once.
STOP_SECONDS = 0.5


class Screen:
    """Says what is done on the terminal and, while something is still coming, on the pages of the desk."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def say(self, text: str = "") -> None:
        """Lines, with marks for bold and colours."""
        self._console.print(text, soft_wrap=True)

    def done(self, sentence: str) -> None:
        """Something is finished."""
        self.say(f"[green]✓[/green] {sentence}")

    @contextlib.contextmanager
    def step(self, number: int, steps: int, title: str, *, waits: bool) -> Iterator[None]:
        """A step of the campaigns; `waits` where it shows nothing of its own until it is done."""
        tell_progress(number, steps, title)
        work = Assignment.objects.exclude(state=Assignment.State.WORKING)
        before = work.count()
        with self._console.status(title) if waits else contextlib.nullcontext():
            yield
        if assignments := work.count() - before:
            title += f": {assignments} assignment{'s' * (assignments > 1)} by simulated people"
        self.done(title)

    def tell(self, part: str, password: str, **facts: Any) -> None:
        """A text of `templates/demo`: what there is to see, and where it is."""
        names = {"admin": ADMIN, "guest": GUEST, "workers": WORKERS, "lab": Requester.objects.get()}
        places = {"site": settings.TASK_URL, "folder": settings.DATA_DIR, "password": password}
        self.say(render_to_string(f"demo/{part}.txt", {**names, **places, **facts}).rstrip())


def demonstrate(*, wanted_port: int, live: bool, stay: bool, started: float) -> None:
    """Set it up, show it, and serve it until Ctrl-C (or, without `stay`, end there)."""
    port = choose_port(wanted_port)
    settings.TASK_URL = site = f"http://localhost:{port}"  # which was not known when the settings were read
    screen = Screen()
    if port != wanted_port:
        screen.say(f"[yellow]![/yellow] Port {wanted_port} is taken; using {port}")
    with contextlib.ExitStack() as opened:
        with one_at_a_time():  # the server loads its modules meanwhile, and waits
            server = opened.enter_context(run_server(site, port, stop_seconds=STOP_SECONDS))
            # The panel ends with the demonstration: who goes on with its study finds it as long as this runs.
            panel = opened.enter_context(running_panel(settings.DATA_DIR / PANEL, balance=PANEL_CENTS))
            load_schema()
            migrate_waiting()  # the schema's file, or the demonstration's, may be older than a migration
            if live:
                password, key = make_people()
            else:
                summary, password, key = begin_again(site, panel)
            connections.close_all()
        wait_until_healthy(port, server)
        screen.done(f"The server answers on {site} after {time.time() - started:.0f} s")
        if live:
            from distillery.demo.books import summarise  # noqa: PLC0415  # what the file does not need
            from distillery.demo.campaigns import Scene, make_all  # noqa: PLC0415  # the same

            screen.tell("sign-ins", password)
            screen.say("\nThe campaigns are made now, and can be watched on the desk.")
            make_all(Scene(site, key, panel, screen.step, User.objects.get(username=ADMIN)))
            summary = summarise(site=site, panel=panel, seconds=time.time() - started)
            (settings.DATA_DIR / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
            connections.close_all()
        link = StudyLink.objects.get(project__slug="anywhere")
        screen.tell("places", password, summary=summary, key=key, link=link, address=address_of(link))
        if stay:
            screen.say("\nThe server runs until you press Ctrl-C.")
            server.wait()
