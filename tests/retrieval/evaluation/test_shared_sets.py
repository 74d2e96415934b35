"""The quality that benchmarks/RESULTS.md has, on the smallest judged set beside the project."""

from pathlib import Path

import pytest

from retrieval.evaluation.measures import parse_measures, read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.report import evaluate, judged_questions
from retrieval.evaluation.runs import FileHaystack, ask
from retrieval.ranking.folder import temporary_collection
from retrieval.ranking.systems import parse_system

SET = Path(__file__).resolve().parents[4] / "shared" / "data" / "retrieval" / "cast-wiki"

pytestmark = pytest.mark.only_on("shared")


def measured(queries, *systems):
    qrels = read_qrels(SET / "qrels.tsv")
    questions = judged_questions(qrels, read_questions(SET / queries), answerable=True)
    path = SET / "passages.jsonl"
    with temporary_collection(path) as collection:
        asked = [
            ask(parse_system(name), FileHaystack(path, collection), questions, 100, name=name)
            for name in systems
        ]
    return evaluate(qrels, questions, asked, parse_measures("nDCG@10"))


@pytest.mark.long
def test_balanced_loses_nothing_on_rewritten_questions_and_the_published_profile_does():
    found = measured("queries.jsonl", "bm25", "balanced", "crown-2020")
    assert len(found.questions) == 417
    assert found.mean("bm25", "nDCG@10") == pytest.approx(0.743, abs=0.002)
    assert found.mean("balanced", "nDCG@10") == pytest.approx(0.747, abs=0.005)
    assert found.mean("crown-2020", "nDCG@10") == pytest.approx(0.677, abs=0.01)
    assert found.of("crown-2020", "nDCG@10").randomisation_p_holm < 0.01


@pytest.mark.long
def test_earlier_turns_help_and_weighing_them_does_not_hurt():
    found = measured("conversations.jsonl", "bm25:cq2-unweighted", "bm25", "bm25:current")
    assert found.mean("bm25", "nDCG@10") >= found.mean("bm25:cq2-unweighted", "nDCG@10")
    assert found.mean("bm25:current", "nDCG@10") < 0.55 < found.mean("bm25", "nDCG@10")
