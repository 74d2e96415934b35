"""What commands of all apps read and show alike: users, NAME=VALUE, numbers, files to write, progress."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.extensions import name_package
from core.progress import Progress, silent

if TYPE_CHECKING:
    from argparse import _ActionsContainer

_MOST_DIGITS = 18


class AbsentCommand(BaseCommand):
    """A command of a package of `distributions/`, where it is not installed: takes any options and names it.

    The app of an installed package comes first in INSTALLED_APPS, and Django takes the command that it has.
    """

    folder = ""
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Its help names the package."""
        self.help = name_package(self.folder)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def run_from_argv(self, argv: list[str]) -> None:
        """Without the options, which belong to the command of the package."""
        super().run_from_argv([*argv[:2], *(["--help"] if {"-h", "--help"} & {*argv[2:]} else [])])

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what to install."""
        raise CommandError(name_package(self.folder))


def user_named(name: str | None) -> Any:
    """The user of this name, None where none is named; CommandError for one that there is not."""
    if name is None:
        return None
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user named {name!r}.")
    return user


def pair(option: str, text: str, form: str = "NAME=VALUE") -> tuple[str, str]:
    """Both sides of an equals sign; CommandError says which form the option wants."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise CommandError(f"{option} {text!r} is not of the form {form}.")
    return name.strip(), value.strip()


def pairs(option: str, texts: Sequence[str], form: str = "NAME=VALUE") -> dict[str, str]:
    """The values of an option that is repeated, by name; CommandError also for a name that comes twice."""
    values: dict[str, str] = {}
    for text in texts:
        name, value = pair(option, text, form)
        if name in values:
            raise CommandError(f"{option} names {name} twice.")
        values[name] = value
    return values


def natural(text: str) -> int:
    """A whole number from 0, for argparse."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


def add_header_row(parser: "_ActionsContainer") -> None:
    """--header-row, for a table below a title."""
    parser.add_argument(
        "--header-row", type=natural, default=0, metavar="N", help="which line or row names the columns"
    )


def add_header(parser: ArgumentParser) -> None:
    """--header, --no-header, --header-row, of which one is taken."""
    header = parser.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first line names columns")
    header.add_argument("--no-header", dest="header", action="store_false", help="it is data already")
    add_header_row(header)


def outputs(options: dict[str, Any], names: Sequence[str], *, source: Path, what: str) -> dict[str, Path]:
    """The files to write, by option: different from each other and the source, in folders that are there.

    `what` is the source in words; CommandError names the option that cannot be followed, and the remedy.
    """
    paths = {name: Path(options[name]) for name in names if options[name]}
    seen = {source.resolve(): what}
    for name, path in paths.items():
        if path.resolve() in seen:
            raise CommandError(f"--{name} {path} would overwrite {seen[path.resolve()]}. Give another name.")
        if path.is_dir():
            raise CommandError(f"--{name} {path} is a folder. Give the name of a file.")
        if not path.parent.is_dir():
            raise CommandError(f"--{name} {path}: there is no folder {path.parent}.")
        seen[path.resolve()] = f"--{name}"
    return paths


# What commands show on a terminal.


def plain(text: str) -> str:
    """A text of strangers without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)

        def show(done: int, total: int, note: str) -> None:
            bars.update(task, description=note, completed=done, total=total or None)

        yield show
