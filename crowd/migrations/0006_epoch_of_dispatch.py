
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0005_endpoint_round'),
    ]

    operations = [
        migrations.CreateModel(
            name='DispatchEpoch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('installation', models.UUIDField(default=uuid.uuid4, help_text='Tells databases apart, not hosts.')),
                ('number', models.BigIntegerField(default=0)),
                ('vouched', models.BigIntegerField(default=0, help_text='Grows while a host that knows the number runs.')),
                ('vouched_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='DispatchHalt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('why', models.CharField(max_length=300)),
                ('since', models.DateTimeField()),
                ('looked_up_to', models.BigIntegerField(default=0, help_text='Key of the last HIT whose work and bonuses were compared.')),
                ('endpoint', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='halt', to='crowd.endpoint')),
            ],
        ),
    ]
