import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0006_fill_requester_of_work'),
    ]

    operations = [
        migrations.AlterField(
            model_name='holding',
            name='requester',
            field=models.ForeignKey(db_index=False, help_text="The HIT's, so that a requester's work is found without its HITs.", on_delete=django.db.models.deletion.CASCADE, related_name='holdings', to='marketplace.requester'),
        ),
        migrations.AddIndex(
            model_name='hit',
            index=models.Index(condition=models.Q(('submitted__gt', 0)), fields=['requester', 'id'], name='hit_to_review'),
        ),
        migrations.AddIndex(
            model_name='holding',
            index=models.Index(fields=['requester', 'submitted_at', 'id', 'state', 'visible_at'], name='holding_of_requester'),
        ),
        migrations.AddIndex(
            model_name='holding',
            index=models.Index(fields=['requester', 'worker', 'state', 'submitted_at', 'visible_at'], name='holding_requester_worker'),
        ),
        migrations.AddIndex(
            model_name='holding',
            index=models.Index(condition=models.Q(('state', 'submitted')), fields=['requester', 'auto_approve_at', 'id', 'visible_at'], name='holding_to_review'),
        ),
    ]
