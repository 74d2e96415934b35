"""The assignment on the working page, read by SQL that is composed once per process.

Django takes 2.2 ms to compose the SQL of this join of five tables and its rows, and the database 0.1 ms to
run it. No page is opened more often, so this one query keeps its SQL. Change FIELDS, nothing else.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, models

from marketplace.models import HIT, HITType, Holding, Requester, Worker

#: What the page shows, by the path from the holding; other fields are loaded when asked for.
FIELDS: dict[str, tuple[type[models.Model], set[str]]] = {
    "": (Holding, {"id", "hit_id", "worker_id", "assignment_id", "state", "accepted_at", "deadline"}),
    "worker__": (Worker, {"id", "worker_id", "accept_next"}),
    "hit__": (HIT, {"id", "hit_id", "hit_type_id", "question", "reward_cents"}),
    "hit__hit_type__": (HITType, {"id", "type_id", "group_id", "requester_id", "title"}),
    "hit__hit_type__requester__": (Requester, {"id", "name"}),
}


def held(*, user_pk: int, hit_id: str, assignment_id: str) -> Holding | None:
    """The latest hold of this person on this assignment, with worker, HIT, HIT type and requester."""
    with connection.cursor() as cursor:
        cursor.execute(_sql(connection.vendor), (assignment_id, hit_id, user_pk))
        row = cursor.fetchone()
    return _objects(row) if row else None


@cache
def _sql(vendor: str) -> str:
    wanted = ("ASSIGNMENT", "HIT", 1)
    found = Holding.objects.filter(assignment_id=wanted[0], hit__hit_id=wanted[1], worker__user=wanted[2])
    columns = [f"{path}{name}" for path, (model, _) in FIELDS.items() for name in _names(model, path)]
    sql, parameters = found.order_by("-pk").values_list(*columns)[:1].query.sql_with_params()
    assert tuple(parameters) == wanted, f"{vendor} wants its parameters in another order: {parameters}"
    return str(sql)


@cache
def _names(model: type[models.Model], path: str) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if field.attname in FIELDS[path][1]]


def _objects(row: tuple[Any, ...]) -> Holding:
    values = iter(row)
    made = {
        path: model.from_db(connection.alias, names, [_aware(next(values)) for _ in names])
        for path, (model, _) in FIELDS.items()
        for names in [_names(model, path)]
    }
    holding, hit, hit_type = made[""], made["hit__"], made["hit__hit_type__"]
    assert isinstance(holding, Holding) and isinstance(hit, HIT) and isinstance(hit_type, HITType)
    Holding.worker.field.set_cached_value(holding, made["worker__"])
    Holding.hit.field.set_cached_value(holding, hit)
    HIT.hit_type.field.set_cached_value(hit, hit_type)
    HITType.requester.field.set_cached_value(hit_type, made["hit__hit_type__requester__"])
    return holding


def _aware(value: object) -> object:
    """SQLite's driver gives times without their zone; everything stored is UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
