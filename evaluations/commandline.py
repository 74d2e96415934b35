"""Options that the two commands of this app have in common."""

import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.accounts.commandline import add_header_row, natural
from core.errors import on_failure
from evaluations.choices import NO_MODELS, ModelOptions, Models, kinds_of_all
from metrics.profiles import profile

_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SCALE = re.compile(rf"({_NUMBER})\s*(?:-|\.\.|:)\s*({_NUMBER})")
_BETWEEN_NAMES = re.compile(r",(?![^()]*\))")
_MOST_PROCESSES = 256
#: Exit status of a command that Ctrl-C ended, as shells have it.
_STOPPED = 130


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C ends the command with a sentence and status 130; files are written whole or not at all."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise CommandError("Stopped before it was done.", returncode=_STOPPED) from error


def add_metrics(parser: ArgumentParser) -> None:
    """--metrics, --profile, --tokeniser, --processes."""
    parser.add_argument(
        "--metrics",
        type=names,
        default=(),
        metavar="A,B",
        help="such as bleu-4,pa-bleu,rouge-l or adapted-bleu-4(alpha=1.5,beta=0.5) (default: those of the "
        "profile; docs/metrics.md lists all)",
    )
    parser.add_argument(
        "--profile", default="default", help="default, or a paper's exact ways: kpqa-2021, dureader-2018 …"
    )
    parser.add_argument(
        "--tokeniser", "--tokenizer", default="", metavar="NAME", help="another one than the profile's"
    )
    parser.add_argument(
        "--processes",
        type=_processes,
        default=0,
        metavar="N",
        help="to work with (default: one for each core where it is worth it); the result is always the same",
    )


def add_models(parser: ArgumentParser) -> None:
    """--model, --encoder, --layer, --idf, --download: what learned metrics score with."""
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FOLDER|NAME",
        help="of KPQA or ADEM: a folder, or a name in METRIC_MODELS (default: the only one of its kind "
        "there); repeat for one of another kind",
    )
    parser.add_argument(
        "--encoder",
        default="",
        metavar="NAME|FOLDER",
        help="of BERTScore: a folder, or a name that is in the local cache (default: BERTSCORE_ENCODER)",
    )
    parser.add_argument(
        "--layer", type=natural, metavar="N", help="of the encoder whose vectors BERTScore compares"
    )
    parser.add_argument(
        "--idf", action="store_true", help="BERTScore weighs word pieces by how rare they are in references"
    )
    parser.add_argument(
        "--download", action="store_true", help="fetch --encoder if it is not here; else nothing is fetched"
    )


def models_of(options: Mapping[str, Any]) -> Models:
    """The models that these options and the installation give to the metrics that are to be scored."""
    model_options = ModelOptions(
        options["model"], options["encoder"], options["layer"], options["idf"], options["download"]
    )
    named = options["metrics"]
    metric_names = named or profile(options["profile"]).metrics
    if model_options.is_empty and not kinds_of_all(metric_names):
        return NO_MODELS
    from evaluations.model_shelf import models_for

    return models_for(metric_names, model_options, named=bool(named))


def add_table(parser: ArgumentParser) -> None:
    """--column, --encoding, --sheet, --header-row, --no-quotes."""
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="which column holds what, such as answer=output or scores=rating; repeat",
    )
    parser.add_argument("--encoding", default="", help="of the file, unless it is UTF-8 or has a mark")
    parser.add_argument(
        "--sheet", default="", metavar="NAME", help="of a workbook (default: the first with data)"
    )
    add_header_row(parser)
    parser.add_argument(
        "--no-quotes", action="store_true", help="treat quotes as ordinary characters, as in TREC's files"
    )


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them, each once; commas in parentheses belong to a name."""
    parts = (each.strip() for each in _BETWEEN_NAMES.split(text))
    unique = tuple(dict.fromkeys(each for each in parts if each))
    if not unique:
        raise ArgumentTypeError("name at least one, with commas between them")
    return unique


def scale(text: str) -> tuple[float, float]:
    """LOW-HIGH, also with fractions or negative ends: 0-1, 1-5, -1:1."""
    match = _SCALE.fullmatch(text.strip())
    if not match:
        raise ArgumentTypeError(f"{text!r} is no scale; write it as 1-5 or 0-1")
    low, high = float(match[1]), float(match[2])
    if not low < high:
        raise ArgumentTypeError("a scale goes from a lower to a higher score, such as 1-5")
    return low, high


def positive(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return number


def _processes(text: str) -> int:
    number = natural(text)
    if not 1 <= number <= _MOST_PROCESSES:
        raise ArgumentTypeError(f"give a number from 1 to {_MOST_PROCESSES}")
    return number


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """The folder is there; one that was not there before goes again when something fails."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder} cannot be made: {error.strerror or error}.") from error

    def remove_again(error: BaseException) -> None:
        if new and not any(folder.iterdir()):
            folder.rmdir()

    with on_failure(remove_again):
        yield
