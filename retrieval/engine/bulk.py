"""Many documents in one request, each of which may be turned away on its own."""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from retrieval.engine import cluster as connections
from retrieval.engine.cluster import Cluster, no_room
from retrieval.errors import EngineError

#: Documents and bytes in one request.
MOST_DOCUMENTS = 2_000
MOST_BYTES = 5_000_000
_FILTER = "errors,items.*.status,items.*.error.type,items.*.error.reason"
_LATER = {429, 503}


def added(passages: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Passages, cut into words, as actions of the bulk interface."""
    for pk, words in passages:
        action, document = json.dumps({"index": {"_id": str(pk)}}), {"pk": pk, "body": words}
        yield f"{action}\n{json.dumps(document, ensure_ascii=False)}\n"


def deleted(ids: Iterable[int]) -> Iterator[str]:
    """Numbers to be forgotten, as actions of the bulk interface."""
    for pk in ids:
        yield f"{json.dumps({'delete': {'_id': str(pk)}})}\n"


def send(cluster: Cluster, index: str, actions: Iterable[str], before: Callable[[], None]) -> int:
    """Send all actions, in their order; how many. `before` each request it is asked whether to go on."""
    sent = 0
    for batch in _batches(actions):
        before()
        _send(cluster, index, batch)
        sent += len(batch)
    return sent


def _batches(actions: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for action in actions:
        length = len(action.encode())
        if batch and (len(batch) >= MOST_DOCUMENTS or size + length > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(action)
        size += length
    if batch:
        yield batch


def _send(cluster: Cluster, index: str, batch: list[str]) -> None:
    """Send a batch, and again those of it that were turned away for the moment."""
    deadline, pause = time.monotonic() + connections.WRITING, connections.PAUSE
    while batch:
        answer = cluster.write(_request(index, "".join(batch)))
        refused = list(_refused(answer, batch))
        for _, status, error in refused:
            if error.get("type") == "cluster_block_exception":
                raise no_room(cluster.where, error.get("reason", ""))
            if status not in _LATER:
                raise _told(cluster, len(refused), error)
        batch = [action for action, _, _ in refused]
        if not batch:
            return
        if time.monotonic() + pause > deadline:
            raise EngineError(
                f"OpenSearch at {cluster.where} is too busy: it still turned away {len(batch):,} passages "
                f"after {connections.WRITING:g} s. Try again later, or give it more memory."
            )
        time.sleep(pause * random.uniform(0.5, 1.5))  # so that not all ask again at once
        pause *= 2


def _request(index: str, lines: str) -> Callable[[Any], Any]:
    return lambda client: client.bulk(
        body=lines,
        index=index,
        params={"filter_path": _FILTER, "request_timeout": connections.ANSWER_WRITING},
    )


def _refused(answer: Any, batch: list[str]) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Actions that were not done. To forget what is not there is done."""
    if not answer.get("errors"):
        return
    for action, item in zip(batch, islice(answer["items"], len(batch)), strict=True):
        [(verb, facts)] = item.items()
        if facts["status"] >= 300 and not (verb == "delete" and facts["status"] == 404):
            yield action, facts["status"], facts.get("error", {})


def _told(cluster: Cluster, many: int, error: dict[str, str]) -> EngineError:
    return EngineError(
        f"OpenSearch at {cluster.where} refused {many:,} passages: {error.get('type', 'error')}, "
        f"{str(error.get('reason', ''))[:200]}. Nothing of what it had is lost; build the index again."
    )
