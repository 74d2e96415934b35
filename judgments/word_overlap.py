"""How much two texts share, in any script."""

from collections.abc import Iterable, Sequence

from annotation.likeness import shingles


def contained(text: str, other: str) -> float:
    """Share of the shorter text's words that the other one has too, from 0 to 1; 0 where one has none."""
    a, b = shingles(text), shingles(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def overlap(text: str, other: str) -> float:
    """F1 of the words of two texts, each word once, from 0 to 1."""
    a, b = shingles(text), shingles(other)
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def nearest(text: str, others: Iterable[str]) -> float:
    """The overlap with the one that is most alike; 0 without any."""
    return max((overlap(text, other) for other in others), default=0.0)


def most_central(texts: Sequence[str]) -> str:
    """The text with the highest mean overlap with the others; of equals the first. ValueError without any."""
    shingle_sets = [shingles(text) for text in texts]

    def likeness(at: int) -> float:
        shares = (
            2 * len(shingle_sets[at] & other) / (len(shingle_sets[at]) + len(other))
            for place, other in enumerate(shingle_sets)
            if place != at and shingle_sets[at] and other
        )
        return sum(shares)

    return texts[max(range(len(texts)), key=lambda at: (round(likeness(at), 9), -at))]


def covered(text: str, by: Iterable[str]) -> float:
    """Share of the text's words that stand somewhere in the others."""
    own_shingles = shingles(text)
    return (
        len(own_shingles & frozenset().union(*map(shingles, by))) / len(own_shingles) if own_shingles else 0.0
    )


def size(text: str) -> int:
    """How many different words there are to compare."""
    return len(shingles(text))
