"""Passages of the same words are found by their digests."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """An index over corpus and digest."""

    dependencies = [("retrieval", "0002_network_and_digest")]

    operations = [
        migrations.AddIndex(
            model_name="passage",
            index=models.Index(fields=["corpus", "digest"], name="passage_same_words"),
        ),
    ]
