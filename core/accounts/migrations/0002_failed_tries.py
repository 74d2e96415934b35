from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='FailedTries',
            fields=[
                ('key', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('failures', models.PositiveIntegerField(default=1)),
                ('last_at', models.DateTimeField(db_index=True)),
                ('blocked_until', models.DateTimeField(null=True)),
            ],
        ),
    ]
