"""`manage.py train-adem`: a metric that learns from people's scores, and how well it agrees with them."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import natural, outputs, pairs
from evaluations import commandline
from evaluations.errors import EvaluationError

if TYPE_CHECKING:
    from distillery_learned.metrics.adem_examples import Settings
    from distillery_learned.training.study import Options, TrainingStudy, Work

METRICS = ("bleu-1", "bleu-2", "bleu-4", "rouge-l", "meteor")
#: The paper's n and rate, and others for vectors of other encoders: with many components .01 is too fast.
SIZES, RATES = (7, 20, 50, 150, 400), (0.01, 0.001)
FILES = ("report.json", "report.html")
_MOST = 1_000_000
_MOST_N = 10_000


class Command(BaseCommand):
    """Parses, trains, writes, prints."""

    help = (
        "Train ADEM on answers with human scores, and find out how well it agrees with people on others "
        "(docs/metrics.md)."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """RELEASE or FILE, the encoder, where the model goes, and how to train and test."""
        parser.add_argument(
            "source",
            nargs="+",
            metavar="RELEASE|FILE",
            help="as for evaluate: a table with question, answer, reference1, scores, system …; the folder "
            "of a release; PROJECT or PROJECT/VERSION; several one after another",
        )
        parser.add_argument(
            "--encoder",
            required=True,
            metavar="NAME|FOLDER|gru",
            help="folder or name of a sentence encoder, or gru: a small dialogue model trained first",
        )
        parser.add_argument("--out", type=Path, metavar="MODEL", help="folder of the trained model")
        parser.add_argument("--report", type=Path, metavar="DIR", help=f"folder for {' and '.join(FILES)}")
        parser.add_argument(
            "--folds",
            type=natural,
            default=0,
            metavar="K",
            help="cross-validate by question; --out then learns from all questions",
        )
        parser.add_argument(
            "--scores", type=Path, metavar="FILE", help="CSV with the scores out of fold of every row"
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write report.json there too")
        commandline.add_metrics(parser)
        commandline.add_table(parser)
        parser.add_argument(
            "--scale", type=commandline.scale, help="lowest and highest human score: 1-5 (default: as found)"
        )
        parser.add_argument(
            "--stage", default="", help="of a release whose answers were judged in several stages"
        )
        _add_training(parser)
        parser.add_argument("--seed", type=natural, default=0, help="random seed (default: 0)")
        parser.add_argument(
            "--replicates",
            type=natural,
            default=1000,
            help="of the bootstrap behind intervals (default: 1000)",
        )
        parser.add_argument(
            "--draws", type=natural, default=9999, help="of each permutation test (default: 9999)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Train and test; what cannot be done ends it with status 1 and writes nothing."""
        from metrics.errors import MetricError  # not needed to parse arguments

        _checked(options)
        try:
            with commandline.interruptible():
                self._train(options)
        except (EvaluationError, MetricError) as error:
            raise CommandError(str(error)) from error

    def _train(self, options: dict[str, Any]) -> None:
        from distillery_learned.training import require_packages

        require_packages("train-adem")
        from core.accounts.commandline import bar
        from distillery_learned.training.sources import measured, read
        from distillery_learned.training.study import Work, encoding, study
        from distillery_learned.training.summary import summary
        from evaluations.table_sources import opened

        began = time.monotonic()
        material = read(
            options["source"],
            partial(
                opened,
                columns=pairs("--column", options["column"], "FIELD=COLUMN"),
                encoding=options["encoding"],
                sheet=options["sheet"],
                header_row=options["header_row"],
                quotes=not options["no_quotes"],
                scale=options["scale"],
                stage=options["stage"],
                scored=True,
            ),
            which=options["which"],
        )
        with bar() as progress:
            beside = measured(
                material,
                options["metrics"] or METRICS,
                profile=options["profile"],
                tokeniser=options["tokeniser"],
                processes=options["processes"],
                progress=lambda done: progress(done, len(material), "answers scored"),
            )
            how = _settings(options, beside.scale)
            encode = encoding(
                material,
                options["encoder"],
                dialogues=options["dialogues"],
                device=options["device"],
                download=options["download"],
                seed=options["seed"],
                progress=progress,
            )
            work = Work(material, beside, encode, how, _options(options), progress)
            done = study(work)
            if options["out"] is not None:
                self._keep(work, done, options["out"], began)
        self._write(work, done, options)
        summary(done.report, cast("TextIO", self.stdout._out))
        for path in _written(options):
            self.stdout.write(f"Written: {path}")

    def _keep(self, work: "Work", done: "TrainingStudy", out: Path, began: float) -> None:
        """The model of the split, or of everything where folds have said what it is worth."""
        from distillery_learned.training.adem import save
        from distillery_learned.training.study import train_on_all
        from distillery_learned.training.summary import card_of, readme_of

        model, parts = train_on_all(work) if done.crossed else (done.split.model, done.split.parts)
        trained = model.trained
        card = card_of(done.report, work.material, parts, trained, time.monotonic() - began)
        model_folder = save(out, trained, card, readme=readme_of(out.name, card, trained))
        done.report["model"] = {
            "name": model_folder.name,
            "signature": model_folder.signature,
            "digest": model_folder.digest,
        }

    def _write(self, work: "Work", done: "TrainingStudy", options: dict[str, Any]) -> None:
        from core.files.atomic import FileWriteError, json_of, text_of, write_together
        from distillery_learned.training.page import page_of, points_of  # only for a report
        from distillery_learned.training.summary import parts_of
        from evaluations.scores import write_csv

        files: dict[Path, Any] = {}
        if options["report"] is not None:
            split = done.split
            points = points_of(split.answers, split.parts, split.trained, work.measured.scale)
            options["report"].mkdir(parents=True, exist_ok=True)
            files[options["report"] / FILES[0]] = json_of(done.report)
            files[options["report"] / FILES[1]] = text_of(page_of(done.report, points))
        if options["json"] is not None:
            files[options["json"]] = json_of(done.report)
        if options["scores"] is not None and done.crossed is not None:
            parts = parts_of(work.material, work.measured.answers, done.crossed)
            files[options["scores"]] = lambda file: write_csv(file, parts)
        try:
            write_together(files)
        except FileWriteError as error:
            raise CommandError(str(error)) from error


