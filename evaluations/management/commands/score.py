"""`manage.py score`: answers under metrics, from any table."""

import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import IO, Any, TextIO, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import bar, outputs, pairs
from core.files.atomic import FileWriteError, json_of, write_together
from evaluations import commandline
from evaluations.choices import choose, scoring_processes
from evaluations.errors import EvaluationError
from evaluations.scores import Tally, facts_of, show, stream, write_csv, write_jsonl
from evaluations.table_sources import opened
from metrics.errors import MetricError

_SMALL = 1 << 22
_FORMATS = ("csv", "jsonl")


class Command(BaseCommand):
    """Parses, scores, writes, prints."""

    help = "Score answers against their references under metrics (docs/evaluate.md)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE, the metrics, and where the scores go."""
        parser.add_argument(
            "file",
            metavar="FILE",
            help="CSV, TSV, JSONL or JSON with answers and references, also gzipped; or a release",
        )
        commandline.add_metrics(parser)
        commandline.add_models(parser)
        commandline.add_table(parser)
        parser.add_argument("--out", type=Path, metavar="FILE", help="write the scores there, not to stdout")
        parser.add_argument("--format", choices=_FORMATS, help="of the scores (default: as --out ends; csv)")
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="write means, corpus scores and signatures there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Score; what cannot be read ends it with status 1 and writes nothing."""

        try:
            with commandline.interruptible():
                self._score(options)
        except (EvaluationError, MetricError) as error:
            raise CommandError(str(error)) from error

    def _score(self, options: dict[str, Any]) -> None:
        paths = outputs(options, ("out", "json"), source=Path(options["file"]), what="the file of answers")
        out = paths.get("out")
        form = options["format"] or ("jsonl" if out is not None and _is_jsonl(out) else "csv")
        write = {"csv": write_csv, "jsonl": write_jsonl}[form]
        with opened(
            options["file"],
            columns=pairs("--column", options["column"], "FIELD=COLUMN"),
            encoding=options["encoding"],
            sheet=options["sheet"],
            header_row=options["header_row"],
            quotes=not options["no_quotes"],
        ) as table:
            choice = choose(
                table,
                metrics=options["metrics"],
                profile=options["profile"],
                tokeniser=options["tokeniser"],
                models=commandline.models_of(options),
            )
            tally = Tally()
            processes = scoring_processes(options["processes"], choice, small=_is_small(options["file"]))
            with bar() as progress, tempfile.TemporaryFile() as buffer:
                parts = stream(
                    table,
                    choice.metrics,
                    tally,
                    processes=processes,
                    progress=lambda done: progress(done, 0, "Answers scored"),
                )
                write(buffer, parts)
                facts = facts_of(table, choice, tally, version=settings.DISTILLERY_VERSION)
                files: dict[Path, Any] = {}
                if out is not None:
                    files[out] = partial(_copy, buffer)
                if "json" in paths:
                    files[paths["json"]] = json_of(facts)
                try:
                    write_together(files)
                except FileWriteError as error:
                    raise CommandError(str(error)) from error
                if out is None:
                    self._print(buffer)
        show(facts, cast("TextIO", (self.stderr if out is None else self.stdout)._out))
        for path in files:
            (self.stderr if out is None else self.stdout).write(f"Written: {path}", style_func=str)

    def _print(self, buffer: IO[bytes]) -> None:
        buffer.seek(0)
        try:
            for line in buffer:
                self.stdout.write(line.decode("utf-8", "replace"), ending="")
            self.stdout.flush()
        except BrokenPipeError:  # whoever reads has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _copy(buffer: IO[bytes], file: IO[bytes]) -> None:
    buffer.seek(0)
    shutil.copyfileobj(buffer, file)


def _is_jsonl(path: Path) -> bool:
    return path.suffix.lower() in {".jsonl", ".ndjson", ".json"}


def _is_small(source: str) -> bool:
    """Scored before another process would have started."""
    path = Path(source)
    return path.is_file() and path.stat().st_size < _SMALL
