

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0003_apart_from'),
    ]

    operations = [
        migrations.AddField(
            model_name='stage',
            name='expected_seconds',
            field=models.PositiveIntegerField(blank=True, help_text='What the researcher thinks one HIT takes.', null=True),
        ),
    ]
