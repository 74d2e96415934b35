"""What workers say of a group of HITs, and to its requester; and what the requester answers."""

from datetime import datetime, timedelta

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.locks import lock_worker
from marketplace.models import HITType, Holding, Letter, Message, Rating, Requester, Worker

MOST_STARS = 5
MAX_COMMENT = 500
MAX_SUBJECT = 200
MAX_BODY = 4096
#: Letters of one worker in a day: to one requester, and to all of them.
LETTERS_A_DAY = 5
LETTERS_A_DAY_TO_ALL = 20
_DAY = timedelta(days=1)
#: The same letter once more within this time is a form that was sent twice.
_SENT_TWICE = timedelta(minutes=10)
NOT_WORKED = gettext_lazy("You can rate a group once you have submitted a HIT of it.")
CLOSED = gettext_lazy("This worker has closed the account and can no longer be written to.")


def may_rate(*, worker: Worker, hit_type: HITType) -> bool:
    """Those who submitted work of the group have an opinion of it, whatever became of the work."""
    return Holding.objects.filter(worker=worker, hit__hit_type=hit_type, state__in=Holding.ANSWERED).exists()


@transaction.atomic
def rate(*, worker: Worker, hit_type: HITType, stars: int, comment: str, now: datetime) -> Rating:
    """Keep a worker's opinion of a group, in place of the one they had."""
    if not 1 <= stars <= MOST_STARS:
        raise Refusal(
            "InvalidParameterValue",
            gettext("Choose from 1 to %(most_stars)s stars.") % {"most_stars": MOST_STARS},
        )
    if len(comment) > MAX_COMMENT:
        raise Refusal(
            "InvalidParameterValue",
            gettext("A rating has at most %(max_comment)s characters of words.")
            % {"max_comment": MAX_COMMENT},
        )
    worker = _open(worker)
    if not may_rate(worker=worker, hit_type=hit_type):
        raise Refusal("PermissionDeniedException", NOT_WORKED)
    rating, _ = Rating.objects.update_or_create(
        hit_type=hit_type, worker=worker, defaults={"stars": stars, "words": comment, "at": now}
    )
    return rating


def take_back(*, worker: Worker, hit_type: HITType) -> None:
    """Delete a worker's rating of a group; where there is none, nothing happens."""
    Rating.objects.filter(worker=worker, hit_type=hit_type).delete()


@transaction.atomic
def write(
    *,
    worker: Worker,
    requester: Requester,
    subject: str,
    body: str,
    now: datetime,
    hit_type: HITType | None = None,
    assignment_id: str = "",
) -> Letter:
    """Send a worker's letter to a requester; one that was sent a moment ago is not sent again.

    Raises Refusal where a text is missing or too long, or the worker wrote as much as one may in a day.
    """
    subject, body = " ".join(subject.split()), body.strip()
    _check(subject, body)
    worker = _open(worker)
    sent = Letter.objects.filter(worker=worker, sent_at__gt=now - _DAY)
    to_them = sent.filter(requester=requester)
    same = to_them.filter(
        subject=subject, body=body, assignment_id=assignment_id, sent_at__gt=now - _SENT_TWICE
    )
    if again := same.first():
        return again
    if to_them.count() >= LETTERS_A_DAY:
        raise Refusal(
            "TooManyLetters",
            gettext(
                "You have written %(letters_a_day)s messages to this requester in the last 24 "
                "hours, which is the limit. Wait for an answer, or write again tomorrow."
            )
            % {"letters_a_day": LETTERS_A_DAY},
        )
    if sent.count() >= LETTERS_A_DAY_TO_ALL:
        raise Refusal(
            "TooManyLetters",
            gettext(
                "You have written %(letters_a_day_to_all)s messages in the last 24 hours, "
                "which is the limit. Write again tomorrow."
            )
            % {"letters_a_day_to_all": LETTERS_A_DAY_TO_ALL},
        )
    return Letter.objects.create(
        requester=requester,
        worker=worker,
        hit_type=hit_type,
        assignment_id=assignment_id,
        subject=subject,
        body=body,
        sent_at=now,
    )


@transaction.atomic
def answer(*, letter: Letter, body: str) -> Message:
    """Put the requester's answer into the worker's inbox, and note that the letter has one."""
    body = body.strip()
    subject = letter.subject if letter.subject.startswith("Re: ") else f"Re: {letter.subject}"[:MAX_SUBJECT]
    _check(subject, body)
    worker = lock_worker(letter.worker_id)
    if worker.closed_at:
        raise Refusal("AccountClosed", CLOSED)
    now = clock.now()
    Letter.objects.filter(pk=letter.pk).update(answered_at=now)
    Letter.objects.filter(pk=letter.pk, read_at=None).update(read_at=now)
    return Message.objects.create(
        worker=worker,
        requester_id=letter.requester_id,
        answers=letter,
        subject=subject,
        body=body,
        sent_at=now,
    )


def mark_read(*, letter: Letter) -> None:
    """The requester has read a letter that needs no answer."""
    Letter.objects.filter(pk=letter.pk, read_at=None).update(read_at=clock.now())


def mark_unread(*, letter: Letter) -> None:
    """The requester wants to see a letter among the open ones again."""
    Letter.objects.filter(pk=letter.pk, answered_at=None).update(read_at=None)


def _open(worker: Worker) -> Worker:
    """The worker, locked, so that two of their letters or ratings are counted one after the other."""
    locked = lock_worker(worker.pk)
    if locked.closed_at:
        raise Refusal("AccountClosed", gettext("This account is closed."))
    return locked


def _check(subject: str, body: str) -> None:
    if not subject or not body:
        raise Refusal("InvalidParameterValue", gettext("Write a subject and a message."))
    if len(subject) > MAX_SUBJECT:
        raise Refusal(
            "InvalidParameterValue",
            gettext("A subject has at most %(max_subject)s characters.") % {"max_subject": MAX_SUBJECT},
        )
    if len(body) > MAX_BODY:
        raise Refusal(
            "InvalidParameterValue",
            gettext("A message has at most %(max_body)s characters.") % {"max_body": intcomma(MAX_BODY)},
        )
