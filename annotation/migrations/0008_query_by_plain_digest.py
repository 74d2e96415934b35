from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_fill_plain_digests'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='query',
            index=models.Index(fields=['project', 'plain_digest'], name='query_by_plain_digest'),
        ),
    ]
