"""Measures scoring answers, beside the tools that people would otherwise use, in the same run.

    python benchmarks/metrics.py [--answers 40960] [--sample 2000] [--stream 100000,1000000] [--processes 2]
                                 [--only PART] [--markdown FILE]

Every answer and every reference is another text. `pairs` are pairs of an answer and a reference. Peers score
a sample with one reference, and how far their values are from ours is told. The stream is scored in a process
of its own, with BLEU-4, ROUGE-L and chrF and three references for each answer; its data are made as it is
read. pa-BLEU and the statistics have measurements of their own: `benchmarks/metrics_*.py`.
"""

# ruff: noqa: PLC0415  # each step imports only what it measures

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
RUNS = 3
STREAM = ("bleu-4", "rouge-l", "chrf")
STREAM_REFERENCES = 3
TOGETHER = ("bleu-4", "rouge-l")
SINGLE = ("bleu-4", "rouge-l", "rouge-1-stem", "chrf", "f1", "cider", "meteor")
WANTED = 100_000
#: By the clock, of all cores together, for a table of so many times `--answers`.
WANTED_OF_ALL, TIMES = 200_000, 10


class Row(NamedTuple):
    """One line of the table."""

    what: str
    measured: str
    wanted: str = ""
    note: str = ""

    def said(self) -> str:
        """As Markdown."""
        return f"| {self.what} | {self.measured} | {self.wanted} | {self.note} |"


def best(call: Callable[[], Any], runs: int = RUNS) -> tuple[float, float]:
    """The shortest time of some runs, by the clock and of the processor."""
    clock, used = [], []
    for _ in range(runs):
        begun, begun_used = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - begun)
        used.append(time.process_time() - begun_used)
    return min(clock), min(used)


def ours(n: int) -> Iterator[Row]:
    """What one process does, with texts to begin with."""
    from benchmarks.metrics_texts import chunks
    from metrics import metric
    from metrics.scoring import score_chunks

    for references in (1, 3):
        data = list(chunks(n, references)())
        pairs = n * references
        for names in (TOGETHER, *((name,) for name in SINGLE)):
            metrics = [metric(name) for name in names]

            def scored(data: Any = data, metrics: Any = metrics) -> None:
                for _ in score_chunks(lambda: data, metrics).values():
                    pass

            clock, used = best(scored)
            rate, by_processor = pairs / clock, pairs / used
            wanted = f"{WANTED:,}" if names == TOGETHER else ""
            if wanted and rate < WANTED:
                wanted += ": **not met**"
            kept = "1 reference" if references == 1 else f"{references} references"
            yield Row(
                f"{' and '.join(names)}, {kept}",
                f"{rate:,.0f} pairs/s",
                wanted,
                f"{by_processor:,.0f} per second of processor",
            )


def all_cores(n: int) -> Iterator[Row]:
    """A longer table as `manage.py score` does it: one process begins, others start once worth it."""
    from benchmarks.metrics_texts import chunks
    from metrics import metric
    from metrics.scoring import score_chunks

    data = list(chunks(n * TIMES, 1)())
    metrics = [metric(name) for name in TOGETHER]
    for processes, words in ((1, "one process"), (0, "as many processes as it is worth")):

        def scored(processes: int = processes) -> None:
            for _ in score_chunks(lambda: data, metrics, processes=processes).values():
                pass

        clock, used = best(scored)
        rate = n * TIMES / clock
        wanted = (
            "" if processes else f"{WANTED_OF_ALL:,}" + ("" if rate >= WANTED_OF_ALL else ": **not met**")
        )
        yield Row(
            f"{' and '.join(TOGETHER)}, {n * TIMES:,} answers, {words}",
            f"{rate:,.0f} pairs/s",
            wanted,
            f"{used:.1f} s of this process's processor, {clock:.1f} s by the clock",
        )


def peers(n: int) -> Iterator[Row]:
    """Others on a sample with one reference, and how far their values are from ours."""
    from benchmarks.metrics_texts import chunks

    made = next(chunks(n, 1)())
    answers, references = list(made.candidates), [list(refs) for refs in made.references]
    for what, call, wanted in _peers(answers, references):
        found: list[Any] = []
        clock, used = best(lambda call=call, found=found: found.append(call()), 2)
        apart = float(np.abs(np.asarray(found[-1]) - wanted()).max())
        note = f"{n / used:,.0f} per second of processor; differs from ours by at most {apart:.0e}"
        yield Row(what, f"{n / clock:,.0f} pairs/s", "", note)


