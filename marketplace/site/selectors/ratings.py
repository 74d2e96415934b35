"""Ratings of HIT groups as others may see them: a mean, once enough people have rated."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Count, OuterRef, QuerySet

from marketplace.models import HITType, Rating

#: Ratings below which a mean would tell who thinks what.
SHOWN_FROM = 3


@dataclass(frozen=True, slots=True)
class Opinion:
    """What those who worked on a group think of it."""

    mean: float
    count: int

    @property
    def words(self) -> str:
        """The mean as it is written: one digit after the point."""
        return f"{self.mean:.1f}"


def opinions(hit_types: Iterable[HITType]) -> dict[int, Opinion]:
    """Opinions by primary key of the HIT type, in one query; groups with few ratings have none."""
    rows = (
        Rating.objects.filter(hit_type__in=list(hit_types))
        .order_by()
        .values("hit_type")
        .annotate(mean=Avg("stars"), count=Count("pk"))
        .filter(count__gte=SHOWN_FROM)
    )
    return {row["hit_type"]: Opinion(row["mean"], row["count"]) for row in rows}


def opinion(hit_type: HITType) -> Opinion | None:
    """Opinion of one group."""
    return opinions([hit_type]).get(hit_type.pk)


def means() -> QuerySet[Any, Any]:
    """Mean of the HIT type of the outer query, for ordering; null where there are few ratings."""
    rows = Rating.objects.filter(hit_type=OuterRef("pk")).order_by().values("hit_type")
    shown = rows.annotate(count=Count("pk"), mean=Avg("stars")).filter(count__gte=SHOWN_FROM)
    return shown.values("mean")
