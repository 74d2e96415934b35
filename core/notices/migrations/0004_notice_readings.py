from django.db import migrations


class Migration(migrations.Migration):
    """A name of code: the table, its columns and its constraint stay as they are."""

    dependencies = [
        ('notices', '0003_notices_of_the_installation'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel('Seen', 'NoticeReading'),
                migrations.AlterModelTable('NoticeReading', 'notices_seen'),
            ],
        ),
    ]
