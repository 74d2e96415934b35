"""What the two commands of this room have in common: options, and metrics by name."""

import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluations.errors import EvaluationError

if TYPE_CHECKING:
    from evaluations.tables.rows import Answered
    from metrics.metric import Metric

_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SCALE = re.compile(rf"({_NUMBER})\s*(?:-|\.\.|:)\s*({_NUMBER})")
_MOST_PROCESSES = 256
#: What a metric may need of a table, by the field of `metrics.texts.Answers`: our field, and in words.
_NEEDS = {
    "questions": ("question", "the questions"),
    "labels": ("label", "the opinions of the answers (Yes, No, Depends)"),
    "reference_labels": ("labels", "the opinions of the references"),
    "entities": ("entities", "the gold entities of the questions"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Metrics to be scored under a profile, and sentences about those that were left out."""

    metrics: list["Metric"]
    profile: str
    tokeniser: str
    notes: list[str]


def add_metrics(parser: ArgumentParser) -> None:
    """--metrics, --profile, --tokeniser, --processes."""
    parser.add_argument(
        "--metrics",
        type=names,
        default=(),
        metavar="A,B",
        help="such as bleu-4,pa-bleu,rouge-l (default: those of the profile; docs/metrics.md lists all)",
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
        help="to score with (default: as many as there are cores); the result is always the same",
    )


def add_table(parser: ArgumentParser) -> None:
    """--column, --encoding, --no-quotes."""
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="which column holds what, such as answer=output or scores=rating; repeat",
    )
    parser.add_argument("--encoding", default="", help="of the file, unless it is UTF-8 or has a mark")
    parser.add_argument(
        "--no-quotes", action="store_true", help="quotation marks are ordinary signs, as in TREC's files"
    )


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """FIELD=COLUMN as a mapping; EvaluationError for what has another form."""
    found: dict[str, str] = {}
    for each in given:
        field, sign, column = each.partition("=")
        if not sign or not field.strip():
            raise EvaluationError(
                f"--column {each!r} is not of the form FIELD=COLUMN, such as scores=rating."
            )
        if field.strip() in found:
            raise EvaluationError(f"--column names {field.strip()} twice.")
        found[field.strip()] = column.strip()
    return found


def chosen(options: dict[str, Any], table: "Answered") -> Chosen:
    """The metrics that were named; without names those of the profile, as far as they can be scored here.

    MetricError for a metric, profile or tokeniser that there is not; EvaluationError for a named metric that
    needs a column which the table has not.
    """
    from metrics.catalogue import metric, missing  # noqa: PLC0415  # numpy comes with it
    from metrics.errors import MetricError  # noqa: PLC0415
    from metrics.profiles import profile  # noqa: PLC0415
    from metrics.tokens.registry import tokeniser  # noqa: PLC0415

    own = profile(options["profile"])
    if options["tokeniser"]:
        others = {
            family: {key: value for key, value in settings.items() if key != "tokeniser"}
            for family, settings in own.settings.items()
        }
        own = replace(own, tokeniser=tokeniser(options["tokeniser"]).name, settings=others)
    found: dict[str, Metric] = {}
    notes = []
    for name in options["metrics"] or own.metrics:
        try:
            made = metric(name, own)
            if why := _lacking(made, table):
                raise EvaluationError(why)
            if why := missing(made):
                raise EvaluationError(
                    f"{made.name} cannot be scored here: {why}. Install it, or leave the metric out."
                )
        except (MetricError, EvaluationError) as error:
            if options["metrics"]:
                raise
            notes.append(f"{name} of the profile {own.name} is left out: {error}")
            continue
        found.setdefault(made.name, made)
    if not found:
        raise EvaluationError(" ".join(["There is no metric to score.", *notes]))
    if clash := [name for name in table.external if name in found]:
        raise EvaluationError(
            f"--external {clash[0]}: a metric of that name is scored here as well. Rename the column."
        )
    return Chosen(list(found.values()), own.name, own.tokeniser, notes)


def _lacking(metric: "Metric", table: "Answered") -> str:
    for field in sorted(metric.needs):
        ours, words = _NEEDS.get(field, (field, field))
        if field not in {"references", "candidates"} and ours not in table.has:
            return (
                f"{metric.name} needs {words}, and no column of {table.title} holds them. Say which "
                f"one does: --column {ours}=NAME."
            )
    return ""


def processes_of(options: dict[str, Any], *, small: bool) -> int:
    """How many processes score: as asked, else one for each core that this process may use.

    One for what is `small`: it is done before others have started.
    """
    import os  # noqa: PLC0415

    if options["processes"] or small:
        return int(options["processes"]) or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them, each once."""
    found = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not found:
        raise ArgumentTypeError("name at least one, with commas between them")
    return found


def scale(text: str) -> tuple[float, float]:
    """LOW-HIGH, also with fractions or negative ends: 0-1, 1-5, -1:1."""
    found = _SCALE.fullmatch(text.strip())
    if not found:
        raise ArgumentTypeError(f"{text!r} is no scale; write it as 1-5 or 0-1")
    low, high = float(found[1]), float(found[2])
    if not low < high:
        raise ArgumentTypeError("a scale goes from a lower to a higher score, such as 1-5")
    return low, high


def natural(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal() or len(text) > 10:
        raise ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


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
