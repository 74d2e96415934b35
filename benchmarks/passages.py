"""Many passages from a few sets, for measuring with."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

_STRANGE, _EVERY, _POOL = 400_000, 7, 1 << 20


def made(folder: Path, count: int) -> Iterator[str]:
    """Texts of all sets in the folder, again and again, each time with their words rotated by another amount.

    One word in seven is another one, drawn by Zipf's law from 400,000 words, so that words and pairs grow
    with the corpus about as they do in real text, and no passage scores exactly as its copies do.
    """
    import numpy as np  # noqa: PLC0415  # benchmarks without passages need none

    texts = [
        json.loads(line)["text"].split()
        for source in sorted(folder.glob("*/passages.jsonl"))
        for line in source.open(encoding="utf-8")
    ]
    ranks = np.random.default_rng(1).zipf(1.12, _POOL) % _STRANGE
    pool = [_letters(int(rank)) for rank in ranks]
    chance, drawn = random.Random(1), 0
    for number in range(count):
        words = texts[number % len(texts)]
        at = (number // len(texts)) * 7 % max(len(words), 1)
        words = words[at:] + words[:at]
        for place in range(chance.randrange(_EVERY), len(words), _EVERY):
            words[place] = pool[drawn % _POOL]
            drawn += 1 + drawn // _POOL % 3
        yield " ".join(words)


def write_jsonl(folder: Path, count: int, path: Path) -> None:
    """The same as a file of passages."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(made(folder, count)):
            file.write(json.dumps({"id": str(number), "text": text}, ensure_ascii=False) + "\n")


def write_lines(folder: Path, count: int, path: Path) -> int:
    """The same, one text a line; how many characters they have."""
    characters = 0
    with path.open("w", encoding="utf-8") as file:
        for text in made(folder, count):
            characters += len(text)
            file.write(text + "\n")
    return characters


def _letters(number: int) -> str:
    """A word for a number: syllables, so that it is as long as a word."""
    name = "x"
    for _ in range(4):
        number, rest = divmod(number, 26)
        name += chr(97 + rest) + "aeiou"[rest % 5]
    return name
