"""Answers that were given lately, so that a page of five turns searches for the newest alone.

An answer is good as long as the indexes and networks that gave it are as they were then. Each process keeps
some; the others are in the cache `searches`, which all processes share, so that the process which answers the
next request does not search for the earlier turns once more. Where that cache fails, a question is searched.
"""

import hashlib
import json
import logging
import pickle
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.cache import caches

from retrieval.models import Corpus
from retrieval.search import FoundAnswer

logger = logging.getLogger(__name__)
#: Answers that a process keeps, each of at most twenty passages; the ones asked for longest ago go.
MOST = 200
#: Bytes of an answer that is shared; one of twenty passages with explanations has some thousand.
LARGEST = 200_000
#: Seconds in which a cache that failed is left alone, so that not every search waits for it.
AWAY_SECONDS = 10.0
ALIAS = "searches"


@cache
def _failures() -> tuple[type[Exception], ...]:
    """What a broken file or a Redis that is away raises."""
    of_files = (OSError, EOFError, zlib.error, pickle.UnpicklingError)
    if not settings.REDIS_URL:
        return of_files
    import redis  # only where it is set up

    return (*of_files, redis.RedisError)


@dataclass
class SharedAnswers:
    """The cache that all processes share; after a fault it is left alone for a while."""

    away_until: float = 0.0

    def load(self, key: str) -> FoundAnswer | None:
        """The answer; None where there is none that can be read."""
        from retrieval.answer_bytes import load_answer  # noqa: PLC0415  # heavy

        if time.monotonic() < self.away_until:
            return None
        try:
            data = caches[ALIAS].get(key)
        except _failures() as error:
            self._leave_alone(error)
            return None
        return load_answer(data) if isinstance(data, bytes) else None

    def store(self, key: str, found: FoundAnswer) -> None:
        """Keep an answer that is not too large."""
        from retrieval.answer_bytes import dump_answer  # noqa: PLC0415  # heavy

        if time.monotonic() < self.away_until:
            return
        data = dump_answer(found)
        if len(data) > LARGEST:
            return
        try:
            caches[ALIAS].set(key, data)
        except _failures() as error:
            self._leave_alone(error)

    def _leave_alone(self, error: Exception) -> None:
        self.away_until = time.monotonic() + AWAY_SECONDS
        logger.warning("The shared cache of searches does not answer: %s: %s", type(error).__name__, error)


_answers: OrderedDict[Hashable, FoundAnswer] = OrderedDict()
_lock = threading.Lock()
shared_answers = SharedAnswers()


def remembered(corpora: Sequence[Corpus], asked: Hashable, search: Callable[[], FoundAnswer]) -> FoundAnswer:
    """The answer to `asked` from these corpora: what `search` gave while they were as they are now.

    `asked` holds texts, and tuples of them.
    """
    key = (tuple(_state(corpus) for corpus in corpora), asked)
    with _lock:
        if key in _answers:
            _answers.move_to_end(key)
            return _answers[key]
    shared = _shared_key(key)
    found = shared_answers.load(shared)
    if found is None:
        found = search()
        shared_answers.store(shared, found)
    with _lock:
        _answers[key] = found
        while len(_answers) > MOST:
            _answers.popitem(last=False)
    return found


def forget_own() -> None:
    """Forget what this process keeps, as another process does not have it."""
    with _lock:
        _answers.clear()


def _state(corpus: Corpus) -> Hashable:
    index, network = corpus.index, getattr(corpus, "network", None)
    theirs = network and (network.generation, network.state, network.built_at)
    return corpus.pk, corpus.slug, index.generation, index.state, index.built_at, index.passages, theirs


def _shared_key(key: Hashable) -> str:
    """The same in every process: a digest of the corpora's states, options, questions and our version."""
    written = json.dumps([settings.DISTILLERY_VERSION, key], default=str, separators=(",", ":"))
    return hashlib.blake2b(written.encode(), digest_size=20).hexdigest()
