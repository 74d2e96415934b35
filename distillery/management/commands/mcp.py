"""`manage.py mcp`: the tools for coding agents, as an MCP server on standard input and output."""

from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.api.tokens import read_token
from distillery import env


class Command(BaseCommand):
    """Reads the token, then serves until the input ends; only the protocol is written to the output."""

    help = (
        "Serve tools for coding agents over MCP on standard input and output (docs/skill.md), with the "
        "rights of an API token. The variable DISTILLERY_TOKEN or a file has the token."
    )
    requires_system_checks: list[str] = []  # an agent waits for the start; `up` and `doctor` have them

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where the token is, and which files may be read; the token itself would be seen by others."""
        parser.add_argument(
            "--token-file", type=Path, metavar="FILE", help="has the token, instead of DISTILLERY_TOKEN"
        )
        parser.add_argument(
            "--files",
            type=Path,
            default=Path(),
            metavar="FOLDER",
            help="tables are read from it and what is inside it (default: the folder of the start)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve; CommandError where the package or a token that works is missing."""
        try:
            from distillery.agents.server import make_server
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("mcp"):
                raise
            raise CommandError(
                "The package mcp is missing, or too old. Install it with: pip install '.[mcp]'"
            ) from error
        server = make_server(_read_token(options["token_file"]), options["files"])
        with suppress(KeyboardInterrupt):
            server.run("stdio")


def _read_token(file: Path | None) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip() if file else env.text("DISTILLERY_TOKEN").strip()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    if not token:
        raise CommandError(
            "There is no token. Set DISTILLERY_TOKEN, or name a file with --token-file. One is made in your "
            "settings, or with: manage.py api-token create USER --scope read,collect"
        )
    if read_token(token) is None:
        raise CommandError("There is no such token, or it has ended. Make another one in your settings.")
    return token
