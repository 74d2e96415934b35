from datetime import timedelta

from django.db import migrations
from django.utils import timezone

LONGEST_LIFE = timedelta(days=365)


def clamp(apps, _editor):
    """End within a year what was extended to where the calendar ends; dates reckoned from it overflowed."""
    clocks = apps.get_model('marketplace', 'TestClock').objects
    ahead = clocks.values_list('advanced_seconds', flat=True).first() or 0
    latest = timezone.now().replace(microsecond=0) + timedelta(seconds=ahead) + LONGEST_LIFE
    apps.get_model('marketplace', 'HIT').objects.filter(expires_at__gt=latest).update(expires_at=latest)


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0007_requester_of_work_certain'),
    ]

    operations = [
        migrations.RunPython(clamp, migrations.RunPython.noop, elidable=True),
    ]
