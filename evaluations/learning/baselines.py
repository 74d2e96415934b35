"""The material as human scores and scores of metrics that need no training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluations.choices import MetricChoice, choose, scoring_processes
from evaluations.learning.sources import ALL, Material
from evaluations.scores import Progress, scored
from evaluations.tables.first_pass import AnswerColumns, gather
from metrics.metaeval.data import ScoredAnswers

NO_SYSTEMS = (
    "No table says which system gave an answer: all are taken to be of one system, so nothing can be said of "
    "systems. If a column does, name it: --column system=NAME."
)
_SMALL = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class StudyScores:
    """Human scores and scores of untrained metrics, `titles` of these, the scale, notes for the reader."""

    judged: ScoredAnswers
    titles: dict[str, str]
    scale: tuple[float, float]
    profile: str
    notes: list[str]


def measured(
    material: Material,
    metrics: Sequence[str],
    *,
    profile: str = "default",
    tokeniser: str = "",
    processes: int = 0,
    progress: Progress | None = None,
) -> StudyScores:
    """Scores the material; a question of the statistics is a context. Errors as `choose` has them."""
    table = material.table
    chosen: MetricChoice = choose(table, metrics=metrics, profile=profile, tokeniser=tokeniser)
    gathered = _by_context(gather(table), material)
    found = scored(
        table,
        gathered,
        chosen.metrics,
        chosen.tokeniser,
        processes=scoring_processes(processes, chosen, small=len(material) * len(chosen.metrics) < _SMALL),
        progress=progress,
    )
    judged = gathered.judged(
        found.values,
        signatures={metric.name: metric.signature for metric in chosen.metrics},
        lengths=found.lengths,
        reference_lengths=found.reference_lengths,
    )
    titles = {metric.name: metric.title for metric in chosen.metrics}
    return StudyScores(judged, titles, gathered.scale, chosen.profile, [*gathered.notes, *chosen.notes])


def _by_context(gathered: AnswerColumns, material: Material) -> AnswerColumns:
    """What was gathered, with contexts for questions and no systems but those that are named."""
    size = int(material.contexts.max()) + 1
    names = [""] * size
    for context, example in zip(material.contexts.tolist(), material.examples, strict=True):
        names[context] = example.key
    gathered = replace(gathered, questions=material.contexts, question_names=names, raters=None)
    if material.has_systems:
        return gathered
    notes = [*(each for each in gathered.notes if "column for the system" not in each), NO_SYSTEMS]
    return replace(
        gathered,
        systems=np.zeros(len(gathered), dtype=np.int32),
        system_names=[ALL],
        inferred=False,
        notes=notes,
    )
