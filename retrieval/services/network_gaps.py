"""What the network of a corpus lacks: passages that came, passages that went, or everything."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval.errors import NetworkBrokenError, NoNetworkError
from retrieval.models import Corpus
from retrieval.network.network import Network
from retrieval.services.counts import numbers_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A network that would grow by more than this share is built again: its word vectors know the old words only.
MOST_GROWTH = 0.25


@dataclass(frozen=True)
class Options:
    """How a network is built: pairs in fewer passages are left out; vectors of a file in place of its own."""

    least_count: int = 1
    vectors: Path | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Options":
        """The options that the row of a network keeps."""
        vectors = str(stored.get("vectors") or "")
        return cls(int(stored.get("least_count", 1)), Path(vectors) if vectors else None)

    def as_dict(self) -> dict[str, Any]:
        """For the row."""
        return {"least_count": self.least_count, "vectors": str(self.vectors or "")}


@dataclass(frozen=True)
class Difference:
    """Why a network has to be built again, in words; or how many are new after `highest`, and gone."""

    reason: str = ""
    new: int = 0
    gone: tuple[int, ...] = ()
    highest: int = 0


def difference(corpus: Corpus, folder: Path, stored: Mapping[str, Any], options: Options) -> Difference:
    """Compare the network in a folder with the corpus and with the options wanted."""

    try:
        network = Network.open(folder)
        network.check()
    except NoNetworkError:
        return Difference("There was none.")
    except NetworkBrokenError as error:
        return Difference(f"The files could not be used: {error}"[:300])
    if network.language != corpus.language:
        return Difference("The language of the corpus has changed.")
    if options != Options.of(stored):
        return Difference("Other options were asked for.")
    return _of_passages(numbers_of(corpus), network.counted())


def _of_passages(there: "NDArray[np.int64]", counted: "NDArray[np.int64]") -> Difference:

    highest = int(counted[-1]) if len(counted) else 0
    new = int((there > highest).sum())
    if len(np.setdiff1d(there, counted, assume_unique=True)) != new:
        return Difference("It missed passages that the corpus had.")
    if new > MOST_GROWTH * len(counted):
        return Difference(f"It had {len(counted):,} of {len(there):,} passages.")
    gone = np.setdiff1d(counted, there, assume_unique=True)
    return Difference(new=new, gone=tuple(gone.tolist()), highest=highest)
