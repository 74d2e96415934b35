"""Templates get the id by which CreateHIT names them as layouts; HITs keep that of theirs."""

from django.db import migrations, models

from marketplace.ids import new_entity_id


def fill(apps, schema_editor):
    templates = apps.get_model("marketplace", "Template").objects
    for pk in templates.filter(layout_id=None).values_list("pk", flat=True):
        templates.filter(pk=pk).update(layout_id=new_entity_id())


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0015_origin_of_activity")]

    operations = [
        migrations.AddField(
            model_name="hit",
            name="layout_id",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of the template that it was made of.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="template",
            name="layout_id",
            field=models.CharField(blank=True, max_length=64, null=True, unique=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="template",
            name="layout_id",
            field=models.CharField(
                blank=True,
                default=new_entity_id,
                help_text="HITLayoutId of the protocol; empty until somebody asks for it.",
                max_length=64,
                null=True,
                unique=True,
            ),
        ),
    ]
