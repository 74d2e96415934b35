import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_used_keys'),
    ]

    operations = [
        migrations.RenameModel(old_name='UsedKey', new_name='SignedKey'),
        migrations.AlterField(
            model_name='signedkey',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='signed_keys', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='signedkey',
            name='first_used_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='signedkey',
            name='last_used_at',
            field=models.DateTimeField(null=True),
        ),
    ]
