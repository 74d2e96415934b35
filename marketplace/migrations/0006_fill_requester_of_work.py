from django.db import migrations
from django.db.models import OuterRef, Subquery

AT_ONCE = 20_000


def fill(apps, _editor):
    """In batches by primary key, each a short transaction; going on where an attempt before was killed."""
    Holding, HIT = apps.get_model('marketplace', 'Holding'), apps.get_model('marketplace', 'HIT')
    whose = HIT.objects.filter(pk=OuterRef('hit')).values('requester')[:1]
    empty = Holding.objects.filter(requester=None).order_by('pk')
    while (first := empty.values_list('pk', flat=True).first()) is not None:
        some = Holding.objects.filter(pk__gte=first, pk__lt=first + AT_ONCE, requester=None)
        some.update(requester=Subquery(whose))


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('marketplace', '0005_requester_of_work'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
