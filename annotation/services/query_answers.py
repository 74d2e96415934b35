"""Answers: recording them, moving on queries that have all of theirs, rewrites, and computing flags."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Length
from django.urls import reverse
from django.utils import timezone

from annotation import flag_checks
from annotation.flag_checks import RELATIVE, own_flags, relative_flags
from annotation.flags import Flag, FlaggedAnswer, FlagQuery, Work
from annotation.models import Answer, AnswerFlag, Query
from annotation.selectors.answers import Material, complete, incomplete_again, materials, unchecked_queries
from annotation.services.steps import move, reasons_by_query
from annotation.units import of_query
from annotation.writing_config import WritingConfig, writing_config
from crowd.errors import CrowdError
from crowd.models import Assignment, Stage


def record_answer(*, assignment: Assignment, query: int, response: dict[str, Any]) -> Answer:
    """Keep what a worker wrote; called in the transaction that stores the assignment's response."""
    return Answer.objects.create(
        stage=assignment.stage,
        assignment=assignment,
        worker=assignment.worker,
        query_id=query,
        text=response["text"],
        opinion=response.get("opinion", ""),
        entities=response.get("entities", []),
        created_at=assignment.stored_at or timezone.now(),
    )


#: Columns that moving a query on needs; the rows are read before the first is moved.
_NEEDED = ("pk", "status", "status_reason")


@dataclass(frozen=True, slots=True)
class AnsweringCounts:
    """How many queries got all their answers, and how many lack some again."""

    answered: int
    reopened: int


def bring_up_to_date(
    stage: Stage, queries: Collection[int] | None = None, *, why: str = "", actor: Any = None
) -> AnsweringCounts:
    """Move queries on that have all their answers, and back those whose answers no longer count.

    Called again, it changes nothing more. `queries` limits it to these, `why` says what made them lack one.
    Continuations of a dialogue are no references, so stages of that kind move no query.
    """
    if stage.kind != "distillation":
        return AnsweringCounts(0, 0)
    done, lacking = complete(stage), incomplete_again(stage)
    if queries is not None:
        done, lacking = done.filter(pk__in=queries), lacking.filter(pk__in=queries)
    answered = sum(
        move(
            query=query,
            to=Query.Status.ANSWERED,
            reason=f"It has {_answers(query.counted)}.",
            stage=stage,
            details={"answers": query.counted, "wanted": stage.redundancy},
        )
        for query in list(done.only(*_NEEDED))
    )
    reason = why or "Some of its answers no longer count."
    reopened = sum(
        move(
            query=query,
            to=Query.Status.CURATED,
            reason=f"It lacks {_answers(stage.redundancy - query.counted)}: {reason}",
            stage=stage,
            actor=actor,
            details={"answers": query.counted, "wanted": stage.redundancy},
        )
        for query in list(lacking.only(*_NEEDED))
    )
    return AnsweringCounts(answered, reopened)


@transaction.atomic
def reconsider_answers(stage: Stage, changed: Mapping[int, str]) -> None:
    """Bring queries up to date whose answers began or ceased to count: why, by assignment."""
    rows = Answer.objects.filter(stage=stage, assignment__in=changed, revises=None).order_by("pk")
    reasons = reasons_by_query(rows.values_list("query", "assignment"), changed)
    for query, why in reasons.items():
        bring_up_to_date(stage, [query], why=why)


def _answers(count: int) -> str:
    return "one answer" if count == 1 else f"{count} answers"


# An answer is written again: a row of its own takes the place of the old one, which stays.
# A link to a rewrite is signed for one answer.

_SALT = "annotation.rewrites"
#: Days for which a link to a rewrite works.
REWRITE_DAYS = 14


def write_rewrite_token(answer: int) -> str:
    """The token of an answer."""
    return signing.dumps(answer, salt=_SALT)


def rewrite_address(answer: int) -> str:
    """Where its author writes it again; whole, for a message."""
    return f"{settings.TASK_URL}{reverse('rewriting:rewrite', args=[write_rewrite_token(answer)])}"


