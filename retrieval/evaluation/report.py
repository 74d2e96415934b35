"""What an evaluation says: means of every system, differences from the baseline, and what was left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from retrieval.errors import EvaluationError
from retrieval.evaluation.measures import NamedMeasure, Values, values
from retrieval.evaluation.qrels import Qrels
from retrieval.evaluation.questions import Question, Questions
from retrieval.evaluation.runs import SystemRun
from retrieval.evaluation.significance import DRAWS, MeanDifference, paired

#: Ids that are given as examples.
_EXAMPLES = 3
#: Notes of rankers that are kept for each; those on most queries.
_NOTES = 50


@dataclass(frozen=True)
class Evaluation:
    """Everything measured. `values[system][measure]` are (queries,) in the order of `questions`."""

    questions: Sequence[Question]
    measures: Sequence[NamedMeasure]
    systems: Sequence[SystemRun]
    baseline: str
    values: Mapping[str, Values]
    comparisons: Sequence[tuple[str, str, MeanDifference]]
    draws: int
    seed: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    def mean(self, system: str, measure: str) -> float:
        """The mean over all queries."""
        return float(self.values[system][measure].mean())

    def of(self, system: str, measure: str) -> MeanDifference | None:
        """Its test against the baseline."""
        return next(
            (test for name, what, test in self.comparisons if (name, what) == (system, measure)), None
        )


def judged_questions(qrels: Qrels, questions: Questions, *, answerable: bool = False) -> list[Question]:
    """Questions that have judgments, or, if `answerable`, a relevant passage; EvaluationError for none."""
    found = [each for each in questions.found if each.id in qrels.grades]
    if not found:
        raise EvaluationError(
            "None of the queries is judged. Ids of queries are such as "
            f"{_examples(each.id for each in questions.found)}; ids in the judgments are such as "
            f"{_examples(qrels.grades)}."
        )
    if answerable:
        found = [each for each in found if qrels.relevant(each.id)]
        if not found:
            raise EvaluationError("No query has a relevant passage: all grades are 0 or less.")
    return found


def evaluate(
    qrels: Qrels,
    questions: Sequence[Question],
    systems: Sequence[SystemRun],
    measures: Sequence[NamedMeasure],
    *,
    baseline: str = "",
    draws: int = DRAWS,
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Measure systems on judged questions and compare each with the baseline (the first, unless named)."""
    names = [each.run.name for each in systems]
    baseline = baseline or names[0]
    if baseline not in names:
        raise EvaluationError(
            f"There is no system {baseline!r} to compare with. There are: {', '.join(names)}."
        )
    ids = [each.id for each in questions]
    found = {each.run.name: values(measures, qrels, each.run.rankings, ids) for each in systems}
    others = [name for name in names if name != baseline]
    units = [each.conversation for each in questions]
    comparisons = []
    for measure in measures:
        tests = paired(
            [found[name][measure.name] for name in others],
            found[baseline][measure.name],
            units,
            draws=draws,
            seed=seed,
        )
        comparisons += [(name, measure.name, test) for name, test in zip(others, tests, strict=True)]
    return Evaluation(questions, measures, systems, baseline, found, comparisons, draws, seed, facts or {})


def coverage(
    qrels: Qrels,
    questions: Questions,
    asked: Sequence[Question],
    known: Callable[[set[str]], set[str]] | None,
) -> dict[str, Any]:
    """What judgments, queries and passages have in common, and what not: counts and examples.

    `known` gives the ids that passages have; None where there are only runs.
    """
    ids = {each.id for each in questions.found} | set(questions.without)
    named = [each.id for each in questions.found if each.id in qrels.grades]
    grades = {each.id: qrels.grades[each.id] for each in asked}
    facts: dict[str, Any] = {
        "queries": len(questions.found) + len(questions.without),
        "evaluated": len(asked),
        "repeated_turns": questions.repeated,
        "conversations": len({each.conversation for each in asked}),
        "without_field": _counted(questions.without),
        "not_judged": _counted(each.id for each in questions.found if each.id not in qrels.grades),
        "judged_queries": len(qrels.grades),
        "judgments": qrels.judgments,
        "repeated_judgments": qrels.repeated,
        "judged_without_query": _counted(query for query in qrels.grades if query not in ids),
        "without_relevant": _counted(query for query in named if not qrels.relevant(query)),
    }
    if known is not None:
        passages = {passage for found in grades.values() for passage in found}
        gone = passages - known(passages)
        lost = sum(
            grade > 0 for found in grades.values() for passage, grade in found.items() if passage in gone
        )
        facts["judged_passages"] = len(passages)
        facts["judged_not_among_passages"] = {**_counted(sorted(gone)), "relevant_judgments": lost}
    return facts


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """All of it as JSON, without the values of single queries."""
    names = [measure.name for measure in evaluation.measures]
    return {
        **evaluation.facts,
        "measures": {measure.name: str(measure.measure) for measure in evaluation.measures},
        "baseline": evaluation.baseline,
        "systems": [
            {
                "name": each.run.name,
                "ranker": each.ranker,
                "parameters": each.parameters,
                "generations": each.generations,
                "means": {name: evaluation.mean(each.run.name, name) for name in names},
                "nothing_found": sum(not each.run.rankings.get(q.id) for q in evaluation.questions),
                "without_a_word": each.wordless,
                "milliseconds": _times(each.milliseconds),
                "notes": dict(sorted((each.notes or {}).items(), key=lambda pair: -pair[1])[:_NOTES]),
            }
            for each in evaluation.systems
        ],
        "comparisons": [
            {"system": system, "baseline": evaluation.baseline, "measure": measure, **asdict(test)}
            for system, measure, test in evaluation.comparisons
        ],
        "tests": {
            "queries": len(evaluation.questions),
            "draws": evaluation.draws,
            "seed": evaluation.seed,
            "correction": "Holm over the systems of one measure",
            "unit": "conversation",
        },
        "versions": {name: version(name) for name in ("ir-measures", "numpy", "scipy", "tantivy")},
    }


def _times(milliseconds: Sequence[float]) -> dict[str, float] | None:
    if not milliseconds:
        return None
    times = sorted(milliseconds)
    return {"median": times[len(times) // 2], "p95": times[int(len(times) * 0.95)]}


def _counted(ids: Any) -> dict[str, Any]:
    found = list(ids)
    return {"count": len(found), "examples": found[:_EXAMPLES]}


def _examples(ids: Any) -> str:
    return ", ".join(map(repr, list(ids)[:_EXAMPLES]))
