"""METEOR 1.5 (Denkowski and Lavie 2014) by its authors' own program, where it and Java are installed.

The program comes with pycocoevalcap, or is what the environment variable METEOR_JAR points at. It runs with
`-l en -norm`, as coco-caption and Lee et al. (2021) have it: matches of words, stems, WordNet's synonyms and
paraphrases with the weights tuned for English. Nothing else in this app needs Java.
"""

import atexit
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np

from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk, ChunkValues, Metric, best, measured, owners, signature
from metrics.tokens import Tokeniser, tokeniser_named

_running: dict[tuple[int, tuple[str, ...]], "Program"] = {}
_starting = threading.Lock()


class Program:
    """A running program; started once per process, and ended with it."""

    def __init__(self, name: str, command: Sequence[str], patience: float) -> None:
        self.name, self.patience = name, patience
        self.key = (os.getpid(), tuple(command))
        with tempfile.TemporaryFile() as errors:
            try:
                self.process = subprocess.Popen(  # noqa: S603 - a fixed program; texts go through its input
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
                )
            except OSError as error:
                raise MetricError(f"{name} could not be started: {error}.") from error
            self.said: IO[bytes] = os.fdopen(os.dup(errors.fileno()), "rb")
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.asking = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    @classmethod
    def of(cls, name: str, command: Sequence[str], patience: float) -> "Program":
        """The program that runs by this command in this process; it is started if none does."""
        key = (os.getpid(), tuple(command))
        with _starting:
            if key not in _running or _running[key].process.poll() is not None:
                if key in _running:
                    _running[key].end()
                _running[key] = cls(name, command, patience)
            return _running[key]

    def ask(self, lines: Sequence[str], answers: int) -> list[str]:
        """So many lines of answer. MetricError if it says nothing for `patience` seconds, or ends."""
        with self.asking:
            writer = threading.Thread(target=self._tell, args=(lines,), daemon=True)
            writer.start()
            replies = [self._next() for _ in range(answers)]
            writer.join()
            return replies

    def end(self) -> None:
        """Stop it, whatever it does."""
        _running.pop(self.key, None)
        self.process.kill()
        self.process.wait()
        self.said.close()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def _next(self) -> str:
        try:
            line = self.lines.get(timeout=self.patience)
        except queue.Empty:
            self.end()
            raise MetricError(
                f"{self.name} said nothing for {self.patience:g} seconds and was stopped. "
                "Try again, or leave this metric out."
            ) from None
        if line is None:
            status, last = self.process.wait(), self._last()
            self.end()
            raise MetricError(f"{self.name} ended (exit status {status}). {last}")
        return line

    def _last(self) -> str:
        self.said.seek(0)
        complaints = self.said.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        return f"Its last words: {complaints[-1]}" if complaints else "It did not say why."

    def _tell(self, lines: Sequence[str]) -> None:
        assert self.process.stdin is not None
        try:
            for line in lines:
                self.process.stdin.write(f"{line}\n".encode("utf-8", "replace"))
            self.process.stdin.flush()
        except (OSError, ValueError):
            pass  # it ended, which the reader notices

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as answers:
            for line in answers:
                self.lines.put(line.decode("utf-8", "replace").strip())
        self.lines.put(None)


@atexit.register
def _end_all() -> None:
    for (owner, _), program in list(_running.items()):
        if owner == os.getpid():
            program.end()


VERSION = 1
JAR = "METEOR_JAR"
#: Pairs that are asked for at a time.
BATCH = 500
#: Seconds without a line after which the program counts as hung. It reads a table of paraphrases first.
PATIENCE = 300.0


def available() -> str:
    """Why METEOR 1.5 cannot run here, in words; empty if it can."""
    if not shutil.which("java"):
        return "Java is not installed"
    path = jar()
    if path is None:
        return (
            f"its program is not installed: install pycocoevalcap, or set {JAR} to the path of meteor-1.5.jar"
        )
    if not path.is_file():
        return f"there is no file {path}, which {JAR} names"
    if not (path.parent / "data" / "paraphrase-en.gz").is_file():
        return f"data/paraphrase-en.gz is not beside {path.name}"
    return ""


def jar() -> Path | None:
    """Where the program is said to be: by METEOR_JAR, or else within pycocoevalcap."""
    if named := os.environ.get(JAR):
        return Path(named).absolute()
    package = find_spec("pycocoevalcap")
    for folder in (package.submodule_search_locations or []) if package else []:
        if (path := Path(folder) / "meteor" / "meteor-1.5.jar").is_file():
            return path
    return None


def make(name: str, profile: Profile) -> Metric:
    """`meteor-1.5`; the profile's settings of that name may hold a tokeniser that comes before its own."""
    tokeniser_name = profile.settings.get(name, {}).get("tokeniser", "")
    tokeniser = tokeniser_named(tokeniser_name) if tokeniser_name else None
    parts = {"tok": f"{tokeniser.label}+norm" if tokeniser else "norm", "lang": "en", "refs": "max"}
    return Metric(
        name=name,
        title="METEOR 1.5",
        signature=signature(name, VERSION, **parts),
        measure=_Measure(tokeniser),
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """The best reference of each candidate; MetricError where the program is missing, dies or hangs."""

    tokeniser: Tokeniser | None

    def __call__(self, chunk: Chunk, survey: object) -> ChunkValues:
        texts = [self.text(text) for text in chunk.texts]
        pairs = [
            (texts[candidate], texts[reference])
            for candidate, reference in zip(
                chunk.candidates[owners(chunk.starts)], chunk.references, strict=True
            )
        ]
        by_pair = scores(list(dict.fromkeys(pairs)))
        values = np.fromiter(map(by_pair.__getitem__, pairs), np.float64, len(pairs))
        return measured(best(values, chunk.starts)[0], chunk.starts)

    def text(self, text: str) -> str:
        """A text as the program gets it: on one line, without what separates fields."""
        tokens = self.tokeniser.split(text) if self.tokeniser else text.split()
        return " ".join(" ".join(tokens).replace("|||", "").splitlines())


def scores(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """METEOR 1.5 of (candidate, reference), each on one line."""
    if not pairs:
        return {}
    if reason := available():
        raise MetricError(f"METEOR 1.5 cannot be computed: {reason}. Leave meteor-1.5 out, or install it.")
    path = jar()
    options = ("-Xmx2G", "-jar", str(path), "-", "-", "-stdio", "-l", "en", "-norm")
    program = Program.of("METEOR 1.5", (shutil.which("java") or "java", *options), PATIENCE)
    by_pair: dict[tuple[str, str], float] = {}
    for start, end in pairwise([*range(0, len(pairs), BATCH), len(pairs)]):
        batch = pairs[start:end]
        requests = [f"SCORE ||| {reference} ||| {candidate}" for candidate, reference in batch]
        matches = program.ask(requests, len(batch))
        values = program.ask([" ||| ".join(["EVAL", *matches])], len(batch) + 1)[:-1]
        by_pair.update(zip(batch, map(_number, values), strict=True))
    return by_pair


def _number(line: str) -> float:
    try:
        return float(line)
    except ValueError:
        raise MetricError(f"METEOR 1.5 answered {line[:80]!r} where it should give a number.") from None
