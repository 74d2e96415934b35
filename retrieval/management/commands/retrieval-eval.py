"""`manage.py retrieval-eval`: rankers and runs on judged queries, with paired tests."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import natural, outputs
from core.files.atomic import Write
from retrieval.corpus_collections import CorpusHaystack
from retrieval.errors import EvaluationError, RetrievalError
from retrieval.evaluation import measures as m
from retrieval.evaluation import report
from retrieval.evaluation.ablation import Ablation, ablate, variants_of
from retrieval.evaluation.haystacks import FileHaystack
from retrieval.evaluation.measures import read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.report import DRAWS, coverage, evaluate, judged_questions
from retrieval.evaluation.runs import Run, SystemRun, ask, check_ids, read_run
from retrieval.evaluation.terminal import ablation_table, tables
from retrieval.management.progress import watched_passages
from retrieval.ranking.folder import temporary_collection
from retrieval.search import ranker_named

if TYPE_CHECKING:
    from retrieval.evaluation.questions import Question
    from retrieval.evaluation.runs import Haystack, SystemRun
    from retrieval.ranking.base import Ranker

_DEFAULT_SYSTEMS = "bm25,crown"
_MOST_DEPTH = 1_000
_MOST_DRAWS = 1_000_000
_WIDTH = 110
#: Beside a file of queries, the passages that they are about.
_BESIDE = ("passages.jsonl", "passages.jsonl.gz", "passages.tsv", "passages.csv", "passages.parquet")


class Command(BaseCommand):
    """Parses, asks, measures, prints."""

    help = "Evaluate rankers and TREC runs on judged queries (docs/evaluate-retrieval.md)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """QRELS QUERIES, what is compared, on which passages, and what is written."""
        parser.add_argument("qrels", type=Path, help="judgments: QUERY 0 PASSAGE GRADE (TREC, BEIR)")
        parser.add_argument("queries", type=Path, help="JSONL, TSV, TREC topics, or conversations.jsonl")
        parser.add_argument(
            "--systems",
            metavar="A,B",
            help=f"rankers, such as bm25,crown-2020,balanced:cq3 (default: {_DEFAULT_SYSTEMS})",
        )
        parser.add_argument(
            "--runs", type=Path, nargs="+", action="extend", default=[], metavar="FILE", help="TREC runs"
        )
        parser.add_argument("--baseline", default="", metavar="NAME", help="default: the first system")
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--corpus", action="append", default=[], metavar="PROJECT/SLUG", help="search this; repeat"
        )
        where.add_argument(
            "--passages",
            type=Path,
            metavar="FILE",
            help="search these (default: passages.jsonl there)",
        )
        parser.add_argument("--language", default="en", help="of --passages, BCP 47 (default: en)")
        parser.add_argument("--vectors", type=Path, metavar="FILE", help="word vectors, with --passages")
        parser.add_argument("--field", default="", help="another text, such as rewrite (of turns)")
        parser.add_argument(
            "--answerable", action="store_true", help="leave out queries without any relevant passage"
        )
        parser.add_argument("--measures", default="", metavar="A,B", help="default: nDCG@10,MRR@10,R@100")
        parser.add_argument(
            "--depth",
            type=_from_1(_MOST_DEPTH),
            default=0,
            metavar="N",
            help="passages a query (default: 100)",
        )
        parser.add_argument(
            "--draws", type=_from_1(_MOST_DRAWS), default=0, metavar="N", help="default: 9999"
        )
        parser.add_argument("--seed", type=natural, default=0)
        parser.add_argument(
            "--ablate",
            action="store_true",
            help="also leave out each weight of each system, and ask with each query model",
        )
        parser.add_argument("--run-out", type=Path, metavar="DIR", help="write a TREC run of each system")
        parser.add_argument("--per-query", type=Path, metavar="FILE", help="write values of queries as CSV")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write everything else as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate; what cannot be read ends it with status 1 and writes nothing."""
        try:
            self._evaluate(options)
        except RetrievalError as error:
            raise CommandError(str(error)) from error

    def _evaluate(self, options: dict[str, Any]) -> None:
        from rich.console import Console  # not needed to parse arguments

        files = outputs(options, ("per_query", "json"), source=options["qrels"], what="the judgments")
        out = _folder(options["run_out"])
        measures = m.parse_measures(options["measures"] or m.DEFAULT)
        systems = _systems(options)
        runs = _runs(options["runs"], taken=[name for name, _ in systems])
        qrels = read_qrels(options["qrels"])
        questions = read_questions(options["queries"], options["field"])
        judged = judged_questions(qrels, questions, answerable=options["answerable"])
        if out is not None:
            check_ids((question.id for question in judged), "query")
        depth = options["depth"] or max(m.DEPTH, *(measure.cutoff for measure in measures))
        _check_ablation(systems, wanted=options["ablate"])
        ablations: list[Ablation] = []
        facts: dict[str, Any]
        if systems:
            with _haystack(options, systems) as haystack:
                facts = {
                    "passages": haystack.as_json(),
                    "coverage": coverage(qrels, questions, judged, haystack.known),
                }
                asked = [*self._asked(systems, haystack, judged, depth), *runs]
                if options["ablate"]:
                    ablations = [
                        ablate(
                            whole,
                            ranker,
                            partial(self._asked_one, haystack, judged, depth),
                            qrels,
                            judged,
                            measures=measures,
                            draws=options["draws"] or DRAWS,
                            seed=options["seed"],
                        )
                        for (_, ranker), whole in zip(systems, asked, strict=False)
                        if variants_of(ranker)
                    ]
        else:
            facts = {"passages": None, "coverage": coverage(qrels, questions, judged, None)}
            asked = runs
        evaluation = evaluate(
            qrels,
            judged,
            asked,
            measures,
            baseline=options["baseline"],
            draws=options["draws"] or DRAWS,
            seed=options["seed"],
            facts={
                "distillery": settings.DISTILLERY_VERSION,
                "qrels": options["qrels"].name,
                "queries": options["queries"].name,
                "format": questions.format,
                "field": questions.field,
                "answerable": options["answerable"],
                "depth": depth,
                **facts,
                **({"ablations": [each.as_json() for each in ablations]} if ablations else {}),
            },
        )
        written: dict[Path, Write] = {}
        if out is not None:
            written |= report.run_files(out, [each.run for each in asked if each.milliseconds])
        if "json" in files:
            written[files["json"]] = lambda file: report.write_json(evaluation, file)
        if "per_query" in files:
            written[files["per_query"]] = lambda file: report.write_queries(evaluation, file)
        report.write_together(written)
        console = Console(highlight=False, width=None if self.stdout.isatty() else _WIDTH)
        with console.capture() as words:
            console.print(tables(evaluation))
            for ablation in ablations:
                console.print(ablation_table(ablation))
        self.stdout.write(words.get(), ending="")
        for path in written:
            self.stdout.write(f"Written: {path}")

    def _asked_one(
        self,
        haystack: "Haystack",
        questions: "Sequence[Question]",
        depth: int,
        name: str,
        ranker: "Ranker",
    ) -> "SystemRun":
        return next(self._asked([(name, ranker)], haystack, questions, depth))

    def _asked(
        self,
        systems: Sequence[tuple[str, Any]],
        haystack: "Haystack",
        questions: "Sequence[Question]",
        depth: int,
    ) -> "Iterator[SystemRun]":
        for name, ranker in systems:
            with watched_passages(name, len(questions), quiet=not self.stderr.isatty()) as progress:
                yield ask(ranker, haystack, questions, depth, name=name, progress=progress)


