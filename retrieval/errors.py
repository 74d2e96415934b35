"""Errors of the app, each with a sentence for the person who caused it.

RetrievalError
├── CorpusError          a corpus cannot be made, or is not there
├── FileRefusedError     a file has faults; lists them with line and field
├── EvaluationError      rankers cannot be evaluated: nothing in common, no such measure, no such baseline
├── EmptyQueryError      there is no word in the query
├── ParametersError      options of a ranker that cannot be; by field
├── NotIndexedError      there is nothing to search yet; says what to run
├── ModelError           a cross-encoder cannot be used; says what is missing
├── NoNetworkError       CROWN needs a word proximity network and there is none; says what to run
├── NetworkBrokenError   the files of a network cannot be used; building it again helps
├── IndexBrokenError     the files of an index cannot be used; building it again helps
├── NoRoomError          the disk is full; what the index held it still holds
├── EngineError          the search server does not answer or refuses; what the index held it still holds
│   └── IndexUnavailableError   the storage that hosts share does not answer; it may in a minute
└── BusyError            another process writes; says which one
"""

from collections.abc import Mapping, Sequence

from core.files.refusals import Fault


class RetrievalError(Exception):
    """Something that cannot be done; nothing was changed."""


class CorpusError(RetrievalError):
    """A corpus cannot be made, or is not there."""


class NotIndexedError(RetrievalError):
    """There is nothing to search yet."""


class EmptyQueryError(RetrievalError):
    """There is no word in the query."""


class ParametersError(RetrievalError):
    """Options of a ranker that cannot be, in words, by field ("" for what concerns several)."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(" ".join(f"{field}: {fault}" if field else fault for field, fault in faults.items()))


class EvaluationError(RetrievalError):
    """Rankers cannot be evaluated with what was given; says what is missing."""


class ModelError(RetrievalError):
    """A cross-encoder cannot be used: not installed, or its folder holds none."""


class NoNetworkError(RetrievalError):
    """CROWN needs a word proximity network and there is none."""


class NetworkBrokenError(RetrievalError):
    """The files of a network are damaged, or were made by other rules for words."""


class IndexBrokenError(RetrievalError):
    """The files of an index are damaged, or were made by other rules for words."""


class NoRoomError(RetrievalError):
    """There is no room on a disk to write to. What was there before is untouched."""


class EngineError(RetrievalError):
    """The search server does not answer, is too busy, or refuses. What was there before is untouched."""


class IndexUnavailableError(EngineError):
    """The storage that hosts share does not answer, and the index or network is there. Try again."""


class BusyError(RetrievalError):
    """Another process writes, and went on doing so for longer than we wait."""


class FileRefusedError(RetrievalError):
    """A file that was not imported (or whatever `done` says), with its first faults."""

    def __init__(
        self, name: str, faults: Sequence[Fault], *, more: bool = False, done: str = "imported"
    ) -> None:
        self.name, self.faults, self.more = name, tuple(faults), more
        lines = [f"{name} was not {done}.", *(f"{name}: {fault}" for fault in faults)]
        if more:
            lines.append(f"{name}: there may be more; reading stopped here.")
        super().__init__("\n".join(lines))
