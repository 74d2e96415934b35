"""What the fuzzers share: their seeds, odd values, and the end of a case that hangs.

The same cases are made in every run, however quick the machine is. FUZZ_SEED=7 makes others; FUZZ_SEEDS=20
makes those of twenty seeds, from FUZZ_SEED on.
"""

import os
import random
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

FIRST_SEED = int(os.environ.get("FUZZ_SEED", "20261122"))
SEEDS = range(FIRST_SEED, FIRST_SEED + int(os.environ.get("FUZZ_SEEDS", "1")))
#: Seconds of the processor, not of the clock: a busy machine fails no case.
LONGEST_CASE = 20.0

#: Text for any field. Half a surrogate is no text; `encoded` writes the bytes that it would be.
ODD_TEXT = (
    "",
    " ",
    "\t\r\n",
    "0",
    "-1",
    "1",
    "007",
    "1.5",
    "1,5",
    "1e3",
    "1e400",
    "-1e-400",
    "nan",
    "inf",
    "-Infinity",
    "0x10",
    "1_000",
    "2147483648",
    "9223372036854775808",
    "-9223372036854775809",
    "9" * 400,
    "9" * 5000,
    "٣",
    "½",
    "²",
    "9999-12-31",
    "9999-12-31T23:59:59",
    "0001-01-01",
    "0000-00-00",
    "2026-02-30T25:61",
    "2026-11-22T10:00:00+99:99",
    "10000-01-01",
    "P1000000000D",
    "999999999:59:59",
    "00000000-0000-0000-0000-000000000000",
    "\0",
    "a\0b",
    "\x01\x08\x0b\x1b[0m\x7f\x85",
    "\ud800",
    "a\udfff",
    "\ufeff",
    "\ufffe\uffff",
    "\u202e\u2066abc",
    "é",
    "e\u0301",
    "İ",
    "ß",
    "🧪" * 70,
    "%00%ff%",
    "%s %(x)s %d {0} {x.__class__}",
    "{{ x }}{% now %}${x}",
    "[]",
    "{}",
    "null",
    "true",
    '"',
    '{"a": {"b": ' + "[" * 200 + "]" * 200 + "}}",
    "[" * 5000,
    "<b>'\"&]]>",
    "</textarea></form><script>",
    "../../etc/passwd",
    "//evil.example/",
    "http://[::1",
    "https://user:pass@exa mple.org:99999999/\\",
    "javascript:alert(1)",
    "a@b",
    "*",
    "(?P<a",
    "a" * 300,
    "x" * 5000,
    "a b " * 1500,
    "y" * 70_000,
    "on",
    "=1+1",
    "' OR 1=1 --",
    "\\",
    ",;|\t",
)
#: JSON values of every type, for members of any.
ODD_JSON = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    -0.0,
    2**31,
    2**53 + 1,
    2**63,
    -(2**63) - 1,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    [None],
    {"": ""},
    {"a": {"b": {"c": [{}]}}},
    ["a"] * 2000,
    {f"k{n}": n for n in range(2000)},
)


def random_for(seed: int, *names: object) -> random.Random:
    """The random numbers of one case: the same whichever cases came before."""
    return random.Random(f"{seed} {' '.join(map(str, names))}")


def nested(depth: int) -> object:
    """A list in a list in a list."""
    value: object = "deep"
    for _ in range(depth):
        value = [value]
    return value


def odd_json(chance: random.Random) -> object:
    """Some JSON value, or text."""
    match chance.randrange(8):
        case 0:
            return nested(chance.choice([2, 90, 400]))
        case 1 | 2 | 3:
            return chance.choice(ODD_TEXT)
        case _:
            return chance.choice(ODD_JSON)


def encoded(text: str) -> bytes:
    """UTF-8, with the bytes that halves of surrogates would have."""
    return text.encode("utf-8", "surrogatepass")


class HangError(BaseException):
    """A case used the processor for longer than any case may; no handler of the product catches this."""


@contextmanager
def no_hang(case: object) -> Iterator[None]:
    """Fail a case that does not end. One that waits for something is for the suite's own time limit."""

    def stop(_: int, frame: FrameType | None) -> None:
        where = "".join(traceback.format_stack(frame, limit=8))
        raise HangError(f"{LONGEST_CASE:.0f} seconds of the processor for {case}, at:\n{where}")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_CASE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def repeat(seed: int) -> str:
    """How a failure is made again."""
    return f"FUZZ_SEED={seed} makes these cases again"
