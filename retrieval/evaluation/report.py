"""What an evaluation says: means of every system, tests against the baseline, what each term is worth; files.

Ablations leave out one term of a system each: its weight is 0, and the others keep their proportions and add
up to 1 again. Beside the weights stand the other query models (`current`, `cq1`, `cq2`, `cq2-unweighted`,
`cq3`), which change what is searched for as well. All variants of a system are compared with that system on
the same queries.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.files import atomic
from core.files.atomic import Write
from core.files.cells import cell
from metrics.metaeval.executor import BLOCK, blocks, count_draws, swaps
from metrics.metaeval.significance import holm
from retrieval.errors import EvaluationError
from retrieval.evaluation.measures import NamedMeasure, Qrels, Values, values
from retrieval.evaluation.questions import Question, Questions
from retrieval.evaluation.runs import Run, SystemRun, write_run
from retrieval.ranking.base import Ranker
from retrieval.ranking.bm25 import BM25
from retrieval.ranking.crown import Crown
from retrieval.ranking.parameters import MODELS

# Is one system better than another on the same queries? Paired tests (Smucker, Allan and Carterette 2007).
#
# - Student's paired t-test over queries.
# - The randomisation test (Fisher's): if both systems were the same, it would make no difference to swap
#   their values. Units are swapped with probability 1/2; p is the share of draws whose mean difference is at
#   least as far from 0 as the one observed, (1 + #) / (1 + draws), never 0. Few units are swapped in every
#   possible way. All turns of a conversation are one unit, as they share their topic.

DRAWS = 9_999
#: A draw this close to what was observed counts as far: the last bit of a sum must not decide.
CLOSE = 1e-10
_PURPOSE = "retrieval evaluation"
_LEVEL = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means, its 95 % interval by Student's t, and what the two tests say.

    None, where a test is not defined; `reason` says why. `units`: what was swapped.
    """

    difference: float
    interval: tuple[float, float] | None
    better: int
    worse: int
    equal: int
    t: float | None
    t_p: float | None
    randomisation_p: float | None
    units: int
    draws: int
    reason: str = ""
    t_p_holm: float | None = None
    randomisation_p_holm: float | None = None


