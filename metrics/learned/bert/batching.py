"""Things of about the same size together, so that little is padded."""

from collections.abc import Callable, Iterable, Iterator


def batches(things: Iterable[int], size: Callable[[int], int], most: int) -> Iterator[list[int]]:
    """Things in order of their size, as many together as take `most` when each is as large as the largest."""
    batch: list[int] = []
    for thing in sorted(things, key=size):
        if batch and (len(batch) + 1) * size(thing) > most:
            yield batch
            batch = []
        batch.append(thing)
    if batch:
        yield batch
