"""Each project keeps the right to spend from the endpoints that its stages use today."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone


def give_rights(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """One row for each pair; done again, nothing changes."""
    stages = apps.get_model("crowd", "Stage").objects
    sources = apps.get_model("crowd", "StageSource").objects
    spenders = apps.get_model("crowd", "EndpointSpender").objects
    used = {
        *stages.values_list("endpoint_id", "project_id").distinct(),
        *sources.values_list("endpoint_id", "stage__project_id").distinct(),
    }
    now = timezone.now()
    for endpoint, project in sorted(used):
        spenders.get_or_create(endpoint_id=endpoint, project_id=project, defaults={"created_at": now})


class Migration(migrations.Migration):
    dependencies = [("crowd", "0019_who_may_spend")]
    operations = [migrations.RunPython(give_rights, migrations.RunPython.noop, elidable=True)]
