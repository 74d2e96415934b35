"""An answer is written again: a row of its own takes the place of the old one, which stays."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Answer
from annotation.services.flags import check
from annotation.services.query_answers import bring_up_to_date
from crowd.errors import CrowdError


class NotAskedError(CrowdError):
    """Nobody waits for this rewrite: it came already, or the reviewer decided otherwise."""


def rewrite(*, answer: Answer, response: dict[str, Any]) -> Answer:
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
    check(answer.stage, [answer.query_id])
    return new
