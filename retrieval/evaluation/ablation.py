"""Ablations: what every term of a system is worth on a judged set, each left out alone.

A weight that is left out is 0, and the others keep their proportions and add up to 1 again. Beside the
weights stand the other query models (`current`, `cq1`, `cq2`, `cq2-unweighted`, `cq3`), which change what is
searched for as well. All variants of a system are compared with that system on the same queries.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from retrieval.crown.conversation import MODELS
from retrieval.errors import EvaluationError
from retrieval.evaluation.measures import NamedMeasure, Qrels
from retrieval.evaluation.questions import Question
from retrieval.evaluation.report import DRAWS, Evaluation, evaluate
from retrieval.evaluation.runs import SystemRun
from retrieval.ranking.base import Ranker
from retrieval.ranking.bm25 import BM25
from retrieval.ranking.crown import Crown

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
    given = ranker.parameters
    found = [
        Variant("weight", name, Crown(replace(given, weights=weights)))
        for name, weight in given.weights.items()
        if weight > 0 and (weights := without_weight(given.weights, name))
    ]
    found += [
        Variant("query model", model, Crown(replace(given, query_model=model)))
        for model in MODELS
        if model != given.query_model
    ]
    return found


def without_weight(weights: Mapping[str, float], name: str) -> dict[str, float]:
    """Weights with one at 0; the others add up to 1 in their proportions. {} where none is left."""
    rest = math.fsum(value for other, value in weights.items() if other != name)
    if rest <= 0:
        return {}
    return {other: 0.0 if other == name else value / rest for other, value in weights.items()}


def ablate(
    whole: SystemRun,
    ranker: Ranker,
    asked: Callable[[str, Ranker], SystemRun],
    qrels: Qrels,
    questions: Sequence[Question],
    *,
    measures: Sequence[NamedMeasure],
    kinds: Sequence[Kind] = ("weight", "query model"),
    draws: int = DRAWS,
    seed: int = 0,
) -> Ablation:
    """Ask every variant and compare it with the whole system, whose run is there already.

    `asked` asks a ranker all questions under a name. EvaluationError for a system without terms.
    """
    variants = [variant for variant in variants_of(ranker) if variant.kind in kinds]
    system = whole.run.name
    if not variants:
        raise EvaluationError(
            f"{system} has no terms that could be left out: ablations are of bm25, balanced and crown-2020."
        )
    runs = [asked(variant_name(system, variant), variant.ranker) for variant in variants]
    evaluation = evaluate(qrels, questions, [whole, *runs], measures, baseline=system, draws=draws, seed=seed)
    return Ablation(system, variants, evaluation)
