import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Whose an assignment is, on the assignment itself; filled and made certain by the next two."""

    dependencies = [
        ('marketplace', '0004_no_key_on_requester'),
    ]

    operations = [
        migrations.AddField(
            model_name='holding',
            name='requester',
            field=models.ForeignKey(db_index=False, help_text="The HIT's, so that a requester's work is found without its HITs.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='holdings', to='marketplace.requester'),
        ),
    ]
