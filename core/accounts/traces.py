"""What is kept of people's tries to sign in: by django-axes, under the user name that was typed."""

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet


def sign_ins(user: User | None) -> QuerySet[Any]:
    """Successful sign-ins under this person's name, oldest first."""
    return _of(AccessLog, user)


def failed_sign_ins(user: User | None) -> QuerySet[Any]:
    """Failed tries under this person's name that still count, oldest first."""
    return _of(AccessAttempt, user)


def erase(user: User) -> None:
    """Forget the tries under this person's name, and the name where the admin noted changes of the user."""
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        table._default_manager.filter(username=user.get_username()).delete()
    of_user = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=of_user, object_id=str(user.pk)).update(
        object_repr="somebody who left", change_message=""
    )


def _of(table: type[Model], user: User | None) -> QuerySet[Any]:
    rows = table._default_manager.order_by("attempt_time", "pk")
    return rows.filter(username=user.get_username()) if user else rows.none()
