"""`manage.py panel-simulator`: a panel on this machine, to rehearse a study without an account."""

import logging
import signal
import sqlite3
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from distillery_panel_simulator.connect import ConnectSimulator
from distillery_panel_simulator.prolific_server import Simulator, serve
from distillery_panel_simulator.prolific_state import Options


class Command(BaseCommand):
    """Parses, serves until it is stopped."""

    help = (
        "Serve the contract of Prolific's API, or of Connect's, on this machine, with simulated participants "
        "and money, and a control surface that moves the clock (docs/prolific.md). Nothing leaves "
        "this machine but hooks, to the addresses that are subscribed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where, for whom, and with how much money."""
        parser.add_argument("--port", type=int, required=True, help="on 127.0.0.1; 0 takes a free one")
        parser.add_argument(
            "--contract",
            choices=["prolific", "connect"],
            default="prolific",
            help="whose contract; CloudResearch Connect's is from third parties (default: prolific)",
        )
        parser.add_argument(
            "--token",
            required=True,
            help="what calls carry: Authorization: Token TOKEN; at Connect X-API-KEY: TOKEN",
        )
        parser.add_argument(
            "--balance", type=int, metavar="CENTS", help="of a new account (default: 1000000)"
        )
        parser.add_argument("--currency", choices=["USD", "GBP"], help="of a new account (default: USD)")
        parser.add_argument("--fee", type=int, metavar="PERCENT", help="of a new account (default: 33)")
        parser.add_argument("--vat", type=int, metavar="PERCENT", help="on the fee (default: 20)")
        parser.add_argument("--seed", type=int, help="the same people and choices (default: 1)")
        parser.add_argument(
            "--state", type=Path, metavar="FILE", help="default: panel-simulator.sqlite3 in the data folder"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve; Ctrl-C or a signal ends it, and the next start goes on from the file."""
        kind = ConnectSimulator if options["contract"] == "connect" else Simulator
        name = "connect-simulator" if options["contract"] == "connect" else "panel-simulator"
        path = options["state"] or settings.DATA_DIR / f"{name}.sqlite3"
        token = options["token"].strip()
        if not token:
            raise CommandError("--token is empty.")
        simulator_options = _read_options(options)
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            simulator = kind(path, token, simulator_options)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise CommandError(f"The state cannot be kept in {path}: {error}") from error
        try:
            server = serve(simulator, options["port"])
        except (OSError, OverflowError) as error:
            simulator.close()
            raise CommandError(f"Port {options['port']} cannot be used: {error}") from error
        if kind is Simulator:
            simulator.start_deliveries()
        self.stdout.write(
            f"Panel simulator on {simulator.site}/api/v1/, control on {simulator.site}/_control/"
        )
        self.stdout.write(f"State: {path}")
        self.stdout.flush()
        signal.signal(signal.SIGTERM, _stop)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            server.server_close()
            simulator.close()


def _read_options(options: dict[str, Any]) -> Options:
    names = {
        "balance": "balance",
        "currency": "currency",
        "fee": "fee_percent",
        "vat": "vat_percent",
        "seed": "seed",
    }
    fields = {field: options[name] for name, field in names.items() if options[name] is not None}
    for name, least, most in (("balance", 0, 10**12), ("fee_percent", 0, 1_000), ("vat_percent", 0, 100)):
        if name in fields and not least <= fields[name] <= most:
            raise CommandError(f"--{name.removesuffix('_percent')} is a number from {least} to {most}.")
    return Options(**fields)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
