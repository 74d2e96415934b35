"""Messages to and from participants of a panel. What we write is an operation that is never repeated."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Endpoint, Group, MarketOperation, PanelMessage, PanelStudy, PanelSubmission, Stage
from crowd.outbox.planning import plan
from crowd.services.panels import panel_of

Kind = MarketOperation.Kind
#: Participants that one call writes to, and that one person's request may choose.
_AT_ONCE, MOST = 100, 1_000
#: What participants wrote is read again after so long.
_LOOK_EVERY = timedelta(minutes=5)
_LONGEST = 4096


@transaction.atomic
def write_to_participants(
    study: PanelStudy, participants: Sequence[str], *, text: str, actor: Any
) -> list[MarketOperation]:
    """Plan a message to participants who came to a study, a hundred in one call. Raises CrowdError."""
    _refuse_unready(study, text)
    known = PanelSubmission.objects.filter(study=study, participant__in=participants)
    chosen = sorted(set(known.values_list("participant", flat=True)))
    if not chosen:
        raise CrowdError("Nobody of them came to this study.")
    if len(chosen) > MOST:
        raise CrowdError(f"These are {len(chosen)} participants; one message goes to at most {MOST}.")
    stamp = timezone.now().isoformat(timespec="microseconds")
    at_once = _AT_ONCE if study.endpoint.protocol == Endpoint.Protocol.PROLIFIC else 1
    operations = [
        _plan(study, f"message {stamp} {start}", text, workers=chosen[start : start + at_once])
        for start in range(0, len(chosen), at_once)
    ]
    _log(study, text, actor, participants=len(chosen))
    return operations


@transaction.atomic
def write_to_group(study: PanelStudy, group: Group, *, text: str, actor: Any) -> MarketOperation:
    """Plan a message to all of a group that we keep at the panel. Raises CrowdError."""
    _refuse_unready(study, text)
    if group.endpoint_id != study.endpoint_id:
        raise CrowdError("This group is of another marketplace.")
    stamp = timezone.now().isoformat(timespec="microseconds")
    operation = _plan(study, f"message {stamp} group", text, workers=[], group=f"@{group.pk}")
    _log(study, text, actor, group=group.name)
    return operation


def _refuse_unready(study: PanelStudy, text: str) -> None:
    if not study.external_id:
        raise CrowdError("The study is not at the panel yet.")
    if not text.strip():
        raise CrowdError("A message needs words.")
    if len(text) > _LONGEST:
        raise CrowdError(f"A message has at most {_LONGEST} characters.")


def _plan(study: PanelStudy, purpose: str, text: str, **to: Any) -> MarketOperation:
    stage = study.stage
    return plan(
        kind=Kind.MESSAGE,
        endpoint=study.endpoint,
        stage=stage,
        target=f"stage:{stage.pk}",
        purpose=purpose,
        payload={"subject": "", "text": text.strip(), "study": study.external_id, **to},
    )


def _log(study: PanelStudy, text: str, actor: Any, **to: Any) -> None:
    stage = study.stage
    record(
        project=stage.project,
        action="participant.messaged",
        subject=stage.slug,
        actor=actor,
        details={**to, "text": text.strip()[:300]},
    )


def sync_messages(endpoint: Endpoint, *, force: bool = False) -> int:
    """Keep what participants wrote and the panel counts as unread; how many are new.

    Read every few minutes, one round for all studies of the endpoint. Raises MarketplaceDownError.
    """
    now = timezone.now()
    studies = PanelStudy.objects.filter(endpoint=endpoint).exclude(external_id="")
    due = studies if force else studies.exclude(messages_read_at__gt=now - _LOOK_EVERY)
    if not due.exists():
        return 0
    letters = panel_of(endpoint).unread_letters()
    by_ref = dict(studies.values_list("external_id", "pk"))
    known = set(
        PanelMessage.objects.filter(
            endpoint=endpoint, external_id__in=[letter.ref for letter in letters]
        ).values_list("external_id", flat=True)
    )
    made = PanelMessage.objects.bulk_create(
        [
            PanelMessage(
                endpoint=endpoint,
                study_id=by_ref.get(letter.study),
                external_id=letter.ref[:64],
                participant=letter.participant[:64],
                category=letter.category[:40],
                body=letter.body[:20_000],
                sent_at=letter.sent_at,
                received_at=now,
            )
            for letter in letters
            if letter.ref not in known
        ],
        ignore_conflicts=True,
    )
    studies.update(messages_read_at=now)
    return len(made)


def note_read(study: PanelStudy, *, keys: Sequence[int]) -> int:
    """Note messages of a study as read here; the panel keeps its own mark."""
    rows = received(study).filter(pk__in=keys, read_at=None)
    return rows.update(read_at=timezone.now())


def received(study: PanelStudy) -> QuerySet[PanelMessage]:
    """What was written about a study, or by somebody who came to it and named no other study."""
    came = PanelSubmission.objects.filter(study=study)
    rows = PanelMessage.objects.filter(endpoint=study.endpoint_id)
    mine = rows.filter(study=study) | rows.filter(study=None, participant__in=came.values("participant"))
    return mine.order_by("-sent_at", "-pk")


def sent(stage: Stage) -> QuerySet[MarketOperation]:
    """What was written to people of a stage, the newest first."""
    return MarketOperation.objects.filter(stage=stage, kind=Kind.MESSAGE).order_by("-planned_at", "pk")
