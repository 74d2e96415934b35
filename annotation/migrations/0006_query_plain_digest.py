from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0005_unchecked_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='query',
            name='plain_digest',
            field=models.CharField(blank=True, db_default='', help_text='As digest, with plain quotation marks, dashes and letters; empty: not computed.', max_length=64),
        ),
    ]
