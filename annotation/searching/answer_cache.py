"""Answers that this process has given lately, so that a page of five turns searches for the newest alone.

An answer is good as long as the indexes and networks that gave it are as they were then.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from retrieval.models import Corpus
from retrieval.search import FoundAnswer

#: Answers that are kept, each of at most twenty passages; the ones that were asked for longest ago go.
MOST = 200
_answers: OrderedDict[Hashable, FoundAnswer] = OrderedDict()
_lock = threading.Lock()


def remembered(corpora: Sequence[Corpus], asked: Hashable, search: Callable[[], FoundAnswer]) -> FoundAnswer:
    """The answer to `asked` from these corpora: what `search` gave while they were as they are now."""
    key = (tuple(_state(corpus) for corpus in corpora), asked)
    with _lock:
        if key in _answers:
            _answers.move_to_end(key)
            return _answers[key]
    found = search()
    with _lock:
        _answers[key] = found
        while len(_answers) > MOST:
            _answers.popitem(last=False)
    return found


def forget() -> None:
    """Begin again; for measuring."""
    with _lock:
        _answers.clear()


def _state(corpus: Corpus) -> Hashable:
    index, network = corpus.index, getattr(corpus, "network", None)
    theirs = network and (network.generation, network.state, network.built_at)
    return corpus.pk, corpus.slug, index.generation, index.state, index.built_at, index.passages, theirs
