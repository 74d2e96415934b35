"""The demonstration from beginning to end: from its file, or made before one's eyes."""

import contextlib
import json
import time

from django.conf import settings
from django.db import connections

from crowd.simulation.panel import running_panel
from crowd.simulation.prolific_state import Options
from distillery.demo.archive import PANEL, SUMMARY, begin_again
from distillery.demo.place import choose_port, run_server, wait_until_healthy
from distillery.demo.screen import Screen
from distillery.empty_database import load_schema
from distillery.management.commands.up import one_at_a_time

PANEL_MONEY = Options(balance=100_00, wallet_seconds=0.0)


def demonstrate(*, wanted_port: int, live: bool, stay: bool, started: float) -> None:
    """Set it up, show it, and serve it until Ctrl-C (or, without `stay`, end there)."""
    port = choose_port(wanted_port)
    settings.TASK_URL = site = f"http://localhost:{port}"  # which was not known when the settings were read
    screen = Screen(site)
    if port != wanted_port:
        screen.say(f"[yellow]![/yellow] Port {wanted_port} is taken; using {port}")
    with contextlib.ExitStack() as opened:
        with one_at_a_time():  # the server loads its modules meanwhile, and waits
            server = opened.enter_context(run_server(site, port))
            # The panel ends with the demonstration: who goes on with its study finds it as long as this runs.
            panel = opened.enter_context(running_panel(settings.DATA_DIR / PANEL, PANEL_MONEY))
            if live:
                from distillery.demo.lab import make_people  # noqa: PLC0415  # what the file does not need

                load_schema()
                password, key = make_people()
            else:
                summary, password, key = begin_again(site, panel)
            connections.close_all()
        wait_until_healthy(port, server)
        screen.done(f"The server answers on {site} after {time.time() - started:.0f} s")
        if live:
            from distillery.demo.books import summarise  # noqa: PLC0415  # the same
            from distillery.demo.campaigns import Scene, make_all  # noqa: PLC0415  # the same

            screen.show_sign_ins(password)
            screen.say("\nThe campaigns are made now, and can be watched on the desk.")
            make_all(Scene(site, key, panel, screen))
            summary = summarise(site=site, panel=panel, seconds=time.time() - started)
            (settings.DATA_DIR / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
            connections.close_all()
        screen.show_all(summary, password, key)
        if stay:
            screen.say("\nThe server runs until you press Ctrl-C.")
            server.wait()