def read_rewrite_token(token: str) -> int | None:
    """The answer of a token; None where it is not ours or too old."""
    try:
        answer = signing.loads(token, salt=_SALT, max_age=REWRITE_DAYS * 24 * 3600)
    except (signing.BadSignature, ValueError):
        return None
    return answer if isinstance(answer, int) else None


class NotAskedError(CrowdError):
    """Nobody waits for this rewrite: it came already, or the reviewer decided otherwise."""


def rewrite_answer(*, answer: Answer, response: dict[str, Any]) -> Answer:
    """Store what its author wrote again; once. Nothing is paid again.

    Raises NotAskedError where the answer does not wait for it.
    """
    with transaction.atomic():
        waits = Answer.objects.filter(pk=answer.pk, state=Answer.State.REWRITE)
        if not waits.update(state=Answer.State.REPLACED):
            raise NotAskedError("This answer does not wait to be written again.")
        new = Answer.objects.create(
            stage=answer.stage,
            assignment=answer.assignment,
            worker=answer.worker,
            query=answer.query,
            text=response["text"],
            opinion=response.get("opinion", ""),
            entities=response.get("entities", []),
            revises=answer,
            created_at=timezone.now(),
        )
        bring_up_to_date(answer.stage, [answer.query_id])
    compute_flags(answer.stage, [answer.query_id])
    return new


# Flags: what checks notice about answers, computed for many queries at a time.

#: Queries whose answers are in memory at the same time.
_BATCH = 50


def compute_new_flags(stage: Stage) -> int:
    """Compute the flags of every query with an answer that was not checked yet; the number of queries."""
    queries = unchecked_queries(stage)
    for start in range(0, len(queries), _BATCH):
        compute_flags(stage, queries[start : start + _BATCH])
    return len(queries)


def compute_flags(stage: Stage, queries: Collection[int]) -> None:
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
    flags: dict[int, list[Flag]] = {}
    for query, material in materials(list(by_query)).items():
        flags |= _flags(stage, config, material, by_query[query], works)
    _store(flags, fresh)


def _flags(
    stage: Stage,
    config: WritingConfig,
    material: Material,
    answers: Iterable[Answer],
    works: Mapping[int, Work],
) -> dict[int, list[Flag]]:
    """All flags of answers that were not checked yet, and the relative ones of the others."""
    flag_query = FlagQuery(material.query.text, config.sources(material), stage.project.language)
    limits = config.limits()
    canary = canary_phrase(stage, material) if config.canary else ""
    fresh, written = [], []
    for answer in answers:
        each = FlaggedAnswer(
            key=answer.pk,
            author=answer.worker_id,
            text=answer.text,
            work=works.get(answer.assignment_id) if answer.revises_id is None else None,
            canary=canary,
        )
        written.append(each)
        if answer.checked_at is None:
            fresh.append(each)
    flags_by_answer = relative_flags(written, limits)
    for key, flags in own_flags(flag_query, fresh, limits, check_language=config.check_language).items():
        flags_by_answer[key].extend(flags)
    return flags_by_answer


def canary_phrase(stage: Stage, material: Material) -> str:
    """The two words that the hidden line of a unit asks for."""
    texts = (material.query.text, *(passage.text for passage in material.passages))
    return flag_checks.phrase(f"{stage.seed}:{of_query(material.query.pk)}", texts)


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
def _store(flags_by_answer: Mapping[int, list[Flag]], fresh: Collection[int]) -> None:
    """Keep what was found; of answers that were checked before, only relative flags may go."""
    now = timezone.now()
    keep = {(answer, flag.name) for answer, flags in flags_by_answer.items() for flag in flags}
    earlier_flags = AnswerFlag.objects.filter(answer__in=flags_by_answer).values_list("pk", "answer", "name")
    gone = [
        pk
        for pk, answer, name in earlier_flags
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
            for answer, flags in flags_by_answer.items()
            for flag in flags
        ],
        update_conflicts=True,
        unique_fields=["answer", "name"],
        update_fields=["value", "limit", "evidence"],
    )
    Answer.objects.filter(pk__in=flags_by_answer).update(checked_at=now)
