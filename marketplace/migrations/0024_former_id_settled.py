from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0023_batch_hours")]

    operations = [
        migrations.AddField(
            model_name="formeridclaim",
            name="settled_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When staff decided whose the id is, of all who stated it by then.",
                null=True,
            ),
        ),
    ]
