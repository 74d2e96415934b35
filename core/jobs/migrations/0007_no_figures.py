"""Pages count their figures themselves: the table of those that jobs counted goes, with its jobs."""

from django.db import migrations


def delete_jobs(apps, schema_editor):
    apps.get_model("jobs", "StoredFigure").objects.all().delete()
    apps.get_model("jobs", "Job").objects.filter(kind="jobs.figure").delete()


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_figures")]

    operations = [
        migrations.RunPython(delete_jobs, migrations.RunPython.noop, elidable=True),
        migrations.DeleteModel(name="StoredFigure"),
    ]
