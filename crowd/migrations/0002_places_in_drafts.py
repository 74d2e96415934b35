"""Drafts of work that goes on name their fields by the units' places in the HIT, as pages do now."""

from collections import defaultdict
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_AT_ONCE = 500


def name_by_place(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Rename the fields of drafts from units to places; those that have places stay."""
    assignments = apps.get_model("crowd", "Assignment").objects
    units = apps.get_model("crowd", "HitUnit").objects
    kept = assignments.filter(state__in=["working", "ended"], response__isnull=True).exclude(draft={})
    keys = list(kept.values_list("pk", flat=True))
    for start in range(0, len(keys), _AT_ONCE):
        rows = list(assignments.filter(pk__in=keys[start : start + _AT_ONCE]).only("pk", "hit_id", "draft"))
        places: dict[int, dict[str, int]] = defaultdict(dict)
        of_these = units.filter(hit__in={row.hit_id for row in rows})
        for hit, unit, position in of_these.values_list("hit_id", "unit", "position"):
            places[hit][unit] = position
        for row in rows:
            row.draft = _renamed(row.draft, places[row.hit_id])
        assignments.bulk_update(rows, ["draft"])


def _renamed(draft: dict[str, Any], places: dict[str, int]) -> dict[str, Any]:
    renamed = {}
    for name, value in draft.items():
        unit, bar, field = name.partition("|")
        renamed[f"{places[unit]}{bar}{field}" if unit in places else name] = value
    return renamed


class Migration(migrations.Migration):
    dependencies = [("crowd", "0001_initial")]
    operations = [migrations.RunPython(name_by_place, migrations.RunPython.noop, elidable=True)]