def paired(
    systems: Sequence[Floats],
    baseline: Floats,
    units: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[MeanDifference]:
    """Each system's (queries,) values against the baseline's; corrected by Holm over the systems.

    `units` names what each query is swapped with.
    """
    if not systems:
        return []
    differences = np.stack([values - baseline for values in systems], axis=1)
    order = {name: number for number, name in enumerate(dict.fromkeys(units))}
    sums = np.zeros((len(order), len(systems)))
    np.add.at(sums, [order[name] for name in units], differences)
    ps, draws_made = _randomised(sums, draws, seed)
    comparisons = [
        _one(differences[:, at], float(ps[at]), len(order), draws_made) for at in range(len(systems))
    ]
    ts, rs = holm([each.t_p for each in comparisons]), holm([each.randomisation_p for each in comparisons])
    return [
        replace(each, t_p_holm=t, randomisation_p_holm=r)
        for each, t, r in zip(comparisons, ts, rs, strict=True)
    ]


def _one(differences: Floats, p: float, units: int, draws: int) -> MeanDifference:
    from scipy import stats  # takes a second to import

    n, mean = len(differences), float(differences.mean())
    signs = [int((differences > CLOSE).sum()), int((differences < -CLOSE).sum())]
    counts = (signs[0], signs[1], n - sum(signs))
    if not any(signs):
        reason = "both have the same value on every query"
        return MeanDifference(mean, (0.0, 0.0), *counts, None, None, 1.0, units, draws, reason)
    if n < 2:
        return MeanDifference(mean, None, *counts, None, None, p, units, draws, "there is one query only")
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    if error < CLOSE:
        reason = "the difference is the same on every query, which Student's t does not know"
        return MeanDifference(mean, (mean, mean), *counts, None, None, p, units, draws, reason)
    t = mean / error
    half = float(stats.t.ppf((1 + _LEVEL) / 2, n - 1)) * error
    t_p = float(2 * stats.t.sf(abs(t), n - 1))
    return MeanDifference(mean, (mean - half, mean + half), *counts, t, t_p, p, units, draws)


def _randomised(sums: Floats, draws: int, seed: int) -> tuple[Floats, int]:
    """p of each column of (units, systems) sums, and how many draws there were."""
    observed = np.abs(sums.sum(axis=0)) - CLOSE
    units = len(sums)
    if 2**units <= draws:
        signs = np.array(list(product((1.0, -1.0), repeat=units)))
        far = np.abs(signs @ sums) >= observed
        return far.mean(axis=0), len(signs)
    extreme = np.zeros(sums.shape[1], np.int64)
    for block in blocks(draws):
        total = np.zeros((BLOCK, sums.shape[1]))
        for part, swapped in swaps(seed, _PURPOSE, block, units):
            total += (1 - 2 * swapped) @ sums[part]
        extreme += (np.abs(total[: count_draws(draws, block)]) >= observed).sum(axis=0)
    return (1 + extreme) / (1 + draws), draws


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
    with_judgments = [each for each in questions.questions if each.id in qrels.grades]
    if not with_judgments:
        raise EvaluationError(
            "None of the queries is judged. Ids of queries are such as "
            f"{_examples(each.id for each in questions.questions)}; ids in the judgments are such as "
            f"{_examples(qrels.grades)}."
        )
    if answerable:
        with_judgments = [each for each in with_judgments if qrels.relevant(each.id)]
        if not with_judgments:
            raise EvaluationError("No query has a relevant passage: all grades are 0 or less.")
    return with_judgments


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
    values_by_system = {each.run.name: values(measures, qrels, each.run.rankings, ids) for each in systems}
    others = [name for name in names if name != baseline]
    units = [each.conversation for each in questions]
    comparisons = []
    for measure in measures:
        tests = paired(
            [values_by_system[name][measure.name] for name in others],
            values_by_system[baseline][measure.name],
            units,
            draws=draws,
            seed=seed,
        )
        comparisons += [(name, measure.name, test) for name, test in zip(others, tests, strict=True)]
    return Evaluation(
        questions, measures, systems, baseline, values_by_system, comparisons, draws, seed, facts or {}
    )


def coverage(
    qrels: Qrels,
    questions: Questions,
    evaluated: Sequence[Question],
    find_known: Callable[[set[str]], set[str]] | None,
) -> dict[str, Any]:
    """What judgments, queries and passages have in common, and what not: counts and examples.

    `find_known` gives the ids that passages have; None where there are only runs.
    """
    ids = {each.id for each in questions.questions} | set(questions.without)
    named = [each.id for each in questions.questions if each.id in qrels.grades]
    grades = {each.id: qrels.grades[each.id] for each in evaluated}
    facts: dict[str, Any] = {
        "queries": len(questions.questions) + len(questions.without),
        "evaluated": len(evaluated),
        "repeated_turns": questions.repeated,
        "conversations": len({each.conversation for each in evaluated}),
        "without_field": _counted(questions.without),
        "not_judged": _counted(each.id for each in questions.questions if each.id not in qrels.grades),
        "judged_queries": len(qrels.grades),
        "judgments": qrels.judgments,
        "repeated_judgments": qrels.repeated,
        "judged_without_query": _counted(query for query in qrels.grades if query not in ids),
        "without_relevant": _counted(query for query in named if not qrels.relevant(query)),
    }
    if find_known is not None:
        passages = {passage for of_query in grades.values() for passage in of_query}
        gone = passages - find_known(passages)
        lost = sum(
            grade > 0
            for of_query in grades.values()
            for passage, grade in of_query.items()
            if passage in gone
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
    listed_ids = list(ids)
    return {"count": len(listed_ids), "examples": listed_ids[:_EXAMPLES]}


def _examples(ids: Any) -> str:
    return ", ".join(map(repr, list(ids)[:_EXAMPLES]))


# Files of an evaluation: JSON, values of single queries, runs. All are written, or none.

_UNSAFE = re.compile(r"[^\w.=-]+")
_READABLE = 0o644


def write_json(evaluation: Evaluation, file: IO[bytes]) -> None:
    """Everything but the values of single queries."""
    text = json.dumps(as_json(evaluation), ensure_ascii=False, indent=2, default=str, allow_nan=False)
    file.write(text.encode("utf-8", "replace") + b"\n")


def write_queries(evaluation: Evaluation, file: IO[bytes]) -> None:
    """A row per query and system, as CSV in UTF-8: query, conversation, system, a column per measure.

    An id that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    names = [measure.name for measure in evaluation.measures]
    writer.writerow(["query", "conversation", "system", *names])
    for at, question in enumerate(evaluation.questions):
        for each in evaluation.systems:
            values = evaluation.values[each.run.name]
            about = (question.id, question.conversation, each.run.name)
            writer.writerow([*map(cell, about), *(repr(float(values[name][at])) for name in names)])
    text.detach()


def run_files(folder: Path, runs: Sequence[Run]) -> dict[Path, Write]:
    """A TREC run file for each run, named after it."""
    names: dict[str, Run] = {}
    for run in runs:
        stem = _UNSAFE.sub("-", run.name).strip("-.") or "run"
        name, number = stem, 1
        while name.lower() in names:
            number += 1
            name = f"{stem}-{number}"
        names[name.lower()] = run
    return {folder / f"{name}.run": partial(_write_run, run) for name, run in names.items()}


def write_together(files: Mapping[Path, Write]) -> None:
    """Write all files or none; EvaluationError names one that cannot be written."""
    try:
        atomic.write_together(files, mode=_READABLE)
    except atomic.FileWriteError as error:
        raise EvaluationError(str(error)) from error


def _write_run(run: Run, file: IO[bytes]) -> None:
    write_run(file, run)


Kind = Literal["weight", "query model"]


@dataclass(frozen=True)
class Variant:
    """A system with one thing changed: a weight left out, or another query model."""

    kind: Kind
    part: str
    ranker: Ranker

    @property
    def change(self) -> str:
        """What was changed, in words: without node, with cq1."""
        return f"{'without' if self.kind == 'weight' else 'with'} {self.part}"


@dataclass(frozen=True)
class Ablation:
    """The variants of one system, and how they did against it."""

    system: str
    variants: Sequence[Variant]
    evaluation: Evaluation

    def run_name(self, variant: Variant) -> str:
        """What a variant is called in the evaluation."""
        return variant_name(self.system, variant)

    def as_json(self) -> dict[str, Any]:
        """A row for each variant: its means, and by measure its difference from the whole system."""
        names = [measure.name for measure in self.evaluation.measures]
        rows = []
        for variant in self.variants:
            run = self.run_name(variant)
            tests = {name: self.evaluation.of(run, name) for name in names}
            rows.append(
                {
                    "change": variant.change,
                    "kind": variant.kind,
                    "part": variant.part,
                    "ranker": variant.ranker.name,
                    "means": {name: self.evaluation.mean(run, name) for name in names},
                    "differences": {name: asdict(test) for name, test in tests.items() if test is not None},
                }
            )
        means = {name: self.evaluation.mean(self.system, name) for name in names}
        return {"system": self.system, "means": means, "rows": rows}


def variant_name(system: str, variant: Variant) -> str:
    """A variant as a run is called."""
    return f"{system} {variant.change}"


def variants_of(ranker: Ranker) -> list[Variant]:
    """All variants of a system of CROWN or of BM25; of others there are none.

    A weight that is 0 already cannot be left out, nor can the only one.
    """
    if isinstance(ranker, BM25):
        return [Variant("query model", model, BM25(model)) for model in MODELS if model != ranker.query_model]
    if not isinstance(ranker, Crown):
        return []
    parameters = ranker.parameters
    variants = [
        Variant("weight", name, Crown(replace(parameters, weights=weights)))
        for name, weight in parameters.weights.items()
        if weight > 0 and (weights := without_weight(parameters.weights, name))
    ]
    variants += [
        Variant("query model", model, Crown(replace(parameters, query_model=model)))
        for model in MODELS
        if model != parameters.query_model
    ]
    return variants


def without_weight(weights: Mapping[str, float], name: str) -> dict[str, float]:
    """Weights with one at 0; the others add up to 1 in their proportions. {} where none is left."""
    rest = math.fsum(value for other, value in weights.items() if other != name)
    if rest <= 0:
        return {}
    return {other: 0.0 if other == name else value / rest for other, value in weights.items()}


def ablate(
    full_run: SystemRun,
    ranker: Ranker,
    ask_variant: Callable[[str, Ranker], SystemRun],
    qrels: Qrels,
    questions: Sequence[Question],
    *,
    measures: Sequence[NamedMeasure],
    kinds: Sequence[Kind] = ("weight", "query model"),
    draws: int = DRAWS,
    seed: int = 0,
) -> Ablation:
    """Ask every variant and compare it with the whole system, whose run is there already.

    `ask_variant` asks a ranker all questions under a name. EvaluationError for a system without terms.
    """
    variants = [variant for variant in variants_of(ranker) if variant.kind in kinds]
    system = full_run.run.name
    if not variants:
        raise EvaluationError(
            f"{system} has no terms that could be left out: ablations are of bm25, balanced and crown-2020."
        )
    runs = [ask_variant(variant_name(system, variant), variant.ranker) for variant in variants]
    evaluation = evaluate(
        qrels, questions, [full_run, *runs], measures, baseline=system, draws=draws, seed=seed
    )
    return Ablation(system, variants, evaluation)
