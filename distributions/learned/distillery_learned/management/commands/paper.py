"""`manage.py paper`: the evaluation section of one of five papers on your data."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import natural, pairs
from core.files.atomic import FileWriteError, write_together
from distillery_learned.papers.report import (
    FILES,
    MODULES,
    PaperData,
    PaperModels,
    PaperReport,
    PaperSettings,
    PaperSource,
    build_report,
    describe_papers,
    paper_named,
    papers,
    report_files,
    sample_sources,
)
from evaluations import commandline
from evaluations.errors import EvaluationError
from metrics.errors import MetricError

_NUMBERS = ", ".join(MODULES)


class Command(BaseCommand):
    """Parses, builds, writes, prints."""

    help = (
        "Run the evaluation section of one of five papers on your data or a release: each of its tables and "
        "figures beside the printed one (docs/papers.md)."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The paper, its data, models, and where the report goes."""
        parser.add_argument("paper", nargs="?", choices=list(MODULES), metavar="PAPER", help=_NUMBERS)
        parser.add_argument(
            "--data",
            action="append",
            default=[],
            metavar="[NAME=]SOURCE",
            help="a file, a folder, or PROJECT/VERSION of a release; repeat for several data sets",
        )
        parser.add_argument("--sample", action="store_true", help="take the sample that ships with us")
        parser.add_argument("--list", action="store_true", help="say which data each paper needs")
        parser.add_argument(
            "--report",
            type=Path,
            metavar="DIR",
            help=f"folder for {', '.join(FILES)} (default: paper-PAPER in the current folder)",
        )
        parser.add_argument("--json", action="store_true", help="print the same JSON")
        commandline.add_table(parser)
        commandline.add_models(parser)
        for name, corpus in (("marco", "MS-MARCO"), ("question", "questions")):
            parser.add_argument(
                f"--model-without-{name}",
                action="append",
                default=[],
                metavar="FOLDER|NAME",
                help=f"of 002: a KPQA model trained without {corpus}; repeat for several trainings",
            )
        parser.add_argument("--seed", type=natural, default=0, help="random seed (default: 0)")
        parser.add_argument("--replicates", type=natural, default=1000, help="of intervals (default: 1000)")
        parser.add_argument("--draws", type=natural, default=9999, help="of tests (default: 9999)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Build the report; what cannot be read ends it with status 1 and writes nothing."""
        try:
            with commandline.interruptible():
                if options["list"]:
                    self._list(options)
                else:
                    self._report(options)
        except (EvaluationError, MetricError) as error:
            raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        selected = [paper_named(options["paper"])] if options["paper"] else papers()
        descriptions = describe_papers(selected)
        if options["json"]:
            self.stdout.write(json.dumps(descriptions, indent=2, ensure_ascii=False))
            return
        for each in descriptions:
            self.stdout.write(f"{each['paper']}  {each['title']} ({each['items']} tables and figures)")
            self.stdout.write(f"     {each['needs']}")

    def _report(self, options: dict[str, Any]) -> None:
        if options["paper"] is None:
            raise CommandError(f"Name a paper: {', '.join(MODULES)}; --list says which data each needs.")
        if options["sample"] == bool(options["data"]):
            raise CommandError("Give either --data SOURCE or --sample.")
        paper = paper_named(options["paper"])
        data = PaperData(
            sources=sample_sources(paper) if options["sample"] else _sources(options["data"]),
            models=PaperModels(
                models=tuple(options["model"]),
                without_marco=tuple(options["model_without_marco"]),
                without_question=tuple(options["model_without_question"]),
                encoder=options["encoder"],
                layer=options["layer"],
                idf=options["idf"],
                download=options["download"],
            ),
            columns=pairs("--column", options["column"], "FIELD=COLUMN"),
            encoding=options["encoding"],
            sheet=options["sheet"],
            header_row=options["header_row"],
            quotes=not options["no_quotes"],
            sample=options["sample"],
        )
        how = PaperSettings(
            seed=options["seed"],
            replicates=options["replicates"],
            draws=options["draws"],
            version=settings.DISTILLERY_VERSION,
        )
        folder = options["report"] or Path(f"paper-{paper.number}")
        if folder.exists() and not folder.is_dir():
            raise CommandError(f"--report {folder} is a file. Give the name of a folder.")
        report = build_report(paper, data, how)
        files = report_files(report)
        with commandline.output_folder(folder):
            try:
                write_together({folder / name: files[name] for name in FILES})
            except FileWriteError as error:
                raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write((folder / "report.json").read_text(encoding="utf-8"))
        else:
            self._print(report, folder)

    def _print(self, report: PaperReport, folder: Path) -> None:
        """A line for each table and figure."""
        self.stdout.write(f"Paper {report.paper}: {report.title}")
        for item in report.items:
            self.stdout.write(f"  {item.name}: {item.status}; {item.differs or item.reason}")
        self.stdout.write(f"Written to {folder}: {', '.join(FILES)}")


def _sources(texts: list[str]) -> tuple[PaperSource, ...]:
    """Each `--data`, with the name before the sign, or that of the file."""
    sources: list[PaperSource] = []
    for each in texts:
        name, sign, rest = each.partition("=")
        if not sign or Path(each).exists():
            name, rest = Path(each).resolve().name.split(".")[0], each
        if not name or not rest:
            raise CommandError(f"--data {each}: write it as NAME=SOURCE or SOURCE.")
        if any(source.name == name for source in sources):
            raise CommandError(f"--data {each}: there is another data set {name}. Write NAME=SOURCE.")
        sources.append(PaperSource(name, rest))
    return tuple(sources)
