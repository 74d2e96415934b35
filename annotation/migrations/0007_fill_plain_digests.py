from django.db import migrations

from annotation.importing.records import plain_digest

AT_ONCE = 1000


def fill(apps, _editor):
    """In batches by primary key, each a short transaction; going on where an attempt before was killed.

    With the function that imports look queries up by: a copy of it here could only come to differ.
    """
    Query = apps.get_model('annotation', 'Query')
    empty = Query.objects.filter(plain_digest='').only('text', 'context').order_by('pk')
    last = 0
    while some := list(empty.filter(pk__gt=last)[:AT_ONCE]):
        for query in some:
            query.plain_digest = plain_digest(query.text, [turn['text'] for turn in query.context])
        Query.objects.bulk_update(some, ['plain_digest'])
        last = some[-1].pk


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('annotation', '0006_query_plain_digest'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
