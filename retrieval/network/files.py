"""Where the files of a network lie: segments, word vectors, and a pointer to those that answer.

FOLDER/current     {"generation": 3, "language": "en", "rules": …, "segments": ["s1", "s4"], "vectors": "v2"}
FOLDER/s1/ …       see `segment`
FOLDER/v2/ …       see `vectors`
FOLDER/lock        held by the one writer
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from core.failures import on_failure
from retrieval.engine.files import only_writer
from retrieval.errors import NetworkBrokenError, NoNetworkError, RetrievalError
from retrieval.network.segment import write_json


@dataclass(frozen=True)
class Pointer:
    """Which files answer, and how they were made. A generation is one state of the network."""

    generation: int
    language: str
    rules: str
    segments: tuple[str, ...]
    vectors: str = ""
    least_count: int = 1


@dataclass(frozen=True)
class NetworkFolder:
    """The folder of one network."""

    path: Path

    def current(self) -> Pointer:
        """The state that answers. NoNetworkError where there is none yet."""
        pointer = self.path / "current"
        try:
            facts = json.loads(pointer.read_bytes())
            return Pointer(
                generation=int(facts["generation"]),
                language=str(facts["language"]),
                rules=str(facts["rules"]),
                segments=tuple(map(str, facts["segments"])),
                vectors=str(facts["vectors"]),
                least_count=int(facts["least_count"]),
            )
        except FileNotFoundError as error:
            raise NoNetworkError(
                "There is no word proximity network yet. Run manage.py wpn build."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NetworkBrokenError(
                f"{pointer} cannot be read. Run manage.py wpn build with --anew."
            ) from error

    def generation(self) -> int:
        """Number of the state that answers; 0 where there is none that can be read."""
        try:
            return self.current().generation
        except (NoNetworkError, NetworkBrokenError):
            return 0

    def point(self, pointer: Pointer) -> None:
        """Let another state answer, at once and for good even if the power fails; tidy up."""
        write_json(self.path / "current", asdict(pointer))
        self.tidy()

    def fresh(self, letter: str) -> Path:
        """A folder that is not there yet, for a segment (s) or word vectors (v)."""
        self.path.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name[1:]) for path in self.path.glob(f"{letter}*") if path.name[1:].isdigit()]
        return self.path / f"{letter}{max(numbers, default=0) + 1}"

    def tidy(self) -> None:
        """Remove what the present state does not use: older states, and what a killed build has left.

        Readers that have something open keep it until they close it.
        """
        try:
            pointer = self.current()
        except (NoNetworkError, NetworkBrokenError):
            used: set[str] = set()
        else:
            used = {*pointer.segments, pointer.vectors}
        for path in [*self.path.glob("s[0-9]*"), *self.path.glob("v[0-9]*")]:
            if path.name not in used:
                shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def writing(self, what: str = "this network") -> Iterator[None]:
        """Be the only one who writes; BusyError where somebody else does for long.

        Begins and ends without files that nobody uses. RetrievalError where something cannot be written.
        """
        try:
            with only_writer(self.path / "lock", what):
                self.tidy()
                with on_failure(lambda error: self.tidy()):
                    yield
        except OSError as error:
            raise RetrievalError(
                f"The network cannot be written: {error}. The one that was there still answers. Make room, "
                "or mend what is wrong with the data folder, and build again."
            ) from error
