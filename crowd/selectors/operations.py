"""Operations for the pages."""

from django.db.models import QuerySet

from crowd.models import MarketOperation, Stage

State = MarketOperation.State


def needs_person(stage: Stage | None = None) -> QuerySet[MarketOperation]:
    """Operations that a person must decide about: nobody answered, and the list does not tell."""
    found = MarketOperation.objects.filter(needs_person=True, state=State.UNKNOWN).select_related(
        "stage__project", "endpoint", "hit", "assignment__worker"
    )
    return (found.filter(stage=stage) if stage else found).order_by("planned_at", "pk")


def recent(stage: Stage) -> QuerySet[MarketOperation]:
    """The stage's operations, newest first."""
    return (
        MarketOperation.objects.filter(stage=stage)
        .select_related("hit", "assignment__worker")
        .order_by("-planned_at", "-pk")
    )


def waiting(stage: Stage) -> int:
    """How many operations are not finished."""
    return MarketOperation.objects.filter(stage=stage).exclude(state__in=MarketOperation.FINAL).count()
