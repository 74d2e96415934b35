"""People and work for tests of the worker site, made by the marketplace's own services."""

from datetime import datetime, timedelta
from unittest import mock

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from marketplace import clock, ids
from marketplace.accounts import people
from marketplace.lifecycle import assignments, hits, review
from marketplace.lifecycle import feedback as voices
from marketplace.lifecycle.hits import TypeProperties
from marketplace.models import (
    HIT,
    Bonus,
    HITType,
    Holding,
    Letter,
    QualificationRequest,
    QualificationType,
    Rating,
    Requester,
    Worker,
)
from marketplace.money import deposits
from marketplace.qualifications import grants
from marketplace.qualifications.eligibility import Requirement
from marketplace.qualifications.grants import QualificationTest
from tests.clients import external_question

TASK_PAGE = "https://tasks.example.org/unit?id=7"


def make_requester(
    name: str = "Answer Lab", *, dollars: int = 10_000, owner: User | None = None
) -> Requester:
    """Somebody with money to spend."""
    requester, _ = people.create_requester(name=name, owner=owner)
    return deposits.deposit(requester=requester, cents=dollars * 100) if dollars else requester


def make_worker(username: str = "rosa", **facts: object) -> Worker:
    """A person with a login who works; the user is `worker.user`."""
    return Worker.objects.create(
        worker_id=f"A{username.upper()}",
        name=username,
        user=User.objects.create_user(username, password="still warm copper"),
        created_at=timezone.now(),
        **facts,
    )


def make_group(
    requester: Requester,
    title: str = "Answer a question",
    *,
    description: str = "Read two passages and answer in your own words.",
    keywords: str = "answers, reading, english",
    reward_cents: int = 15,
    duration_s: int = 1800,
    auto_approval_s: int = 3 * 86_400,
    requirements: list[Requirement] | None = None,
) -> HITType:
    """A HIT type without HITs."""
    return hits.create_hit_type(
        requester=requester,
        properties=TypeProperties(
            title=title,
            description=description,
            keywords=keywords,
            reward_cents=reward_cents,
            duration_s=duration_s,
            auto_approval_s=auto_approval_s,
            requirements=requirements or [],
        ),
        now=clock.now(),
    )


def post(
    hit_type: HITType,
    *,
    places: int = 1,
    lifetime_s: int = 7 * 86_400,
    url: str = TASK_PAGE,
    frame_height: int = 600,
    question: str = "",
    at: datetime | None = None,
) -> HIT:
    """A HIT of this type, open to workers."""
    hit_type.requester.refresh_from_db()
    with transaction.atomic():
        return hits.create_hit(
            hit_id=ids.new_entity_id(),
            hit_type=hit_type,
            question=question or external_question(url, height=frame_height),
            max_assignments=places,
            lifetime_s=lifetime_s,
            annotation="",
            now=at or clock.now(),
        )


def take(worker: Worker, hit: HIT) -> Holding:
    """The worker accepts the HIT."""
    return assignments.accept(worker=worker, hit=hit)


def submit(holding: Holding, answer: str = "Blue.") -> Holding:
    """The worker's task page posts an answer."""
    return assignments.submit(holding=holding, fields=[("answer", answer)])


def do(worker: Worker, hit: HIT) -> Holding:
    """Accept and submit."""
    return submit(take(worker, hit))


def approve(holding: Holding, feedback: str | None = None) -> Holding:
    """The requester approves."""
    return review.approve(holding=holding, feedback=feedback, override=False, now=clock.now())


def reject(holding: Holding, feedback: str) -> Holding:
    """The requester rejects."""
    return review.reject(holding=holding, feedback=feedback, now=clock.now())


def in_the_past(**ago: float) -> "mock._patch[object]":
    """Context in which the marketplace's clock stands so far back."""
    return mock.patch.object(clock, "now", lambda: timezone.now() - timedelta(**ago))


def make_qualification(
    requester: Requester,
    name: str,
    *,
    on_request: bool = False,
    test: QualificationTest | None = None,
    retry_delay_s: int | None = None,
) -> QualificationType:
    """A custom qualification of the requester."""
    return grants.create_qualification_type(
        requester=requester,
        name=name,
        description="Shows that you know your way around.",
        keywords="",
        status="Active",
        auto_granted=on_request,
        auto_granted_value=1,
        retry_delay_s=retry_delay_s,
        now=clock.now(),
        test=test,
    )


def ask(worker: Worker, kind: QualificationType) -> QualificationRequest:
    """The worker asks for a qualification, or begins its test."""
    return grants.ask(worker=worker, qualification_type=kind)


def needs(kind: QualificationType | str, comparator: str = "Exists", guards: str = "Accept") -> Requirement:
    """A requirement on a qualification, or on a system qualification by its id."""
    identity = kind if isinstance(kind, str) else kind.qualification_type_id
    return {"QualificationTypeId": identity, "Comparator": comparator, "ActionsGuarded": guards}


def rate(worker: Worker, hit_type: HITType, stars: int, words: str = "") -> Rating:
    """The worker, who has submitted a HIT of the group, rates it."""
    return voices.rate(worker=worker, hit_type=hit_type, stars=stars, comment=words, now=clock.now())


def write(
    worker: Worker,
    requester: Requester,
    subject: str = "A question",
    body: str = "Which of the two passages counts?",
    *,
    hit_type: HITType | None = None,
    assignment_id: str = "",
) -> Letter:
    """The worker writes to the requester."""
    return voices.write(
        worker=worker,
        requester=requester,
        subject=subject,
        body=body,
        hit_type=hit_type,
        assignment_id=assignment_id,
        now=clock.now(),
    )


def bonus(holding: Holding, cents: int, reason: str = "Well done.") -> Bonus:
    """The requester pays a bonus."""
    return review.send_bonus(
        holding=holding,
        worker_id=holding.worker.worker_id,
        cents=cents,
        reason=reason,
        now=clock.now(),
    )