def _peers(
    answers: Sequence[str], references: Sequence[list[str]]
) -> Iterator[tuple[str, Callable[[], list[float]], Callable[[], np.ndarray]]]:
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    from metrics import metric
    from metrics.profiles import Profile

    plain = Profile("spaces", "", (), "whitespace", {"rouge": {"beta": 1.2, "refs": "separate"}})
    rows = list(zip(answers, references, strict=True))

    def of_ours(name: str, profile: str | Profile = plain) -> Callable[[], np.ndarray]:
        return lambda: metric(name, profile).score(answers, references)

    for tokeniser in ("none", "13a"):  # the same words as ours; what its users have who choose nothing
        bleu = BLEU(tokenize=tokeniser, effective_order=True)
        yield (
            f"sacrebleu {version('sacrebleu')}, sentence BLEU, tokenize={tokeniser}",
            lambda bleu=bleu: [bleu.sentence_score(answer, refs).score / 100 for answer, refs in rows],  # type: ignore[misc]
            of_ours("bleu-4"),
        )
    rouge = RougeScorer(["rougeL"])
    yield (
        f"rouge-score {version('rouge-score')}, ROUGE-L",
        lambda: [rouge.score(refs[0], answer)["rougeL"].fmeasure for answer, refs in rows],
        of_ours("rouge-l", Profile("words", "", (), "default", {"rouge": {"tokeniser": "rouge-score"}})),
    )
    coco = Rouge()
    yield (
        f"coco-caption {version('pycocoevalcap')}, ROUGE-L",
        lambda: [coco.calc_score([answer], refs) for answer, refs in rows],
        of_ours("rouge-l"),
    )
    numbered = {place: [answer] for place, answer in enumerate(answers)}
    gold = dict(enumerate(references))

    def cider() -> list[float]:
        found: list[float] = Cider().compute_score(gold, numbered)[1].tolist()
        return found

    yield (
        f"coco-caption {version('pycocoevalcap')}, CIDEr-D",
        cider,
        of_ours("cider"),
    )
    chrf = CHRF()
    yield (
        f"sacrebleu {version('sacrebleu')}, chrF",
        lambda: [chrf.sentence_score(answer, refs).score / 100 for answer, refs in rows],
        of_ours("chrf"),
    )


def know_peers_tokens() -> None:
    """Make rouge-score's own tokeniser known, so that values can be compared."""
    from rouge_score.tokenizers import DefaultTokenizer

    from metrics import tokens
    from metrics.tokens import Tokeniser

    split = DefaultTokenizer(False).tokenize
    tokens.TOKENISERS["rouge-score"] = Tokeniser("rouge-score", split)


def stream(n: int, processes: int) -> dict[str, float]:
    """Score a stream: seconds, and peak memory in MiB in this process and in one of the others."""
    from benchmarks.metrics_texts import chunks
    from metrics import metric
    from metrics.scoring import score_chunks

    begun = time.perf_counter()
    data = chunks(n, STREAM_REFERENCES)
    scoring = score_chunks(data, [metric(name) for name in STREAM], processes=processes)
    total = sum(len(values[STREAM[0]]) for values in scoring.values())
    assert total == n
    here, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": time.perf_counter() - begun,
        "used": here.ru_utime + here.ru_stime + others.ru_utime + others.ru_stime,
        "here": _peak_mib(),
        "others": others.ru_maxrss / 1024,
        **{name: value or 0.0 for name, value in scoring.corpus().items()},
    }


def _peak_mib() -> float:
    """Of this program alone: what getrusage says begins with the size of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def streams(sizes: Sequence[int], processes: int) -> Iterator[Row]:
    """Streams of several sizes, each in a process of its own."""
    for n in sizes:
        argv = [sys.executable, __file__, "--only-stream", str(n), "--processes", str(processes)]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
        found = json.loads(done.stdout)
        yield Row(
            f"{n:,} answers x {STREAM_REFERENCES} references, {', '.join(STREAM)}, {processes} processes",
            f"{found['seconds']:,.0f} s, {n * STREAM_REFERENCES / found['seconds']:,.0f} pairs/s",
            "constant memory",
            f"peak {found['here']:.0f} MiB here, {found['others']:.0f} MiB in each other process; "
            f"{found['used']:,.0f} s of processor, the data included",
        )


def machine() -> str:
    """Processor, cores, load, versions, and how quick the machine is just now."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    begun = time.perf_counter()
    sum(1 for _ in range(10_000_000))
    adding = time.perf_counter() - begun
    return (
        f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when begun, ten million additions "
        f"in Python {adding:.1f} s; Python {platform.python_version()}, numpy {np.__version__}, "
        f"rapidfuzz {version('rapidfuzz')}"
    )


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=40_960)
    parser.add_argument("--sample", type=int, default=2_000)
    parser.add_argument("--stream", default="100000,1000000")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only-stream", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=["ours", "cores", "peers", "streams"], help="measure only this")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.only_stream:
        print(json.dumps(stream(options.only_stream, options.processes)))
        return
    know_peers_tokens()
    lines = [f"Machine: {machine()}.", "", "| | measured | wanted | |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    sizes = [int(size) for size in options.stream.split(",") if size]
    parts = {
        "ours": ours(options.answers),
        "cores": all_cores(options.answers),
        "peers": peers(options.sample),
        "streams": streams(sizes, options.processes),
    }
    chosen = [part for name, part in parts.items() if options.only in (None, name)]
    for row in (row for part in chosen for row in part):
        lines.append(row.said())
        print(row.said(), flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
