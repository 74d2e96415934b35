"""Who owns a project today keeps the right to make others, which is a right of its own from now on."""

from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def give_right(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The permission is there where people may own projects; a new database has neither."""
    right = apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label="projects", content_type__model="project", codename="add_project"
    ).first()
    if right is None:
        return
    owners = apps.get_model("projects", "Membership").objects.filter(role="owner")
    right.user_set.add(*owners.values_list("user_id", flat=True).distinct())


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0005_closed_projects"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [migrations.RunPython(give_right, migrations.RunPython.noop, elidable=True)]
