"""`manage.py retrieval-eval`: rankers and runs on judged queries, with paired tests."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

from core.accounts.commandline import natural, outputs, plain
from core.files.atomic import Write
from core.files.reading import reading_lines
from retrieval.errors import EvaluationError, RetrievalError
from retrieval.evaluation import measures as m
from retrieval.evaluation import report
from retrieval.evaluation.measures import read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.report import (
    DRAWS,
    Ablation,
    Evaluation,
    ablate,
    coverage,
    evaluate,
    judged_questions,
    variants_of,
)
from retrieval.evaluation.runs import FileHaystack, Run, SystemRun, ask, check_ids, read_run
from retrieval.management.commands.corpus import watched_passages
from retrieval.ranking.folder import temporary_collection
from retrieval.search import CorpusHaystack, ranker_named

if TYPE_CHECKING:
    from retrieval.evaluation.questions import Question
    from retrieval.evaluation.runs import Haystack, SystemRun
    from retrieval.ranking.base import Ranker


#: A difference is marked where both corrected p-values are below this.
LEVEL = 0.05
_SHOWN = 60
#: Notes of rankers that are shown for each.
_NOTES = 3
_CONTRADICTED = "the file's ranks contradict its scores; the order is that of the scores, as in trec_eval"


def tables(evaluation: Evaluation) -> RenderableType:
    """Means of all systems, differences from the baseline, and what must be said."""
    parts: list[RenderableType] = [_means(evaluation)]
    if evaluation.comparisons:
        parts.append(_differences(evaluation))
    return Group(*parts, *(escape(sentence) for sentence in sentences(evaluation)))


def _means(evaluation: Evaluation) -> Table:
    table = Table("system", title=f"Means over {len(evaluation.questions):,} queries")
    best = {
        measure.name: max(evaluation.mean(each.run.name, measure.name) for each in evaluation.systems)
        for measure in evaluation.measures
    }
    for measure in evaluation.measures:
        table.add_column(escape(measure.name), justify="right")
    table.add_column("ms a query", justify="right")
    for each in evaluation.systems:
        row = [_name(each.run.name)]
        for measure in evaluation.measures:
            mean = evaluation.mean(each.run.name, measure.name)
            star = _star(evaluation, each.run.name, measure.name)
            cell = f"{mean:.4f}{star}"
            row.append(f"[bold]{cell}[/bold]" if mean == best[measure.name] else cell)
        times = sorted(each.milliseconds)
        row.append(f"{times[len(times) // 2]:.1f}" if times else "")
        table.add_row(*row)
    return table


def _differences(evaluation: Evaluation) -> Table:
    table = Table("system", "measure", title=f"Differences from {_name(evaluation.baseline)}")
    for name in ("difference", "95 %", "better / equal / worse", "t-test p", "randomisation p"):
        table.add_column(name, justify="right")
    for system, measure, test in evaluation.comparisons:
        interval = f"{test.interval[0]:+.4f} … {test.interval[1]:+.4f}" if test.interval else ""
        table.add_row(
            _name(system),
            escape(measure),
            f"{test.difference:+.4f}{_star(evaluation, system, measure)}",
            interval,
            f"{test.better:,} / {test.equal:,} / {test.worse:,}",
            _p(test.t_p_holm),
            _p(test.randomisation_p_holm),
        )
    return table


def ablation_table(ablation: Ablation) -> Table:
    """A system with each of its terms left out, and with the other query models; by the first measure."""
    evaluation = ablation.evaluation
    measure = evaluation.measures[0].name
    full_system = (
        f"{_name(ablation.system)}, {escape(measure)} {evaluation.mean(ablation.system, measure):.4f}"
    )
    table = Table("ablation", title=f"Ablations of {full_system}")
    for name in (measure, "difference", "95 %", "t-test p", "randomisation p"):
        table.add_column(escape(name), justify="right")
    for variant in ablation.variants:
        run = ablation.run_name(variant)
        test = evaluation.of(run, measure)
        if test is None:
            continue
        interval = f"{test.interval[0]:+.4f} … {test.interval[1]:+.4f}" if test.interval else ""
        table.add_row(
            escape(variant.change),
            f"{evaluation.mean(run, measure):.4f}",
            f"{test.difference:+.4f}{_star(evaluation, run, measure)}",
            interval,
            _p(test.t_p_holm),
            _p(test.randomisation_p_holm),
        )
    return table


def sentences(evaluation: Evaluation) -> Iterator[str]:
    """What a reader of the figures has to know."""
    facts = evaluation.facts.get("coverage", {})
    yield from _readings(evaluation.facts)
    if evaluation.comparisons:
        yield (
            "* both tests below .05 after Holm's correction over the systems of a measure. Queries are "
            "paired; the randomisation test swaps whole conversations."
        )
    yield from _of(facts, "not_judged", "Left out, as nothing is judged for them")
    yield from _of(facts, "without_field", f"Left out, as they have no {evaluation.facts.get('field')}")
    yield from _of(facts, "judged_without_query", "Judged, but not among the queries")
    left_out = evaluation.facts.get("answerable")
    yield from _of(
        facts,
        "without_relevant",
        "Left out, as no passage is relevant for them"
        if left_out
        else "Without a relevant passage, so that every system has 0 (--answerable leaves them out)",
    )
    gone = facts.get("judged_not_among_passages", {})
    if gone.get("count"):
        yield (
            f"Judged passages that are not among the passages: {gone['count']:,}, such as "
            f"{gone['examples'][0]!r}. No system can find what {gone['relevant_judgments']:,} of the "
            "judgments ask for."
        )
    if facts.get("repeated_judgments"):
        yield f"Judgments that are repeated, and count once: {facts['repeated_judgments']:,}."
    for each in evaluation.systems:
        yield from _about(each, [question.id for question in evaluation.questions])


def _readings(facts: Mapping[str, Any]) -> Iterator[str]:
    """How each file was read."""
    files = facts.get("read_as", {})
    named = [(facts[name], files[name]) for name in ("qrels", "queries") if name in files]
    for name, reading in (*named, *files.get("runs", {}).items()):
        for sentence in reading_lines(reading):
            yield plain(f"{name}: {sentence}")


def _about(each: SystemRun, queries: Sequence[str]) -> Iterator[str]:
    """What is to be said of one system."""
    of_queries = _queries(len(queries))
    if each.wordless:
        yield f"{each.run.name}: {each.wordless:,} of {of_queries} without a word to search for."
    notes = sorted((each.notes or {}).items(), key=lambda pair: -pair[1])
    for note, count in notes[:_NOTES]:
        yield f"{each.run.name}: {note}" + (f" ({count:,} of {of_queries})" if count < len(queries) else "")
    if len(notes) > _NOTES:
        rest = sum(count for _, count in notes[_NOTES:])
        yield f"{each.run.name}: {rest:,} more notes on single queries; --json has them."
    missing = sum(not each.run.rankings.get(query) for query in queries)
    if missing and not each.milliseconds:
        yield f"{each.run.name}: nothing for {missing:,} of {of_queries}; they count as 0."


def _of(facts: Mapping[str, Any], name: str, label: str) -> Iterator[str]:
    about = facts.get(name, {})
    if about.get("count"):
        yield f"{label}: {_queries(about['count'])}, such as {about['examples'][0]!r}."


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"


def _star(evaluation: Evaluation, system: str, measure: str) -> str:
    test = evaluation.of(system, measure)
    if test is None or test.t_p_holm is None or test.randomisation_p_holm is None:
        return ""
    return "*" if max(test.t_p_holm, test.randomisation_p_holm) < LEVEL else ""


def _p(p: float | None) -> str:
    if p is None:
        return "none"
    return f"{p:.4f}" if p >= 0.0001 else "< .0001"


def _name(text: str) -> str:
    """A name of a file's making: no control characters, no markup, not endless."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return escape(plain if len(plain) <= _SHOWN else plain[:_SHOWN] + "…")


