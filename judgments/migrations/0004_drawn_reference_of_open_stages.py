"""Stages that were opened before go on with a correct answer that the seed draws; new ones show the most central."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_drawing(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write the option that was the default into the options of stages that were opened."""
    stages = apps.get_model("crowd", "Stage").objects
    for stage in stages.filter(kind="judging", opened_at__isnull=False).only("pk", "config"):
        if "reference" not in stage.config:
            stage.config = {**stage.config, "reference": "one"}
            stage.save(update_fields=["config"])


class Migration(migrations.Migration):
    dependencies = [
        ("judgments", "0003_references_shown"),
        ("crowd", "0002_places_in_drafts"),
    ]
    operations = [migrations.RunPython(keep_drawing, migrations.RunPython.noop)]
