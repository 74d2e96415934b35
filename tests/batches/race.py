"""Several workers that publish the same batch at the same time."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from marketplace import clock
from marketplace.batches import publication, templates
from marketplace.batches.properties import from_stored
from marketplace.lifecycle.hits import create_hit_type
from marketplace.models import Batch


def publish_at_once(batch: Batch, *, threads: int) -> int:
    """Every thread goes through all tasks; how many HITs they say they made."""
    properties = from_stored(batch.properties)
    kind = create_hit_type(requester=batch.requester, properties=properties.of_type(), now=clock.now())
    page = templates.parse(batch.html)
    tasks = list(batch.tasks.order_by("ordinal"))
    chunks = [tasks[at : at + 3] for at in range(0, len(tasks), 3)]

    def work(_: int) -> int:
        try:
            return sum(publication._publish_some(batch, kind, page, chunk) for chunk in chunks)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(work, range(threads)))
