"""`manage.py demo`: campaigns to look at, made from nothing."""

import contextlib
import logging
import signal
from types import FrameType

from django.core.management.base import BaseCommand

from distillery import env
from distillery.demo import tour
from distillery.demo.run import demonstrate


class Command(BaseCommand):
    """Set up and serve the demonstration."""

    help = (
        "Set up a demonstration in the data folder's `demo`, from nothing on every run: a database, people "
        "whose password is printed, ten HITs posted by boto3, a finished campaign with a release, one in the "
        "middle of its work, one over a study link, a simulated panel and this marketplace, and the server, "
        "until Ctrl-C. "
        "SERVE=0 stops when that is done; PORT chooses the port."
    )
    requires_system_checks = []

    def handle(self, *_args: object, **_options: object) -> None:
        """Enter the demonstration's own folder, then run there."""
        started = tour.started_at()
        if started is None:
            tour.enter()
            return
        # What it does is printed line by line; its own sign-ins and roles are no news.
        logging.getLogger("distillery.security").setLevel(logging.WARNING)
        port, stay = env.integer("PORT", 8000, least=1), env.flag("SERVE", True)
        signal.signal(signal.SIGTERM, _stop)
        with contextlib.suppress(KeyboardInterrupt):
            demonstrate(wanted_port=port, stay=stay, started=started)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
