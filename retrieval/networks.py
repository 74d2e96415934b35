"""The word proximity network of a corpus, shared by the process that has opened it."""

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.copies import readable_folder, working_folder
from retrieval.errors import NoNetworkError
from retrieval.models import Corpus, WordNetwork

if TYPE_CHECKING:
    from retrieval.network.network import Network

#: Networks that a process keeps open at most; the ones asked for longest ago are let go.
MOST_OPEN = 32
_Seen = tuple[int, int, int]
_lock = threading.Lock()
#: Open networks by process number (a fork opens its own) and folder, with what the pointer looked like.
_open: dict[tuple[int, Path], tuple[_Seen, "Network"]] = {}


def network_folder(network: WordNetwork) -> Path:
    """The folder in which this host builds a network."""
    return working_folder(network)


def network_of(corpus: Corpus) -> "Network | None":
    """The network of a corpus as it is now; None where none has been built.

    NetworkBrokenError where its files cannot be used. What a search began with stays as it was for it.
    """
    row = WordNetwork.objects.filter(corpus=corpus).first()
    return None if row is None else opened(readable_folder(row))


def opened(folder: Path) -> "Network | None":
    """The network in a folder, opened again when it has changed."""
    from retrieval.network.network import Network  # noqa: PLC0415  # heavy

    key = (os.getpid(), folder)
    try:
        facts = (folder / "current").stat()
    except FileNotFoundError:
        return None
    seen = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
    with _lock:
        held = _open.pop(key, None)
        if held is None or held[0] != seen:
            try:
                held = (seen, Network.open(folder))
            except NoNetworkError:
                return None
        _open[key] = held
        for other in list(_open)[:-MOST_OPEN]:
            _open.pop(other, None)
        return held[1]


def remove_network(corpus: Corpus) -> None:
    """Remove the files of a corpus' network; its row goes with the corpus."""
    for row in WordNetwork.objects.filter(corpus=corpus):
        _open.pop((os.getpid(), network_folder(row)), None)
        shutil.rmtree(network_folder(row), ignore_errors=True)
