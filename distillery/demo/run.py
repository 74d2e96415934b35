"""The demonstration from beginning to end: from its file, or made before one's eyes."""

import contextlib
import json
import time

from django.conf import settings
from django.db import connections

from distillery.demo.archive import SUMMARY, begin_again
from distillery.demo.panel import simulated_panel
from distillery.demo.place import choose_port, run_server, wait_until_healthy
from distillery.demo.screen import Screen
from distillery.empty_database import load_schema
from distillery.management.commands.up import one_at_a_time


def demonstrate(*, wanted_port: int, live: bool, stay: bool, started: float) -> None:
    """Set it up, show it, and serve it until Ctrl-C (or, without `stay`, end there)."""
    screen, port = Screen(), choose_port(wanted_port)
    if port != wanted_port:
        screen.say(f"[yellow]![/yellow] Port {wanted_port} is taken; using {port}")
    settings.TASK_URL = site = f"http://localhost:{port}"  # which was not known when the settings were read
    with contextlib.ExitStack() as opened:
        with one_at_a_time():  # the server loads its modules meanwhile, and waits
            server = opened.enter_context(run_server(site, port))
            # The panel ends with the demonstration: who goes on with its study finds it as long as this runs.
            panel = opened.enter_context(simulated_panel(settings.DATA_DIR))
            if live:
                from distillery.demo import lab  # noqa: PLC0415  # what the file's demonstration does not need

                load_schema()
                people = lab.make_people()
                password, key = people.password, people.key
            else:
                summary, password, key = begin_again(site, panel)
            connections.close_all()
        wait_until_healthy(site, server)
        screen.done(f"The server answers on {site} after {time.time() - started:.0f} s")
        if live:
            from distillery.demo.books import summarise  # noqa: PLC0415  # the same
            from distillery.demo.campaigns import Scene, make_all  # noqa: PLC0415  # the same

            screen.sign_ins(site, password)
            screen.say("\nThe campaigns are made now, and can be watched on the desk.")
            make_all(Scene(people, site, panel, settings.DATA_DIR, screen))
            summary = summarise(site=site, panel=panel, seconds=time.time() - started)
            (settings.DATA_DIR / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
            connections.close_all()
        screen.figures(summary)
        screen.places(site, password, key, summary["release"]["path"])
        if stay:
            screen.say("\nThe server runs until you press Ctrl-C.")
            server.wait()
