"""Whose session it is, looked up by SQL that is composed once; see `core.accounts.sessions`."""

from datetime import UTC, datetime
from functools import cache

from django.contrib.auth.backends import ModelBackend as DjangosBackend
from django.contrib.auth.models import User
from django.db import connection

from core.prepared_statements import execute_prepared

FIELDS = [field.attname for field in User._meta.concrete_fields]


class ModelBackend(DjangosBackend):
    """Django's own but for `get_user`."""

    def get_user(self, user_id: int) -> User | None:
        """The person, if they may still sign in."""
        with connection.cursor() as cursor:
            execute_prepared(cursor, _sql(connection.vendor), (int(user_id),))
            row = cursor.fetchone()
        user = User.from_db(connection.alias, FIELDS, [_aware(value) for value in row]) if row else None
        return user if user and self.user_can_authenticate(user) else None


@cache
def _sql(vendor: str) -> str:
    sql, parameters = User.objects.filter(pk=1).values_list(*FIELDS).query.sql_with_params()
    assert tuple(parameters) == (1,), f"{vendor} wants other parameters: {parameters}"
    return str(sql)


def _aware(value: object) -> object:
    """SQLite's driver gives times without their zone; everything stored is UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