def _add_training(parser: ArgumentParser) -> None:
    """Options of training; the paper's values where it gives them."""
    form = "a number, or several with commas between them of which validation takes one"
    parser.add_argument(
        "--n",
        type=_sizes,
        default=SIZES,
        metavar="N[,N]",
        help=f"principal components, {form} (default: {','.join(map(str, SIZES))})",
    )
    parser.add_argument(
        "--penalty", type=_penalties, default=(0.02,), metavar="X[,X]", help=f"L1, {form} (default: 0.02)"
    )
    parser.add_argument(
        "--rate",
        type=_rates,
        default=RATES,
        metavar="X[,X]",
        help=f"of Adam, {form} (default: {','.join(map(str, RATES))})",
    )
    parser.add_argument(
        "--judge",
        choices=("error", "pearson"),
        default="error",
        help="what is best on validation: the lowest squared error, or the highest Pearson correlation "
        "(default: error)",
    )
    parser.add_argument("--batch", type=_counted, default=16, help="answers at once (default: 16)")
    parser.add_argument("--epochs", type=_counted, default=200, help="at most (default: 200)")
    parser.add_argument(
        "--patience", type=_counted, default=20, help="epochs without a better validation (default: 20)"
    )
    parser.add_argument(
        "--oversample", action="store_true", help="repeat answers until length says nothing about the score"
    )
    parser.add_argument(
        "--which",
        type=commandline.names,
        default=("adem", "c-adem", "r-adem"),
        metavar="A,B",
        help="forms to train: adem, c-adem, r-adem (default: all)",
    )
    parser.add_argument(
        "--dialogues",
        type=Path,
        metavar="FILE",
        help="for gru: JSONL with a list of turns in each line (default: questions and references of the "
        "training part)",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda … (default: a GPU if there is one)")
    parser.add_argument("--download", action="store_true", help="fetch an encoder of that name")


def _checked(options: dict[str, Any]) -> None:
    """CommandError for options that cannot be followed."""
    out, report = options["out"], options["report"]
    if out is None and not options["folds"]:
        raise CommandError("Give --out MODEL for the trained model, or --folds K to cross-validate.")
    if options["folds"] == 1:
        raise CommandError("--folds 1 leaves nothing to train on. Give 2 or more, such as 5.")
    if options["scores"] is not None and not options["folds"]:
        raise CommandError("--scores are those of a cross-validation. Give --folds K, such as 5, as well.")
    if options["dialogues"] is not None and options["encoder"] != "gru":
        raise CommandError("--dialogues are for --encoder gru.")
    for name in ("replicates", "draws"):
        if not 1 <= options[name] <= _MOST:
            raise CommandError(f"--{name} is from 1 to {_MOST:,}.")
    if out is not None and out.exists():
        raise CommandError(f"--out {out} is there already. Give another name, or move it away.")
    if report is not None and report.exists() and not report.is_dir():
        raise CommandError(f"--report {report} is a file. Give the name of a folder.")
    for source in options["source"]:
        outputs(options, ("scores", "json"), source=Path(source), what=f"the source {source}")
        if report is not None and Path(source).resolve() in {(report / name).resolve() for name in FILES}:
            raise CommandError(f"--report {report} would overwrite {source}. Give another folder.")


def _settings(options: dict[str, Any], scale: tuple[float, float]) -> "Settings":
    from distillery_learned.metrics.adem_examples import Settings

    sizes, penalties, rates = options["n"], options["penalty"], options["rate"]
    return Settings(
        n=None,  # of fewer components there are all
        sizes=sizes,
        penalty=penalties[0] if len(penalties) == 1 else None,
        penalties=penalties,
        rate=rates[0] if len(rates) == 1 else None,
        rates=rates,
        judge=options["judge"],
        batch=options["batch"],
        epochs=options["epochs"],
        patience=options["patience"],
        seed=options["seed"],
        oversample=options["oversample"],
        which=options["which"],
        scale=scale,
    )


def _options(options: dict[str, Any]) -> "Options":
    from distillery_learned.training.study import Options

    return Options(
        seed=options["seed"],
        replicates=options["replicates"],
        draws=options["draws"],
        folds=options["folds"],
        tables=options["report"] is not None or options["json"] is not None,
        version=settings.DISTILLERY_VERSION,
    )


def _written(options: dict[str, Any]) -> list[Path]:
    report = options["report"]
    files = [] if report is None else [report / name for name in FILES]
    return [path for path in (options["out"], *files, options["scores"], options["json"]) if path is not None]


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_counted(each) for each in commandline.names(text))


def _penalties(text: str) -> tuple[float, ...]:
    numbers = []
    for each in commandline.names(text):
        try:
            number = float(each)
        except ValueError:
            number = -1.0
        if not 0 <= number < _MOST:
            raise ArgumentTypeError(f"{each!r} is no number from 0")
        numbers.append(number)
    return tuple(numbers)


def _rates(text: str) -> tuple[float, ...]:
    return tuple(commandline.positive(each) for each in commandline.names(text))


def _counted(text: str) -> int:
    number = natural(text)
    if not 1 <= number <= _MOST_N:
        raise ArgumentTypeError(f"give a number from 1 to {_MOST_N:,}")
    return number
