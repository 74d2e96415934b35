"""A judge leaves the study: what they judged counts no more, and runs in force decide again without it."""

from django.db import transaction
from django.db.models import Q

from crowd.models import Assignment
from crowd.services.decisions import recount_all
from people.models import Guest
from people.withdrawal import AnswerHolder

_KINDS = ("judging", "judge-training")


class JudgedWork(AnswerHolder):
    """Judgments that a person gave."""

    def published_with(self, guest: Guest) -> list[str]:
        """Releases know what they hold."""
        return []

    @transaction.atomic
    def set_aside(self, guest: Guest) -> int:
        """Mark the person's judging as withdrawn; the stage's next round makes its filter run again."""
        mine = Assignment.objects.filter(
            Q(stage__kind__in=_KINDS),
            stage__project=guest.project_id,
            worker__external_id=guest.worker_id,
            withdrawn=False,
        )
        works = list(
            mine.select_for_update(no_key=True, of=("self",)).select_related("worker").order_by("pk")
        )
        Assignment.objects.filter(pk__in=[work.pk for work in works]).update(withdrawn=True)
        recount_all([work for work in works if work.stored_at is not None], "was withdrawn by the person")
        return len(works)
