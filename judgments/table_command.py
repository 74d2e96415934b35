"""What commands over a table of judgments share: options, reading, writing, what is printed."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TextIO, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import add_header_row, natural, outputs, pairs, plain
from core.files.atomic import FileWriteError, Write, json_of, write_together
from core.files.reading import reading_lines
from core.files.refusals import FileRefusedError

_MOST_REPLICATES = 100_000
_WIDTH = 100


class TableCommand(BaseCommand):
    """Reads a table, measures it, writes the report as JSON and prints it.

    A command has `fields`, which --column may name, `measure`, which makes the report, and `show`.
    """

    requires_system_checks = []
    fields: ClassVar[Sequence[str]]
    metavar: ClassVar[str]
    #: Options that name files to write, with what makes them of the report.
    writers: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], Write]]] = {"report": json_of}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, how it is read, what is drawn, and where the results go."""
        add_table_arguments(parser, metavar=self.metavar, fields=self.fields)
        if "html" in self.writers:
            parser.add_argument("--html", type=Path, help="write the report there, as one page")

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure and report; what cannot be read ends it with status 1 and writes nothing."""
        refuse_many_replicates(options)
        paths = outputs(options, tuple(self.writers), source=options["file"], what="the file")
        columns = pairs("--column", options["column"])
        try:
            facts = self.measure(options, columns)
        except FileRefusedError as error:
            raise CommandError(str(error)) from error
        facts = {"file": options["file"].name, **facts}
        try:
            write_together({path: self.writers[name](facts) for name, path in paths.items()})
        except FileWriteError as error:
            raise CommandError(str(error)) from error
        self._print(facts)
        for path in paths.values():
            self.stdout.write(f"Written: {path}")

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """The report, with `read_as` and `warnings`; FileRefusedError for a file that cannot be read."""
        raise NotImplementedError

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """What is printed of it: rich's tables, or sentences."""
        raise NotImplementedError

    def _print(self, facts: Mapping[str, Any]) -> None:
        from rich.console import Console  # not needed to parse arguments
        from rich.markup import escape

        out = cast("TextIO", self.stdout._out)
        console = Console(file=out, highlight=False, soft_wrap=False, width=None if out.isatty() else _WIDTH)
        console.print(f"[bold]{escape(plain(facts['file']))}[/bold]")
        for sentence in reading_lines(facts["read_as"]):
            console.print(escape(plain(sentence)), style="dim")
        console.print()
        for part in self.show(facts):
            console.print(escape(plain(part)) if isinstance(part, str) else part)
        for warning in facts["warnings"]:
            console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def add_table_arguments(parser: ArgumentParser, *, metavar: str, fields: Sequence[str]) -> None:
    """Add the options of every command that measures a table; --column may name `fields`."""
    parser.add_argument("file", type=Path, metavar=metavar, help="CSV, TSV, JSON or a workbook, also gzipped")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help=f"which column holds what ({', '.join(fields)}); repeat",
    )
    parser.add_argument("--encoding", default="", help="of the file (found out, and named)")
    parser.add_argument(
        "--sheet", default="", metavar="NAME", help="of a workbook (default: the first with data)"
    )
    add_header_row(parser)
    parser.add_argument("--seed", type=natural, default=0, help="of everything that is drawn by chance")
    parser.add_argument(
        "--replicates",
        type=natural,
        default=1000,
        help="of the bootstrap behind intervals; 0 leaves them out (default: 1000)",
    )
    parser.add_argument("--report", type=Path, help="write the whole report there, as JSON")


def refuse_many_replicates(options: Mapping[str, Any]) -> None:
    """CommandError where --replicates would take hours."""
    if options["replicates"] > _MOST_REPLICATES:
        raise CommandError(f"--replicates is at most {_MOST_REPLICATES:,}.")


def reading_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """How the file is to be read: encoding, sheet and row of the header."""
    return {name: options[name] for name in ("encoding", "sheet", "header_row")}


def bootstrap_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The number of replicates and the seed."""
    return {name: options[name] for name in ("replicates", "seed")}


def version() -> str:
    """What signatures end with."""
    return f"distillery {settings.DISTILLERY_VERSION}"


def sign(figure: str, resampled: str, options: Mapping[str, Any]) -> str:
    """The signature of a figure: what it is, what its bootstrap resamples and how often, and our version."""
    bootstrap = f"bootstrap={resampled},{options['replicates']}|seed={options['seed']}|"
    return f"{figure}|{bootstrap if options['replicates'] else ''}{version()}"


def draw_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Any:
    """A table for a terminal, whose first `left` columns are texts."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < left else "right")
    for row in rows:
        table.add_row(*(escape(plain(cell)) for cell in row))
    return table