def _systems(options: dict[str, Any]) -> list[tuple[str, Any]]:
    """Rankers under the names that were typed."""

    if options["systems"] is None and options["runs"]:
        return []
    given = _DEFAULT_SYSTEMS if options["systems"] is None else options["systems"]
    names = [name.strip() for name in _listed(given)]
    if not any(names):
        raise CommandError("--systems names none. Name some, such as bm25,balanced.")
    found: dict[str, Any] = {}
    for name in filter(None, names):
        if name in found:
            raise CommandError(f"--systems names {name} twice.")
        found[name] = ranker_named(name)
    return list(found.items())


def _check_ablation(systems: Sequence[tuple[str, Any]], *, wanted: bool) -> None:
    """Before anything is searched: is there a system whose terms can be left out?"""
    if wanted and not any(variants_of(ranker) for _, ranker in systems):
        raise CommandError(
            "--ablate leaves out terms of bm25, balanced or crown-2020, and --systems names none of them."
        )


def _listed(text: str) -> list[str]:
    """Parts between commas that are outside of brackets."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _runs(paths: Sequence[Path], *, taken: Sequence[str]) -> "list[SystemRun]":
    """Runs under the names of their files."""

    found: list[SystemRun] = []
    names = set(taken)
    for path in paths:
        run = read_run(path)
        name, number = run.name, 1
        while name in names:
            number += 1
            name = f"{run.name} ({number})"
        names.add(name)
        found.append(SystemRun(Run(name, run.rankings)))
    return found


@contextmanager
def _haystack(options: dict[str, Any], systems: Sequence[tuple[str, Any]]) -> "Iterator[Haystack]":
    """What is searched: corpora of projects, or a file of passages that is indexed for this evaluation."""
    if options["corpus"]:
        if options["vectors"] is not None:
            raise CommandError(
                "--vectors goes with --passages. A corpus has its vectors: manage.py wpn build."
            )

        yield CorpusHaystack(options["corpus"])
        return

    path = options["passages"] or _beside(options["queries"])
    network = any(not re.fullmatch(r"bm25(:[\w-]+)?", name) for name, _ in systems)
    with (
        watched_passages(path.name, 0, quiet=True) as progress,
        temporary_collection(
            path,
            language=options["language"],
            vectors=options["vectors"],
            network=network,
            progress=progress,
        ) as collection,
    ):
        yield FileHaystack(path, collection)


def _beside(queries: Path) -> Path:
    for name in _BESIDE:
        if (queries.parent / name).is_file():
            return queries.parent / name
    raise EvaluationError(
        f"There is no passages.jsonl beside {queries.name}. Say what to search: --passages FILE, or --corpus "
        "PROJECT/SLUG; or compare runs only: --runs FILE."
    )


def _folder(path: Path | None) -> Path | None:
    if path is not None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"--run-out {path}: {error.strerror}.") from error
    return path


def _from_1(most: int) -> Any:
    def number(text: str) -> int:
        found = natural(text)
        if not 1 <= found <= most:
            raise ArgumentTypeError(f"give a number from 1 to {most:,}")
        return found

    return number
