"""The qualifications that the marketplace itself computes, as rows for lists; no table has them."""

from datetime import UTC, datetime

from marketplace.models import QualificationType
from marketplace.requirements import SYSTEM_QUALIFICATIONS

#: Before every custom type, so that lists by time begin with these.
_SINCE = datetime(2005, 11, 2, tzinfo=UTC)


def system_types() -> list[QualificationType]:
    """All of them, each with a primary key below those of every table."""
    return [
        QualificationType(
            pk=number - len(SYSTEM_QUALIFICATIONS),
            qualification_type_id=type_id,
            name=name,
            description=f"{name}, as the marketplace itself knows it. Use it in QualificationRequirements.",
            status=QualificationType.Status.ACTIVE,
            created_at=_SINCE,
        )
        for number, (type_id, name) in enumerate(SYSTEM_QUALIFICATIONS.items())
    ]


def is_system(row: QualificationType) -> bool:
    """Whether nobody made this type, and nobody can ask for it."""
    return row.requester_id is None