_DEFAULT_SYSTEMS = "bm25,crown"
_MOST_DEPTH = 1_000
_MOST_DRAWS = 1_000_000
_WIDTH = 110
#: Beside a file of queries, the passages that they are about.
_BESIDE = ("passages.jsonl", "passages.jsonl.gz", "passages.tsv", "passages.csv", "passages.parquet")


class Command(BaseCommand):
    """Parses, asks, measures, prints."""

    help = "Evaluate rankers and TREC runs on judged queries (docs/retrieval.md)."
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
        files = outputs(options, ("per_query", "json"), source=options["qrels"], what="the judgments")
        out = _folder(options["run_out"])
        measures = m.parse_measures(options["measures"] or m.DEFAULT)
        systems = _systems(options)
        runs = _runs(options["runs"], used_names=[name for name, _ in systems])
        qrels = read_qrels(options["qrels"])
        questions = read_questions(options["queries"], options["field"])
        evaluated = judged_questions(qrels, questions, answerable=options["answerable"])
        if out is not None:
            check_ids((question.id for question in evaluated), "query")
        depth = options["depth"] or max(m.DEPTH, *(measure.cutoff for measure in measures))
        _check_ablation(systems, requested=options["ablate"])
        ablations: list[Ablation] = []
        facts: dict[str, Any]
        if systems:
            with _haystack(options, systems) as haystack:
                facts = {
                    "passages": haystack.as_json(),
                    "coverage": coverage(qrels, questions, evaluated, haystack.find_keys),
                }
                system_runs = [*self._ask_systems(systems, haystack, evaluated, depth), *runs]
                if options["ablate"]:
                    ablations = [
                        ablate(
                            system_run,
                            ranker,
                            partial(self._asked_one, haystack, evaluated, depth),
                            qrels,
                            evaluated,
                            measures=measures,
                            draws=options["draws"] or DRAWS,
                            seed=options["seed"],
                        )
                        for (_, ranker), system_run in zip(systems, system_runs, strict=False)
                        if variants_of(ranker)
                    ]
        else:
            facts = {"passages": None, "coverage": coverage(qrels, questions, evaluated, None)}
            system_runs = runs
        evaluation = evaluate(
            qrels,
            evaluated,
            system_runs,
            measures,
            baseline=options["baseline"],
            draws=options["draws"] or DRAWS,
            seed=options["seed"],
            facts={
                "distillery": settings.DISTILLERY_VERSION,
                "qrels": options["qrels"].name,
                "queries": options["queries"].name,
                "read_as": {
                    "qrels": qrels.reading.as_json() if qrels.reading else None,
                    "queries": questions.reading.as_json() if questions.reading else None,
                    "runs": {each.run.name: each.run.reading.as_json() for each in runs if each.run.reading},
                },
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
            written |= report.run_files(out, [each.run for each in system_runs if each.milliseconds])
        if "json" in files:
            written[files["json"]] = lambda file: report.write_json(evaluation, file)
        if "per_query" in files:
            written[files["per_query"]] = lambda file: report.write_queries(evaluation, file)
        report.write_together(written)
        console = Console(highlight=False, width=None if self.stdout.isatty() else _WIDTH)
        with console.capture() as capture:
            console.print(tables(evaluation))
            for ablation in ablations:
                console.print(ablation_table(ablation))
        self.stdout.write(capture.get(), ending="")
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
        return next(self._ask_systems([(name, ranker)], haystack, questions, depth))

    def _ask_systems(
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
    text = _DEFAULT_SYSTEMS if options["systems"] is None else options["systems"]
    names = [name.strip() for name in _split_outside_brackets(text)]
    if not any(names):
        raise CommandError("--systems names none. Name some, such as bm25,balanced.")
    by_name: dict[str, Any] = {}
    for name in filter(None, names):
        if name in by_name:
            raise CommandError(f"--systems names {name} twice.")
        by_name[name] = ranker_named(name)
    return list(by_name.items())


def _check_ablation(systems: Sequence[tuple[str, Any]], *, requested: bool) -> None:
    """Before anything is searched: is there a system whose terms can be left out?"""
    if requested and not any(variants_of(ranker) for _, ranker in systems):
        raise CommandError(
            "--ablate leaves out terms of bm25, balanced or crown-2020, and --systems names none of them."
        )


def _split_outside_brackets(text: str) -> list[str]:
    """Parts between commas that are outside of brackets."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _runs(paths: Sequence[Path], *, used_names: Sequence[str]) -> "list[SystemRun]":
    """Runs under the names of their files."""

    system_runs: list[SystemRun] = []
    names = set(used_names)
    for path in paths:
        run = read_run(path)
        name, number = run.name, 1
        while name in names:
            number += 1
            name = f"{run.name} ({number})"
        names.add(name)
        notes = {_CONTRADICTED: run.contradicted} if run.contradicted else {}
        system_runs.append(SystemRun(Run(name, run.rankings, reading=run.reading), notes=notes))
    return system_runs


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
        value = natural(text)
        if not 1 <= value <= most:
            raise ArgumentTypeError(f"give a number from 1 to {most:,}")
        return value

    return number
