"""Queries in every state, with what people said about them, made in the shortest way."""

import hashlib
import itertools

from django.utils import timezone

from annotation.models import (
    Answer,
    AnswerFlag,
    CandidatePassage,
    CuratedPassage,
    CuratedSet,
    PassageSelection,
    Query,
    QuerySource,
    ScreeningVote,
)
from crowd.models import Stage
from tests.desk.conftest import make_hit, make_work

_numbers = itertools.count(1)


def make_source(project, name="log.tsv", state="ready") -> QuerySource:
    return QuerySource.objects.create(
        project=project, name=name, format="tsv", state=state, created_at=timezone.now()
    )


def make_query(source, text="", **fields) -> Query:
    number = next(_numbers)
    text = text or f"how old is oak {number}"
    values = {"key": f"q{number}", "digest": hashlib.sha256(f"{number}".encode()).hexdigest(), "line": number}
    return Query.objects.create(project=source.project, source=source, text=text, **(values | fields))


def make_queries(source, **how_many) -> None:
    """So many queries in each status."""
    for status, count in how_many.items():
        for _ in range(count):
            make_query(source, status=status)


def _work(stage: Stage, **fields):
    number = next(_numbers)
    return make_work(make_hit(stage, external_id=f"3H{number}"), f"W{number}", **fields)


def make_vote(stage, query, work=None, **fields) -> ScreeningVote:
    values = {
        "unambiguous": True, "answerable": True, "intent": "informational",
        "sensitive": False, "adult": False,
    }  # fmt: skip
    work = work or _work(stage)
    return ScreeningVote.objects.create(stage=stage, assignment=work, query=query, **(values | fields))


def make_passage(query, rank, **fields) -> CandidatePassage:
    values = {"key": f"p{rank}", "text": f"Passage {rank}.", "title": f"Page {rank}"}
    return CandidatePassage.objects.create(query=query, rank=rank, **(values | fields))


def make_selection(stage, query, passages, **fields) -> PassageSelection:
    values = {"answerable": bool(passages), "passages": passages}
    return PassageSelection.objects.create(
        stage=stage, assignment=_work(stage), query=query, **(values | fields)
    )


def make_curated(query, stage, *passages) -> CuratedSet:
    made = CuratedSet.objects.create(query=query, stage=stage, rule="majority", created_at=timezone.now())
    for position, passage in enumerate(passages):
        CuratedPassage.objects.create(curated_set=made, candidate=passage, position=position)
    return made


def make_answer(stage, query, text="Very old.", flags=(), **fields) -> Answer:
    work = _work(stage)
    now = timezone.now()
    made = Answer.objects.create(
        stage=stage, assignment=work, worker=work.worker, query=query, text=text, created_at=now, **fields
    )
    for name in flags:
        AnswerFlag.objects.create(answer=made, name=name, value=0.8, limit=0.5, created_at=now)
    return made
