"""`manage.py filter`: the filters and the honest report on any table of ratings, without a project."""

import gc
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import outputs, pairs
from core.files.atomic import FileWriteError, json_of, text_of, write_together
from core.files.refusals import FileRefusedError
from judgments.rating_source import COLUMNS
from judgments.rating_table import read_ratings
from judgments.report import LISTS, csv_of, page_of, summary
from judgments.table_command import (
    add_table_arguments,
    bootstrap_options,
    reading_options,
    refuse_many_replicates,
    version,
)
from metrics.agreement.filters import run
from metrics.agreement.recipes import MOST_FOR_Z, RecipeError, Z, named, with_parameters
from metrics.agreement.report import report
from metrics.agreement.scale import Scale

_NUMBER = r"-?[0-9]{1,5}(?:\.[0-9]{1,6})?"
_SCALE = re.compile(rf"({_NUMBER})(?:-|\.\.|:)({_NUMBER})(?::({_NUMBER}|any))?")
#: What a column says of ratings that a program gave.
_MARKED = frozenset({"true", "yes", "1", "t", "y"})


class Command(BaseCommand):
    """Parses, reads, runs, writes, prints."""

    help = (
        "Filter a table of ratings (columns item, worker, score) by a recipe and report honestly what that "
        "did to agreement (docs/quality.md)."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """RATINGS.csv, the recipe, and where the results go."""
        add_table_arguments(parser, metavar="RATINGS.csv", fields=COLUMNS)
        parser.add_argument("--recipe", default="default", help="default, kpqa-2021, adem-2017 or none")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="another value for a parameter of the recipe, such as kappa_below=0.3; repeat",
        )
        parser.add_argument(
            "--aspects",
            default="",
            metavar="COLUMN,COLUMN",
            help="columns that hold the scores of further aspects, whole numbers: the report has the "
            "agreement about each (those of a release's table are found)",
        )
        parser.add_argument(
            "--stage", default="", help="which stage's ratings, where the file is a release's and has several"
        )
        parser.add_argument(
            "--scale",
            type=_scale,
            metavar="LOW-HIGH|LOW:HIGH:STEP",
            help="lowest and highest score, and how far scores are apart: 1-5, 1:5:0.5, 0:100:1, 0:100:any "
            "(default: that of a release's manifest, else 1-5)",
        )
        parser.add_argument("--kept", type=Path, help="write the kept ratings there, as CSV")
        parser.add_argument("--html", type=Path, help="write the report there, as one page")

    def handle(self, *args: Any, **options: Any) -> None:
        """Filter and report; what cannot be read ends it with status 1 and writes nothing."""
        collecting = gc.isenabled()
        gc.disable()  # a million rows are no garbage, but would be looked through again and again
        try:
            self._filter(options)
        finally:
            if collecting:
                gc.enable()

    def _filter(self, options: dict[str, Any]) -> None:
        refuse_many_replicates(options)
        named_files = ("report", "kept", "html")
        paths = outputs(options, named_files, source=options["file"], what="the file of ratings")
        low, high, step = (*(options["scale"] or (1, 5)), 1)[:3]
        try:
            scale = Scale.of(low, high, step if step != "any" else Fraction(high) - Fraction(low))
            recipe = with_parameters(named(options["recipe"]), pairs("--set", options["set"]))
            table = read_ratings(
                options["file"],
                columns=pairs("--column", options["column"]),
                scale=scale if options["scale"] else None,
                continuous=step == "any",
                **reading_options(options),
                stage=options["stage"],
                aspects=[name.strip() for name in options["aspects"].split(",") if name.strip()],
            )
        except (RecipeError, FileRefusedError) as error:
            raise CommandError(str(error)) from error
        except ValueError as error:
            raise CommandError(f"--scale: {error}.") from error
        if recipe.has(Z) and table.ratings.scale.size > MOST_FOR_Z:
            raise CommandError(
                f"The response filter z takes scales of at most {MOST_FOR_Z} scores, and this one has "
                f"{table.ratings.scale.size:,}. Round the scores, and say so: --scale LOW:HIGH:STEP."
            )
        done = run(table.ratings, recipe, checks=table.checks, seconds=table.seconds)
        facts = report(
            table.ratings,
            done,
            checks=table.checks,
            seconds=table.seconds,
            groups=table.groups,
            aspects=table.aspects,
            **bootstrap_options(options),
            version=version(),
        )
        facts["warnings"] = [*_simulated(table), *table.notes, *facts["warnings"]]
        facts = {
            "file": options["file"].name,
            "read_as": table.source.reading(table.counts).as_json(),
            "counts": table.counts.as_json(),
            "n_checks": table.n_checks,
            **facts,
        }
        try:
            write_together(_files(paths, facts, table, done))
        except FileWriteError as error:
            raise CommandError(str(error)) from error
        summary(facts, cast("TextIO", self.stdout._out), file=options["file"].name)
        for path in paths.values():
            self.stdout.write(f"Written: {path}")


def _simulated(table: Any) -> list[str]:
    """A warning where programs gave ratings in place of people, as the table says."""
    if (marks := table.groups.get("simulated")) is None:
        return []
    counts = Counter(marks.codes.tolist())
    total = sum(counts.values())
    marked = sum(counts[code] for code, name in enumerate(marks.names) if name.casefold() in _MARKED)
    if not marked:
        return []
    return [
        f"SIMULATED DATA: programs gave {marked:,} of {total:,} ratings in place of people. "
        "These figures say nothing about people; do not use them as evidence."
    ]


def _files(paths: dict[str, Path], facts: dict[str, Any], table: Any, done: Any) -> dict[Path, Any]:
    makers = {
        "report": lambda: json_of(facts, lists=LISTS),
        "kept": lambda: csv_of(table, done),
        "html": lambda: text_of(page_of(facts)),
    }
    return {path: makers[name]() for name, path in paths.items()}


def _scale(text: str) -> tuple[str, str, str]:
    """The ends and the step as they are written."""
    match = _SCALE.fullmatch(text.strip())
    if not match:
        raise ArgumentTypeError(f"{text!r} is no scale; write it as 1-5, 1:5:0.5 or 0:100:any")
    return match[1], match[2], match[3] or "1"
