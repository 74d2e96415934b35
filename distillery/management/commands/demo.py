"""`manage.py demo`: campaigns to look at."""

import contextlib
import logging
import os
import signal
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.extensions import name_package
from distillery import env
from distillery.demo import place, tour


class Command(BaseCommand):
    """Set up and serve the demonstration."""

    help = (
        "Serve a demonstration until Ctrl-C. Every run starts the data folder's `demo` again: people whose "
        "password is printed, HITs posted by boto3, a finished campaign with a release and its evaluation, "
        "one in the middle of its work, and one over a study link, a simulated panel and this marketplace. "
        "It comes from a file; LIVE=1 and any DATABASE_URL run the campaigns before your eyes. SERVE=0 stops "
        "when all is there; PORT chooses the port."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How developers make the file again."""
        parser.add_argument(
            "--write", action="store_true", help="run the campaigns and keep them as the file"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Enter the demonstration's own folder, then run there."""
        if not apps.is_installed("distillery_panel_simulator"):
            raise CommandError(name_package("panel-simulator"))
        live = options["write"] or env.flag("LIVE") or "DATABASE_URL" in os.environ
        started = os.environ.get(tour.STARTED)
        if not started:
            place.enter(live=live)
            return
        # The first process needs none of it.
        from distillery.demo.archive import write_file  # noqa: PLC0415
        from distillery.demo.run import demonstrate  # noqa: PLC0415

        # What it does is printed line by line; its own sign-ins and roles are no news.
        logging.getLogger("distillery.security").setLevel(logging.WARNING)
        port, stay = env.integer("PORT", 8000, least=1), env.flag("SERVE", True) and not options["write"]
        signal.signal(signal.SIGTERM, _stop)
        with contextlib.suppress(KeyboardInterrupt):
            demonstrate(wanted_port=port, live=live, stay=stay, started=float(started))
            if options["write"]:
                write_file(settings.DATA_DIR)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
