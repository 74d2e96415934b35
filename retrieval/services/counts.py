"""Who counts the passages of a corpus for its network: this process, or several beside it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval.models import Corpus
from retrieval.services.corpora import counting_passages
from retrieval.text.tokens import with_title

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrieval.network.builder import Progress
    from retrieval.network.segment import Segment

#: Passages read from the database at a time.
READ_AT_ONCE = 5_000

#: Counts all passages of a corpus into shards below a folder; says how far it is.
Counter = Callable[[Corpus, Path, "Callable[[Progress], None]"], "Sequence[Segment]"]


def together(processes: int) -> Counter:
    """Count in this process, or for more than one in so many others."""

    def count(corpus: Corpus, scratch: Path, progress: "Callable[[Progress], None]") -> "Sequence[Segment]":
        from retrieval.network.builder import count_here  # noqa: PLC0415  # heavy

        return count_here(
            passages_of(corpus), scratch, corpus.language, processes=processes, progress=progress
        )

    return count


def passages_of(corpus: Corpus, *, after: int = 0, upto: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbers and texts of passages with their titles, rising, in constant memory."""
    rows: Any = counting_passages(corpus).order_by("pk").values_list("pk", "title", "text")
    if upto is not None:
        rows = rows.filter(pk__lte=upto)
    while some := list(rows.filter(pk__gt=after)[:READ_AT_ONCE]):
        for pk, title, text in some:
            yield pk, with_title(title, text)
        after = some[-1][0]


def numbers_of(corpus: Corpus) -> "NDArray[np.int64]":
    """Numbers of all passages that count, rising."""
    import numpy as np  # noqa: PLC0415  # heavy

    rows = counting_passages(corpus).order_by("pk").values_list("pk", flat=True)
    return np.fromiter(rows.iterator(chunk_size=50_000), dtype=np.int64)
