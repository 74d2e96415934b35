"""Give every table that a demonstration left empty one row, in the database of the checkout it is run in.

    cd CHECKOUT && python …/tests/upgrades/fill.py

It knows no table by name, so it does for every version: a row's values follow from the types of its columns,
and its links lead to the first rows that there are. Prints the tables that stay empty.
"""

import datetime
import decimal
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.db import IntegrityError, models, transaction

#: Switches of tests, which would turn the clock or break calls.
LEFT_EMPTY = {"marketplace_chaos", "marketplace_testclock"}
MOMENT = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)
VALUES: tuple[tuple[type[models.Field], Any], ...] = (
    (models.BooleanField, False),
    (models.DateTimeField, MOMENT),
    (models.DateField, MOMENT.date()),
    (models.DurationField, datetime.timedelta(hours=1)),
    (models.DecimalField, decimal.Decimal(1)),
    (models.FloatField, 1.0),
    (models.IntegerField, 1),
    (models.UUIDField, uuid.UUID(int=726_417)),
    (models.GenericIPAddressField, "192.0.2.7"),
    (models.BinaryField, b"\0"),
    (models.JSONField, {}),
    (models.URLField, "https://example.org/"),
    (models.EmailField, "somebody@example.org"),
    (models.CharField, "upgrade"),
    (models.TextField, "upgrade"),
)


def build_row(model: type[models.Model], *, sparse: bool) -> models.Model:
    """A row with every column filled, or only those that must be."""
    row = model()
    names = {field.name for field in model._meta.concrete_fields}
    for place, field in enumerate(model._meta.concrete_fields):
        if isinstance(field, models.AutoField) or (sparse and (field.null or field.has_default())):
            continue
        if field.name == "requester_id" and "project" in names:  # it belongs to one of the two
            continue
        if isinstance(field, models.ForeignKey):
            linked = field.related_model._base_manager
            if field.unique:
                linked = linked.exclude(pk__in=model._base_manager.values(field.name))
            setattr(row, field.attname, linked.order_by("pk").values_list("pk", flat=True).first())
        elif field.choices:
            setattr(row, field.attname, field.flatchoices[-1 if sparse else 0][0])
        elif not field.has_default() or not field.get_default():
            value = next((value for kind, value in VALUES if isinstance(field, kind)), None)
            if isinstance(field, models.DateTimeField):  # what begins comes before what ends
                value = MOMENT + datetime.timedelta(hours=place)
            setattr(row, field.attname, value[: field.max_length] if isinstance(value, str) else value)
    return row


def fill(model: type[models.Model]) -> bool:
    """Whether the table has a row now."""
    for sparse in (False, True):
        try:
            with transaction.atomic():
                build_row(model, sparse=sparse).save_base(raw=True, force_insert=True)
        except (IntegrityError, ValueError, TypeError):
            continue
        return True
    return False


def main() -> None:
    """Fill what is empty, as often as it takes: a row may have to wait for the one it leads to."""
    sys.path.insert(0, str(Path.cwd()))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    django.setup()
    tables = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.db_table not in LEFT_EMPTY
    ]
    while [model for model in tables if not model._base_manager.exists() and fill(model)]:
        pass
    empty = sorted(model._meta.db_table for model in tables if not model._base_manager.exists())
    print(f"Tables without a row: {', '.join(empty) or 'none'}.")


if __name__ == "__main__":
    main()
