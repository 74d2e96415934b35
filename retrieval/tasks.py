"""Jobs of this app: counting a part of a corpus."""

from datetime import timedelta
from typing import Any

from core.jobs.handlers import JobContext, handler
from retrieval.services.sharding import SHARD, count_one


@handler(SHARD, longest=timedelta(hours=12))
def count_shard(context: JobContext) -> dict[str, Any]:
    """Count some passages for the network that somebody builds."""
    return count_one(context)
