"""Computing what the checks notice about answers, many at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotation.flags import suite
from annotation.flags.registry import Flag, FlaggedAnswer, FlagQuery, Work
from annotation.flags.suite import RELATIVE, own_flags, relative_flags
from annotation.kinds.distillation_config import WritingConfig, writing_config
from annotation.models import Answer, AnswerFlag
from annotation.selectors.material import Material, materials
from annotation.units import of_query
from crowd.models import Assignment, Stage

#: Queries whose answers are in memory at the same time.
_BATCH = 50


def check_new(stage: Stage) -> int:
    """Compute the flags of every query with an answer that was not checked yet; the number of queries."""
    fresh = Answer.objects.filter(stage=stage, checked_at=None).order_by("query").values_list("query")
    queries = [query for (query,) in fresh.distinct()]
    for start in range(0, len(queries), _BATCH):
        check(stage, queries[start : start + _BATCH])
    return len(queries)


def check(stage: Stage, queries: Collection[int]) -> None:
    """Compute the flags of answers to these queries that were not checked, and what that changes for others.

    Excluded answers are compared too, replaced ones are not.
    """
    config = writing_config(stage)
    answers = list(
        Answer.objects.filter(stage=stage, query__in=queries)
        .exclude(state=Answer.State.REPLACED)
        .order_by("pk")
    )
    fresh = {answer.pk for answer in answers if answer.checked_at is None}
    works = _works({answer.assignment_id for answer in answers if answer.pk in fresh})
    by_query: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_query[answer.query_id].append(answer)
    found: dict[int, list[Flag]] = {}
    for query, material in materials(list(by_query)).items():
        found |= _flags(stage, config, material, by_query[query], works)
    _store(found, fresh)


def _flags(
    stage: Stage,
    config: WritingConfig,
    material: Material,
    answers: Iterable[Answer],
    works: Mapping[int, Work],
) -> dict[int, list[Flag]]:
    """All flags of answers that were not checked yet, and the relative ones of the others."""
    asked = FlagQuery(material.query.text, config.sources(material), stage.project.language)
    limits = config.limits()
    words = canary_phrase(stage, material) if config.canary else ""
    fresh, written = [], []
    for answer in answers:
        each = FlaggedAnswer(
            key=answer.pk,
            author=answer.worker_id,
            text=answer.text,
            work=works.get(answer.assignment_id) if answer.revises_id is None else None,
            canary=words,
        )
        written.append(each)
        if answer.checked_at is None:
            fresh.append(each)
    found = relative_flags(written, limits)
    for key, flags in own_flags(asked, fresh, limits, check_language=config.check_language).items():
        found[key].extend(flags)
    return found


def canary_phrase(stage: Stage, material: Material) -> str:
    """The two words that the hidden line of a unit asks for."""
    known = (material.query.text, *(passage.text for passage in material.passages))
    return suite.phrase(f"{stage.seed}:{of_query(material.query.pk)}", known)


def _works(assignments: Collection[int]) -> dict[int, Work]:
    """What the task page measured of assignments, with the length of all they wrote at first."""
    lengths = dict(
        Answer.objects.filter(assignment__in=assignments, revises=None)
        .order_by()
        .values_list("assignment")
        .annotate(characters=Sum(Length("text")))
    )
    rows = Assignment.objects.filter(pk__in=assignments).values_list("pk", "telemetry")
    return {
        pk: Work(
            characters=lengths.get(pk, 0),
            active_ms=_count(telemetry, "active_ms"),
            pasted_characters=_count(telemetry, "pasted_characters"),
            keystrokes=_count(telemetry, "keystrokes"),
        )
        for pk, telemetry in rows
        if telemetry
    }


def _count(telemetry: Mapping[str, Any], name: str) -> int | None:
    value = telemetry.get(name)
    return value if isinstance(value, int) else None


@transaction.atomic
def _store(found: Mapping[int, list[Flag]], fresh: Collection[int]) -> None:
    """Keep what was found; of answers that were checked before, only relative flags may go."""
    now = timezone.now()
    keep = {(answer, flag.name) for answer, flags in found.items() for flag in flags}
    there = AnswerFlag.objects.filter(answer__in=found).values_list("pk", "answer", "name")
    gone = [
        pk
        for pk, answer, name in there
        if (answer, name) not in keep and (answer in fresh or name in RELATIVE)
    ]
    AnswerFlag.objects.filter(pk__in=gone).delete()
    AnswerFlag.objects.bulk_create(
        [
            AnswerFlag(
                answer_id=answer,
                name=flag.name,
                value=flag.value,
                limit=flag.limit,
                evidence=dict(flag.evidence),
                created_at=now,
            )
            for answer, flags in found.items()
            for flag in flags
        ],
        update_conflicts=True,
        unique_fields=["answer", "name"],
        update_fields=["value", "limit", "evidence"],
    )
    Answer.objects.filter(pk__in=found).update(checked_at=now)
