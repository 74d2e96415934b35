from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0003_keys_of_requesters'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='requester',
            name='access_key',
        ),
        migrations.RemoveField(
            model_name='requester',
            name='secret_sealed',
        ),
    ]
