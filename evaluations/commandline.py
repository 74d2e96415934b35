"""Options that the two commands of this room have in common."""

import math
import re
from argparse import ArgumentParser, ArgumentTypeError

from accounts.commandline import natural

_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SCALE = re.compile(rf"({_NUMBER})\s*(?:-|\.\.|:)\s*({_NUMBER})")
_MOST_PROCESSES = 256


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
