from django.db import migrations
from django.db.models import Exists, OuterRef


def mark(apps, schema_editor):
    """A researcher who accepted or excluded a tied query has decided about it by hand."""
    query = apps.get_model("annotation", "Query")
    step = apps.get_model("annotation", "QueryStep")
    decided = step.objects.filter(
        query=OuterRef("pk"), before="tied", after__in=["accepted", "excluded"], actor__isnull=False
    )
    query.objects.filter(Exists(decided)).exclude(status__in=["waiting", "tied"]).update(by_hand=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_decided_again")]
    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
