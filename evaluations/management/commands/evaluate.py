"""`manage.py evaluate`: which metrics agree with people, on a release or any table of scored answers."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any, TextIO, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import bar, natural, pairs
from core.files.atomic import FileWriteError, text_of, write_together
from evaluations import commandline
from evaluations.choices import choose
from evaluations.errors import EvaluationError
from evaluations.report.answer import summary
from evaluations.report.page import page_of
from evaluations.table_evaluation import SWEEP, TIMES, Options, files_of, points_of, run_evaluation
from evaluations.table_sources import opened
from metrics.errors import MetricError
from metrics.metaeval.breakdown import MOST, Sweep, sweep_of

FILES = ("report.json", "report.html", "scores.csv", "table.tex")
_MOST_DRAWS = 1_000_000
#: The protocol behind --leave-one-system-out.
LEFT_OUT = "adem-table5"


class Command(BaseCommand):
    """Parses, evaluates, writes, prints."""

    help = (
        "Find out which metrics agree with people: correlations, tests, ceilings and plots for a release or "
        "any table of answers with human scores (docs/evaluate.md)."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """RELEASE or FILE, the metrics, and how to evaluate."""
        parser.add_argument(
            "source",
            metavar="RELEASE|FILE",
            help="CSV, TSV, JSONL or JSON with question, answer, reference1, scores …; the folder of a "
            "release; PROJECT or PROJECT/VERSION",
        )
        commandline.add_metrics(parser)
        commandline.add_models(parser)
        commandline.add_table(parser)
        parser.add_argument(
            "--report",
            type=Path,
            metavar="DIR",
            help=f"folder for {', '.join(FILES)} (default: NAME-evaluation in the current folder)",
        )
        parser.add_argument(
            "--scale", type=commandline.scale, help="lowest and highest human score: 1-5 (default: as found)"
        )
        parser.add_argument(
            "--score",
            default="",
            metavar="NAME",
            help="the human score: a column of the file, the column of PAIRS that says who won, or a field "
            "of a questionnaire in the release: scale, slider, number, yesno, ordered choice, better of two",
        )
        parser.add_argument(
            "--pairs",
            type=Path,
            metavar="PAIRS",
            help="judged pairs of the file's answers (item, left, right, winner), as `preferences` reads "
            "them: does a metric prefer whom people prefer?",
        )
        parser.add_argument(
            "--external",
            type=commandline.names,
            default=(),
            metavar="COLUMN[,COLUMN]",
            help="columns with scores of other tools, each one more metric",
        )
        parser.add_argument(
            "--lower-better",
            type=commandline.names,
            default=(),
            metavar="COLUMN[,COLUMN]",
            help="of these, the ones whose lower values are better, such as ter",
        )
        parser.add_argument(
            "--stage", default="", help="of a release whose answers were judged in several stages"
        )
        parser.add_argument(
            "--response-filter",
            metavar="NAME",
            help="the filter that has removed single ratings from a file for being far from the others, or "
            "none; ceilings are never taken from what it left",
        )
        parser.add_argument(
            "--statistics",
            type=commandline.names,
            default=(),
            metavar="A,B",
            help="of pearson, spearman, kendall (default: all)",
        )
        parser.add_argument(
            "--protocols",
            type=commandline.names,
            default=(),
            metavar="A,B",
            help="the papers' own protocols, such as kpqa-table7; docs/meta-evaluation.md lists them",
        )
        parser.add_argument(
            "--gap",
            type=commandline.positive,
            metavar="X",
            help="human scores that far apart differ clearly, for rank_match (default: half of the scale)",
        )
        parser.add_argument(
            "--sweep",
            type=_sweep,
            action="append",
            default=[],
            metavar="alpha=FROM:TO:STEP",
            help="score adapted metrics with each of these weights (alpha of opinions, beta of entities) and "
            "draw their correlation with people, overall and by question type (Yang et al. 2018, Figures 1 "
            "and 2); also beta=0,0.5,1; repeat for the other weight",
        )
        parser.add_argument(
            "--leave-one-system-out",
            action="store_true",
            help="correlations without each system and over its answers alone, with intervals (Lowe et al. "
            "2017, Table 5); the same as --protocols adem-table5",
        )
        parser.add_argument(
            "--paired-bootstrap",
            action="store_true",
            help="compare metrics by Koehn's paired bootstrap as well (2004; Yang et al. 2018)",
        )
        parser.add_argument(
            "--reference-curve",
            type=natural,
            nargs="?",
            const=TIMES,
            default=0,
            metavar="SAMPLES",
            help="correlation by the number of references per question, some of them left out at random that "
            f"often (default: {TIMES} samples), and what it means for the next data set",
        )
        parser.add_argument(
            "--differences",
            type=commandline.names,
            default=(),
            metavar="A,B",
            help=f"metrics whose {MOST} largest differences in rank from people are listed, answer by answer",
        )
        parser.add_argument("--seed", type=natural, default=0, help="random seed (default: 0)")
        parser.add_argument(
            "--replicates",
            type=natural,
            default=1000,
            help="of the bootstrap behind intervals; 0 leaves them out (default: 1000)",
        )
        parser.add_argument(
            "--draws",
            type=natural,
            default=9999,
            help="of each permutation test (default: 9999)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate; what cannot be read ends it with status 1 and writes nothing."""

        for name in ("replicates", "draws", "reference_curve"):
            if options[name] > _MOST_DRAWS:
                raise CommandError(f"--{name.replace('_', '-')} is at most {_MOST_DRAWS:,}.")
        try:
            with commandline.interruptible():
                self._evaluate(options)
        except (EvaluationError, MetricError) as error:
            raise CommandError(str(error)) from error

    def _evaluate(self, options: dict[str, Any]) -> None:
        folder = _folder(options)
        with opened(
            options["source"],
            columns=pairs("--column", options["column"], "FIELD=COLUMN"),
            encoding=options["encoding"],
            sheet=options["sheet"],
            header_row=options["header_row"],
            quotes=not options["no_quotes"],
            external=options["external"],
            lower_better=options["lower_better"],
            scale=options["scale"],
            stage=options["stage"],
            scored=True,
            response_filter=options["response_filter"],
            pairs=options["pairs"],
            score=options["score"],
        ) as table:
            choice = choose(
                table,
                metrics=options["metrics"],
                profile=options["profile"],
                tokeniser=options["tokeniser"],
                models=commandline.models_of(options),
            )
            evaluation_options = Options(
                seed=options["seed"],
                replicates=options["replicates"],
                draws=options["draws"],
                statistics=options["statistics"],
                protocols=_protocols(options),
                sweeps=tuple(options["sweep"]),
                gap=options["gap"],
                paired_bootstrap=options["paired_bootstrap"],
                processes=options["processes"],
                reference_samples=options["reference_curve"],
                differences=options["differences"],
                version=settings.DISTILLERY_VERSION,
            )
            with bar() as progress:
                done = run_evaluation(table, choice, evaluation_options, progress=progress)
                page = page_of(done.report, points_of(done, options["seed"]))
                files = {**files_of(table, done), "report.html": text_of(page)}
                with commandline.output_folder(folder):
                    try:
                        write_together({folder / name: write for name, write in files.items()})
                    except FileWriteError as error:
                        raise CommandError(str(error)) from error
        summary(done.report, cast("TextIO", self.stdout._out))
        self.stdout.write(f"Written to {folder}: {', '.join(files)}")


def _protocols(options: dict[str, Any]) -> tuple[str, ...]:
    """The protocols that are wanted, each once."""
    more = (LEFT_OUT,) if options["leave_one_system_out"] else ()
    return tuple(dict.fromkeys((*options["protocols"], *more)))


def _sweep(text: str) -> Sweep:
    """A sweep as it is written on the command line."""
    try:
        return sweep_of(text)
    except MetricError as error:
        raise ArgumentTypeError(str(error)) from error


def _folder(options: dict[str, Any]) -> Path:
    """Where the report goes."""
    folder: Path | None = options["report"]
    if folder is None:
        name = options["source"].rstrip("/").replace("@", "/").split("/")
        stem = name[-1]
        for suffix in (".gz", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt"):
            stem = stem.removesuffix(suffix)
        if not Path(options["source"]).exists():
            stem = "-".join(name)
        folder = Path(f"{stem or 'answers'}-evaluation")
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--report {folder} is a file. Give the name of a folder.")
    source = Path(options["source"]).resolve()
    if source in {(folder / name).resolve() for name in (*FILES, SWEEP)}:
        raise CommandError(f"--report {folder} would overwrite {options['source']}. Give another folder.")
    return folder
