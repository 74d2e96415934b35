"""Reading on while writing."""

import threading

import pytest
from django.db import connections, transaction

from crowd.models import Stage
from crowd.services.stages import by_key
from tests.crowd.world import make_endpoint, make_stage

pytestmark = pytest.mark.django_db(transaction=True)


def written_elsewhere(pk):
    """Another person writes to the same database, on a connection of their own."""

    def write():
        try:
            Stage.objects.filter(pk=pk).update(title="Elsewhere")
        finally:
            connections.close_all()

    other = threading.Thread(target=write)
    other.start()
    other.join()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_row_comes_once_while_others_write_between_them(size):
    endpoint = make_endpoint()
    made = [make_stage(endpoint).pk for _ in range(3)]
    seen = []
    for stage in by_key(Stage.objects.filter(pk__in=made), size=size):
        written_elsewhere(stage.pk)
        with transaction.atomic():
            Stage.objects.filter(pk=stage.pk).update(title="Here")
        seen.append(stage.pk)
    assert seen == made
    assert set(Stage.objects.values_list("title", flat=True)) == {"Here"}
