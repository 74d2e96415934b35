from django.db import migrations


def move_keys(apps, schema_editor):
    """The one key of each requester becomes the first of its keys."""
    Requester = apps.get_model("marketplace", "Requester")
    AccessKey = apps.get_model("marketplace", "AccessKey")
    rows = Requester.objects.values_list("pk", "access_key", "secret_sealed", "created_at")
    AccessKey.objects.bulk_create(
        (
            AccessKey(requester_id=pk, access_key=key, secret_sealed=secret, created_at=at)
            for pk, key, secret, at in rows.iterator()
        ),
        batch_size=500,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0002_for_everyone'),
    ]

    operations = [
        migrations.RunPython(move_keys),
    ]
